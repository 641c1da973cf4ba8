package guard

import "slices"

// blockedPorts are ports of services that are no web servers, and that a request could be mistaken
// for a command to: mail, IRC, Redis and others. Links may not lead there, as in browsers. Source:
// https://fetch.spec.whatwg.org/#port-blocking, and 6379 (Redis), which obeys lines of a request.
var blockedPorts = []int{
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
	103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
	512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
	995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667,
	6668, 6669, 6679, 6697, 10080,
}

// BlocksPort reports whether a port is one that links may not lead to.
func BlocksPort(port int) bool {
	if port == 443 || port == 80 {
		return false
	}
	_, found := slices.BinarySearch(blockedPorts, port)
	return found || port == 0
}

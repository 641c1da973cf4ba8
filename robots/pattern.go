package robots

import "strings"

// match reports whether a pattern matches a target. An empty one matches none.
//
// It takes the first occurrence of each piece between two wildcards: if any choice of occurrences
// matches, that one does, so there is no backtracking.
func match(pattern, target string) bool {
	if pattern == "" {
		return false
	}
	pattern, anchored := strings.CutSuffix(pattern, "$")
	piece, rest, more := strings.Cut(pattern, "*")
	target, ok := strings.CutPrefix(target, piece)
	if !ok {
		return false
	}
	for more {
		piece, rest, more = strings.Cut(rest, "*")
		if !more && anchored {
			return strings.HasSuffix(target, piece)
		}
		at := strings.Index(target, piece)
		if at < 0 {
			return false
		}
		target = target[at+len(piece):]
	}
	return !anchored || target == ""
}

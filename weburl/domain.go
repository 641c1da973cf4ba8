package weburl

import (
	"cmp"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// RegistrableDomain returns the public suffix of host and the label before it, in lower case and
// in the script of host: "example.co.uk" for "www.example.co.uk". It returns "" if host is itself
// a public suffix, a single label, an IP address or not a host name. One final dot is ignored.
//
// The list (https://publicsuffix.org/list/) is the one compiled into
// golang.org/x/net/publicsuffix, including its private section: a.github.io and b.github.io are
// two registrable domains.
func RegistrableDomain(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if isAddress(host) {
		return ""
	}
	ascii, err := toASCII(host) // the list has hosts in ASCII only
	if err != nil {
		return ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(ascii)
	if err != nil {
		return ""
	}
	if strings.Count(host, ".") != strings.Count(ascii, ".") {
		return domain // host has dots of other scripts, so it cannot be split at '.'
	}
	return lastLabels(host, strings.Count(domain, ".")+1)
}

// Site returns the registrable domain of host, or host itself if it is an address or a public
// suffix.
func Site(host string) string { return cmp.Or(RegistrableDomain(host), host) }

// SameSite reports whether two URLs are of the same [Site].
func SameSite(a, b URL) bool {
	x, y := a.Hostname(), b.Hostname()
	return x == y || Site(x) == Site(y)
}

// isAddress reports whether host is an IP address, in brackets or not.
func isAddress(host string) bool {
	if host == "" || !isDigit(host[len(host)-1]) && strings.IndexByte(host, ':') < 0 {
		return false // without an error, which would allocate
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// lastLabels returns the last n labels of host.
func lastLabels(host string, n int) string {
	at := len(host)
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(host[:at], '.')
	}
	return host[at+1:]
}

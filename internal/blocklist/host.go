package blocklist

import (
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/weburl"
)

// canonicalHost returns a host as URLs have it.
func canonicalHost(host string) (_ string, ok bool) {
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return lower(host), host != ""
	}
	u, err := weburl.Parse("http://" + host + "/")
	return u.Hostname(), err == nil
}

// hostEnd returns the length of the host with which a pattern at a domain begins.
func hostEnd(pattern string) int {
	if end := strings.IndexAny(pattern, "^/:?*"); end >= 0 {
		return end
	}
	return len(pattern)
}

func isHostByte(c byte) bool { return isAlnum(c) || c == '.' || c == '-' || c == '_' }

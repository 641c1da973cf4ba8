package frontier

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier/variants"
	"github.com/weftcrawl/weft/weburl"
)

// Hostname returns the name in an origin; empty if it has none, as "null".
func Hostname(origin string) string {
	_, name, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, ']') {
		name = name[:i]
	}
	return name
}

// isLoopback reports whether a canonical host name can only mean this machine: RFC 6761, section
// 6.3, and the loopback addresses.
func isLoopback(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// rootOf returns the URL of an origin.
func rootOf(origin string) weburl.URL {
	u, err := weburl.Parse(origin + "/")
	if err != nil {
		panic(fmt.Sprintf("frontier: %s: %v", origin, err)) // an origin is a URL
	}
	return u
}

// siteOf returns the registrable domain of an origin, or its host.
func siteOf(origin string) string {
	return weburl.Site(Hostname(origin))
}

// originOf returns the origin in the text of a canonical URL.
func originOf(u string) string {
	for i, slashes := 0, 0; i < len(u); i++ {
		if u[i] == '/' {
			if slashes++; slashes == 3 {
				return u[:i]
			}
		}
	}
	return ""
}

// storable reports whether the store finds an origin by the name of its host.
func storable(origin string) bool {
	return strings.HasPrefix(origin, "http://") || strings.HasPrefix(origin, "https://")
}

// VariantKey returns what URLs have in common that MaxVariants counts together: see variants.Key.
func VariantKey(u weburl.URL) (key [16]byte, ok bool) { return variants.Key(u) }

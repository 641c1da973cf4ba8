package weburl

import "strings"

// MaxLength bounds a URL, as written and as serialised, in bytes. It is far above what any server
// accepts; it exists to bound offsets and memory.
const MaxLength = 1 << 20

// A URL is an absolute URL. It is immutable and comparable; the zero URL is
// the empty one.
//
// The offsets cut href like this (after the layout of ada and whatwg-url):
//
//	https://user:pass@example.org:8080/foo/bar?baz#quux
//	     |      |     |          |    |       |   |
//	     |      |     |          |    |       |   fragmentAt ('#' or the end)
//	     |      |     |          |    |       queryAt ('?' or fragmentAt)
//	     |      |     |          |    pathAt
//	     |      |     |          hostEnd
//	     |      |     hostAt
//	     |      userEnd
//	     schemeEnd
//
// Invariant: 0 ≤ schemeEnd ≤ userEnd ≤ hostAt ≤ hostEnd ≤ pathAt ≤ queryAt ≤
// fragmentAt ≤ len(href). A URL without a host has userEnd = hostAt = hostEnd
// = schemeEnd+1. Between its hostEnd and pathAt may stand "/.", which keeps a
// path that begins with "//" from reading as a host.
type URL struct {
	href       string
	schemeEnd  uint32
	userEnd    uint32
	hostAt     uint32
	hostEnd    uint32
	pathAt     uint32
	queryAt    uint32
	fragmentAt uint32
}

// Clone returns b in memory of its own. A URL from a [Resolver] shares a block of some KiB with
// other links, which lives as long as any of them: clone the few of many that are kept.
func (b URL) Clone() URL {
	b.href = strings.Clone(b.href)
	return b
}

// String returns the href.
func (b URL) String() string { return b.href }

// IsZero reports whether b is the empty URL.
func (b URL) IsZero() bool { return b.href == "" }

// Scheme returns the scheme in lower case, without its colon.
func (b URL) Scheme() string { return b.href[:b.schemeEnd] }

// IsHTTP reports whether the scheme is http or https.
func (b URL) IsHTTP() bool {
	return (b.schemeEnd == uint32(len("http")) || b.schemeEnd == uint32(len("https")) && b.href[len("http")] == 's') &&
		b.href[:len("http")] == "http"
}

// Username returns the user name, percent-encoded.
func (b URL) Username() string {
	if !b.hasHost() {
		return ""
	}
	return b.href[b.schemeEnd+uint32(len("://")) : b.userEnd]
}

// Password returns the password, percent-encoded.
func (b URL) Password() string {
	if b.hostAt <= b.userEnd+1 { // nothing, or only the '@'
		return ""
	}
	return b.href[b.userEnd+1 : b.hostAt-1]
}

// Host returns the host, with its port unless that is the scheme's default, as in the Host header
// field.
func (b URL) Host() string {
	if !b.hasHost() {
		return ""
	}
	return b.href[b.hostAt:b.pathAt]
}

// Hostname returns the host without the port: a domain in ASCII, an IPv4
// address, or an IPv6 address in its brackets.
func (b URL) Hostname() string { return b.href[b.hostAt:b.hostEnd] }

// Port returns the port in decimal, or "" if it is the scheme's default.
func (b URL) Port() string {
	if !b.hasHost() || b.hostEnd == b.pathAt {
		return ""
	}
	return b.href[b.hostEnd+1 : b.pathAt]
}

// EffectivePort returns the port to connect to, or 0 if neither the URL nor
// its scheme has one.
func (b URL) EffectivePort() int {
	port := b.Port()
	if port == "" {
		return defaultPort(b.Scheme())
	}
	n := 0
	for i := range len(port) {
		n = n*10 + int(port[i]-'0')
	}
	return n
}

// Path returns the path, percent-encoded. For http and https it begins with "/".
func (b URL) Path() string { return b.href[b.pathAt:b.queryAt] }

// Query returns what follows the '?', percent-encoded. Only String and RequestTarget distinguish
// an empty query from none.
func (b URL) Query() string {
	if b.queryAt == b.fragmentAt {
		return ""
	}
	return b.href[b.queryAt+1 : b.fragmentAt]
}

// Fragment returns what follows the '#', percent-encoded.
func (b URL) Fragment() string {
	if int(b.fragmentAt) == len(b.href) {
		return ""
	}
	return b.href[b.fragmentAt+1:]
}

// RequestTarget returns the path and query for the request line of an http or
// https URL (the origin-form of RFC 9112, section 3.2.1).
func (b URL) RequestTarget() string { return b.href[b.pathAt:b.fragmentAt] }

// hasCredentials reports whether there is a user name or a password.
func (b URL) hasCredentials() bool { return b.hostAt > b.schemeEnd+uint32(len("://")) }

// hasHost reports whether the URL has a host, possibly empty.
func (b URL) hasHost() bool { return b.hostAt > b.schemeEnd+1 }

// originEnd returns the end of what precedes the path, without the "/.".
func (b URL) originEnd() uint32 {
	if b.hasHost() {
		return b.pathAt
	}
	return b.hostEnd
}

// opaque reports whether the path is opaque. The path of any other URL without
// a host begins with a slash.
func (b URL) opaque() bool { return !b.hasHost() && !strings.HasPrefix(b.Path(), "/") }

// special reports whether the scheme is one of the special ones.
func special(scheme string) bool { return scheme == "file" || defaultPort(scheme) != 0 }

// defaultPort returns the default port of a special scheme, or 0.
func defaultPort(scheme string) int {
	switch scheme {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	case "ftp":
		return 21
	}
	return 0
}

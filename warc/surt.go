package warc

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// SURT returns the key by which indexes sort a URL: the labels of its host in reverse, then path
// and query, all in lower case. URLs that usually lead to the same page have the same key: with
// and without www, scheme, default port, session identifiers, a slash at the end of the path, and
// in any order of the parameters. These are the rules of the Internet Archive's surt, which
// pywb and ReplayWeb.page follow.
//
// URLs of other schemes than http, https, ftp and whois are keys themselves.
func SURT(url string) string {
	url = strings.TrimSpace(url)
	scheme, rest, found := strings.Cut(url, "://")
	scheme = strings.ToLower(scheme)
	if !found || !slices.Contains([]string{"http", "https", "ftp", "whois"}, scheme) {
		return strings.ReplaceAll(url, " ", "%20") // a space ends a key
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	rest = strings.TrimLeft(rest, "/")
	authority, path, _ := strings.Cut(rest, "/")
	var short [256]byte // keys are hardly ever longer
	key := appendPath(append(appendHost(short[:0], scheme, authority), ')'), path)
	if query = keyOfQuery(query); query != "" {
		key = append(append(key, '?'), query...)
	}
	return string(key)
}

// appendHost appends a name with its labels reversed. Addresses stay as they are.
func appendHost(b []byte, scheme, authority string) []byte {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	port := ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i+1:]
	}
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		port = ""
	}
	host = strings.ToLower(strings.Trim(host, "."))
	if isAddr(host) {
		b = append(b, host...)
	} else {
		b = appendReversed(b, withoutWWW(host))
	}
	if port != "" {
		b = append(append(b, ':'), port...)
	}
	return b
}

// withoutWWW removes a first label such as www or www2.
func withoutWWW(host string) string {
	rest, is := strings.CutPrefix(host, "www")
	if !is {
		return host
	}
	if rest, is = strings.CutPrefix(strings.TrimLeft(rest, "0123456789"), "."); !is {
		return host
	}
	return rest
}

func appendReversed(b []byte, host string) []byte {
	for {
		dot := strings.LastIndexByte(host, '.')
		b = append(b, host[dot+1:]...)
		if dot < 0 {
			return b
		}
		b = append(b, ',')
		host = host[:dot]
	}
}

// isAddr reports whether a host is an IP address: those of version 4 end with a digit, all others
// have a colon.
func isAddr(host string) bool {
	if n := len(host); n == 0 || (host[n-1] < '0' || host[n-1] > '9') && !strings.Contains(host, ":") {
		return false
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// Session identifiers that servers put into URLs.
var (
	pathSessions = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
		regexp.MustCompile(`(?i)^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	}
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

// appendPath appends the key of a path.
func appendPath(b []byte, path string) []byte {
	start := len(b)
	b = append(b, '/')
	last := byte('/')
	for _, c := range []byte(path) {
		if special(c) || last == '/' && (c == '/' || c == '.' || c == '(') {
			return append(b[:start], keyOfPath(path)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b, last = append(b, c), c
	}
	if last == '/' && path != "" {
		b = b[:len(b)-1]
	}
	return b
}

// keyOfPath returns the key of any path.
func keyOfPath(path string) string {
	path = resolve("/" + unescape(path))
	if strings.Contains(path, "/(") {
		for _, session := range pathSessions {
			path = session.ReplaceAllString(path, "$1$2")
		}
	}
	return escape(strings.ToLower(path))
}

// resolve removes dot segments and empty segments from a path.
func resolve(path string) string {
	if !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		return path
	}
	var kept []string
	for s := range strings.SplitSeq(path, "/") {
		switch {
		case s == "..":
			kept = kept[:max(0, len(kept)-1)]
		case s != "" && s != ".":
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func keyOfQuery(query string) string {
	if query == "" {
		return ""
	}
	query = strings.ToLower(unescape(query))
	if strings.Contains(query, "id") { // in the names of all
		for _, session := range querySessions {
			query = session.ReplaceAllString(query, "$1$2")
		}
	}
	parameters := strings.Split(query, "&")
	slices.SortFunc(parameters, func(a, b string) int { // by name, then by value
		nameA, valueA, hasA := strings.Cut(a, "=")
		nameB, valueB, hasB := strings.Cut(b, "=")
		switch c := strings.Compare(nameA, nameB); {
		case c != 0:
			return c
		case hasA != hasB:
			if hasB {
				return -1
			}
			return 1
		}
		return strings.Compare(valueA, valueB)
	})
	return escape(strings.Join(parameters, "&"))
}

// unescape removes percent-encoding until none is left: "%2525" is "%".
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = append(b, s[i])
		for n := len(b); n >= 3 && b[n-3] == '%'; n = len(b) {
			hi, lo := unhex(b[n-2]), unhex(b[n-1])
			if hi < 0 || lo < 0 {
				break
			}
			b = append(b[:n-3], byte(hi<<4|lo))
		}
	}
	return string(b)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// special reports whether escape encodes a byte: what a line of an index cannot hold, and what would
// change a URL's meaning.
func special(c byte) bool { return c <= ' ' || c >= 0x7f || c == '#' || c == '%' }

// escape encodes what is special.
func escape(s string) string {
	usual := 0
	for usual < len(s) && !special(s[usual]) {
		usual++
	}
	if usual == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+16), s[:usual]...)
	for i := usual; i < len(s); i++ {
		if c := s[i]; special(c) {
			const hex = "0123456789abcdef"
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

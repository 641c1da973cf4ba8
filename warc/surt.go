package warc

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// SURT returns the key by which indexes sort a URL: the labels of its host in reverse, then path
// and query, all in lower case. URLs that usually lead to the same page have the same key: with
// and without www, scheme, default port, session identifiers, a slash at the end of the path, and
// in any order of the parameters. These are the rules of the Internet Archive's surt, which pywb
// follows, so that the parts of an IPv4 address are reversed, too. An IPv6 address keeps its
// brackets, as in ReplayWeb.page.
//
// Bytes that are no printable ASCII are percent-encoded, and only letters of ASCII have a case. A
// URL without a host keeps its scheme.
func SURT(url string) string {
	url = strings.TrimSpace(url)
	if strings.ContainsAny(url, "\r\n\t") {
		url = withoutBreaks.Replace(url)
	}
	scheme, rest := cutScheme(url)
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := "", rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		if strings.HasPrefix(scheme, "http") {
			after = strings.TrimLeft(after, "/")
		}
		slash := strings.IndexByte(after+"/", '/')
		authority, path = after[:slash], after[slash:]
	}
	var short [256]byte // keys are hardly ever longer
	key := short[:0]
	if authority != "" {
		key = append(appendHost(key, scheme, authority), ')')
		key = appendPath(key, strings.TrimPrefix(path, "/"))
	} else {
		key = append(append(key, escape(scheme)...), ':')
		key = append(key, tidy(unescape(path))...)
	}
	if query = keyOfQuery(query); query != "" {
		key = append(append(key, '?'), query...)
	}
	return string(key)
}

var withoutBreaks = strings.NewReplacer("\r", "", "\n", "", "\t", "")

// cutScheme splits a URL behind its scheme. What has none is one of http, and of several schemes
// the last counts: "http://https://example.org/".
func cutScheme(url string) (scheme, rest string) {
	scheme, rest, found := strings.Cut(url, ":")
	if !found || !isScheme(scheme) {
		return "http", "//" + url
	}
	for scheme == "http" || scheme == "https" {
		after, ok := strings.CutPrefix(rest, "//http")
		next := strings.TrimPrefix(after, "s")
		if !ok || !strings.HasPrefix(next, "://") {
			break
		}
		scheme, rest = "http"+after[:len(after)-len(next)], next[1:]
	}
	return scheme, rest
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// appendHost appends a host with its labels reversed, and a port that is not the usual one.
func appendHost(b []byte, scheme, authority string) []byte {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	port := ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], strings.TrimLeft(host[i+1:], "0")
	}
	scheme = lower(scheme)
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		port = ""
	}
	host = lower(escape(strings.Trim(strings.ReplaceAll(unescape(host), "..", "."), ".")))
	if strings.HasPrefix(host, "[") {
		b = append(b, host...)
	} else {
		b = appendReversed(b, withoutWWW(host))
	}
	if port != "" {
		b = append(append(b, ':'), escape(port)...)
	}
	return b
}

// lower changes letters of ASCII only: the key holds bytes, and not all are UTF-8.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if c := b[i]; 'A' <= c && c <= 'Z' {
					b[i] = c + ('a' - 'A')
				}
			}
			return string(b)
		}
	}
	return s
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

// Session identifiers that servers put into URLs.
var (
	pathSessions = sync.OnceValue(func() []*regexp.Regexp {
		return []*regexp.Regexp{
			regexp.MustCompile(`(?i)^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
			regexp.MustCompile(`(?i)^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
		}
	})
	querySessions = sync.OnceValue(func() []*regexp.Regexp {
		return []*regexp.Regexp{
			regexp.MustCompile(`(?i)^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
			regexp.MustCompile(`(?i)^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
			regexp.MustCompile(`(?i)^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
			regexp.MustCompile(`(?i)^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
			regexp.MustCompile(`(?i)^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
		}
	})
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

// keyOfPath returns the key of any path below a host.
func keyOfPath(path string) string { return tidy(resolve("/" + unescape(path))) }

// tidy encodes a path and removes what does not matter in it.
func tidy(path string) string {
	path = lower(escape(path))
	if strings.Contains(path, "/(") {
		for _, session := range pathSessions() {
			path = session.ReplaceAllString(path, "$1$2")
		}
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// resolve removes dot segments and empty segments from a path that begins with a slash. What would
// lead above the root stays once, as surt has it.
func resolve(path string) string {
	if !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	for s := range strings.SplitSeq(path[1:], "/") {
		switch {
		case s == "..":
			if len(kept) == 0 {
				kept = append(kept, s)
			} else {
				kept = kept[:len(kept)-1]
			}
		case s != ".":
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return "/"
	}
	last := kept[len(kept)-1]
	kept = slices.DeleteFunc(kept[:len(kept)-1], func(s string) bool { return s == "" })
	return "/" + strings.Join(append(kept, last), "/")
}

func keyOfQuery(query string) string {
	if query == "" {
		return ""
	}
	query = lower(escape(unescape(query)))
	if strings.Contains(query, "id") { // in the names of all
		for _, session := range querySessions() {
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
	return strings.Join(parameters, "&")
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

// special reports whether escape encodes a byte: what a line of an index cannot hold, and what
// would change a URL's meaning.
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

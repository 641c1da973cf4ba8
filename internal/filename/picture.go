package filename

import (
	"path"
	"slices"
	"strings"
)

// Picture returns a relative path for a picture of a page, of the media type mime: host and path,
// as of [Style.Of]. No other URL has the same, in any run, but for the case of letters. A host that
// is asked by http has the port 80 in its name.
func Picture(url, mime string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	rest, _, ambiguous := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, rest, _ := strings.Cut(rest, "/")
	dir, base := path.Split(rest)
	if hasPort := strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":"); scheme == "http" && !hasPort {
		url = scheme + "://" + host + ":80" + url[len(scheme+"://"+host):]
	} else if hasPort && scheme != "http" {
		ambiguous = true
	}
	name := Style{}.Of(url, mime)
	ext := path.Ext(name)
	if slices.ContainsFunc(strings.Split(strings.ToLower(dir), "/"), func(part string) bool { return strings.HasSuffix(part, ext) }) {
		// A file may have the folder's name.
		return path.Join(strings.Split(name, "/")[0], Digest(url)+ext)
	}
	if ambiguous || base == "index" || extension(base, mime) == "" || strings.Contains("/"+rest, "//") || strings.ContainsAny(rest, "@~") ||
		strings.Contains(query, ".") || escapes(rest+query) {
		return Beside(name, url)
	}
	return name
}

// escapes reports whether a part of a URL has escapes that stand for what another spells in another
// way: of ASCII, or with lower-case digits.
func escapes(s string) bool {
	for i := range len(s) {
		if s[i] == '%' && (i+2 >= len(s) || s[i+1] < '8' || strings.ToUpper(s[i:i+3]) != s[i:i+3]) {
			return true
		}
	}
	return false
}

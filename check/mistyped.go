package check

import (
	"regexp"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

var (
	// webScheme begins a URL of the Web as it is written: its scheme, and what stands between that
	// and the host.
	webScheme = regexp.MustCompile(`(?i)^(https?):([:/\\]*)`)
	// twice matches a second scheme, behind http://.
	twice = regexp.MustCompile(`(?i)^https?:?[/\\]{2}`)
	// likeScheme matches the beginning of a probable URL of the Web whose scheme, or its end, is
	// mistyped.
	likeScheme = regexp.MustCompile(`(?i)^([a-z]{3,7})[ ;:.,]{0,2}[/\\]{2}[/\\]*`)
	// likeHost matches that of a probable one without a scheme.
	likeHost = regexp.MustCompile(`(?i)^www\.[^/?#\s]+\.[a-z]{2,}([/?#:]|$)`)
)

// mistyped returns the URL that a link was probably meant to have, if its scheme is missing or
// mistyped; empty: it is not. With wrong, it is no valid URL as it is, or has a scheme that does
// not exist: browsers mend some of these, and take others for a path, or for nothing. Otherwise it
// is a valid path, and wrong only if nothing is there.
//
// See the validation errors of https://url.spec.whatwg.org/#url-parsing: special-scheme-missing-
// following-solidus and invalid-reverse-solidus.
func mistyped(raw string, to weburl.URL) (wrong bool, meant string) {
	raw = strings.TrimSpace(raw[:min(len(raw), longestURL)])
	head := strings.ToLower(raw[:min(len(raw), 16)])
	if !strings.ContainsAny(head, `:\`) && !strings.Contains(head, "//") && !strings.HasPrefix(head, "www.") {
		return false, "" // nearly all links
	}
	if m := webScheme.FindStringSubmatch(raw); m != nil {
		rest := raw[len(m[0]):]
		switch {
		case rest == "":
			return false, ""
		case twice.MatchString(rest):
			if _, inner := mistyped(rest, weburl.URL{}); inner != "" {
				rest = inner
			}
			return true, rest
		case m[2] == "//":
			return false, ""
		}
		return true, withScheme(m[1], rest)
	}
	if likeHost.MatchString(raw) {
		return false, "https://" + raw
	}
	m := likeScheme.FindStringSubmatch(raw)
	if m == nil || len(m[0]) == len(raw) {
		return false, ""
	}
	scheme := nearScheme(strings.ToLower(m[1]))
	if scheme == "" {
		return false, ""
	}
	return !to.IsHTTP() && to.Scheme() != "file", withScheme(scheme, raw[len(m[0]):])
}

func withScheme(scheme, rest string) string {
	return strings.ToLower(scheme) + "://" + strings.ReplaceAll(rest, `\`, "/")
}

// nearScheme returns http or https for a word that is one of them but for a letter, or for the
// order of letters; empty for other words.
func nearScheme(word string) string {
	switch {
	case word == "http", word == "https":
		return word
	case word == "shttp": // it was one
	case isNear(word, "https"):
		return "https"
	case isNear(word, "http"):
		return "http"
	}
	return ""
}

// isNear reports whether two words differ in a letter, or in its place, or one has a letter more.
func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	begin, end := 0, 0
	for begin < len(a) && a[begin] == b[begin] {
		begin++
	}
	for end < len(a)-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if len(b)-begin-end <= 1 {
		return true
	}
	var count [256]int
	for i := range len(b) {
		count[b[i]]++
	}
	for i := range len(a) {
		count[a[i]]--
	}
	return count == [256]int{}
}

// didYouMean is the end of a message.
func didYouMean(url string) string {
	if url == "" {
		return ""
	}
	return ": did you mean " + url + "?"
}

package links

import (
	"iter"
	"strings"
)

// hasOtherScheme reports whether a value is an absolute URL of a scheme other
// than http and https, so that it need not be copied to find out: it may be a
// megabyte of data:. It looks at the value undecoded. That is exact for what it
// finds, as neither '&' nor what the URL parser drops can stand in a scheme;
// what it misses ("java&#115;cript:"), the parser will find.
func hasOtherScheme(raw []byte) bool {
	at := skipSpace(raw, 0)
	scheme := raw[at:]
	for i, c := range scheme {
		switch {
		case isLetter(c):
		case i > 0 && (isDecimal(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return !equalFold(scheme[:i], "http") && !equalFold(scheme[:i], "https")
		default:
			return false
		}
	}
	return false
}

// candidates yields the URLs of a srcset, without their descriptors.
// See https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute.
func candidates(srcset string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			srcset = strings.TrimLeft(srcset, " \t\n\f\r,")
			if srcset == "" {
				return
			}
			end := strings.IndexAny(srcset, " \t\n\f\r")
			if end < 0 {
				end = len(srcset)
			}
			url := srcset[:end]
			srcset = srcset[end:]
			if trimmed := strings.TrimRight(url, ","); trimmed != url {
				url = trimmed // a comma at its end ends the candidate
			} else {
				srcset = srcset[descriptorsEnd(srcset):]
			}
			if !yield(url) {
				return
			}
		}
	}
}

// descriptorsEnd returns where a candidate ends: at a comma, but not in parentheses.
func descriptorsEnd(s string) int {
	inParens := false
	for i := range len(s) {
		switch s[i] {
		case '(':
			inParens = true
		case ')':
			inParens = false
		case ',':
			if !inParens {
				return i
			}
		}
	}
	return len(s)
}

// refreshTarget returns the URL of a <meta http-equiv=refresh>: "5; url=next.html".
// Without a URL the page reloads itself, which is no link. See
// https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps.
func refreshTarget(s string) (target string, ok bool) {
	const space = " \t\n\f\r"
	s = strings.TrimLeft(s, space)
	delay := strings.TrimLeft(s, "0123456789")
	if delay == s && !strings.HasPrefix(s, ".") {
		return "", false
	}
	s = strings.TrimLeft(delay, "0123456789.")
	rest := strings.TrimLeft(s, space)
	if rest == s && !strings.HasPrefix(s, ";") && !strings.HasPrefix(s, ",") {
		return "", false
	}
	if rest != "" && (rest[0] == ';' || rest[0] == ',') {
		rest = strings.TrimLeft(rest[1:], space)
	}
	if len(rest) >= 3 && equalFold(rest[:3], "url") {
		if value, found := strings.CutPrefix(strings.TrimLeft(rest[3:], space), "="); found {
			rest = strings.TrimLeft(value, space)
		} else {
			return rest, true
		}
	}
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		rest, _, _ = strings.Cut(rest[1:], rest[:1])
	}
	return rest, rest != ""
}

package links

import (
	"bytes"
	"iter"

	"github.com/weftcrawl/weft/internal/markup"
)

// cutWord returns the first word of b, nil if there is none, and the rest.
func cutWord(b []byte) (word, rest []byte) {
	from := markup.SkipSpace(b, 0)
	end := from
	for end < len(b) && !markup.IsSpace(b[end]) {
		end++
	}
	if from == end {
		return nil, nil
	}
	return b[from:end], b[end:]
}

// hasOtherScheme reports whether a value is an absolute URL of a scheme other than http and
// https, without a copy: it may be a megabyte of data:. It reads the value undecoded. A scheme
// cannot contain '&' or any byte that the URL parser drops, so what it finds is right; what it
// misses ("java&#115;cript:"), the parser finds.
func hasOtherScheme(raw []byte) bool {
	at := markup.SkipSpace(raw, 0)
	scheme := raw[at:]
	for i, c := range scheme {
		switch {
		case markup.IsLetter(c):
		case i > 0 && (markup.IsDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return !markup.EqualFold(scheme[:i], "http") && !markup.EqualFold(scheme[:i], "https")
		default:
			return false
		}
	}
	return false
}

// candidates yields the URLs of a srcset, without their descriptors.
// See https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute.
//
// A browser drops a candidate whose descriptors it cannot read ("a.png 1q"). Here it counts: a
// crawler asks what a page mentions, not which image fits.
func candidates(srcset []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			srcset = bytes.TrimLeft(srcset, markup.WhiteSpace+",")
			if len(srcset) == 0 {
				return
			}
			url, _ := cutWord(srcset)
			srcset = srcset[len(url):]
			if trimmed := bytes.TrimRight(url, ","); len(trimmed) < len(url) {
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

// descriptorsEnd returns the end of a candidate: a comma outside parentheses, which do not nest.
func descriptorsEnd(s []byte) int {
	inParens := false
	for i, c := range s {
		switch c {
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

// refresh reads the content of a <meta http-equiv=refresh>, such as "5; url=next.html". ok
// reports whether it takes effect. Without a URL the page reloads itself, and target is empty.
// See https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps.
func refresh(content []byte) (target []byte, ok bool) {
	rest := bytes.TrimLeft(content, markup.WhiteSpace)
	delay := bytes.TrimLeft(rest, "0123456789")
	if len(delay) == len(rest) && !bytes.HasPrefix(rest, []byte(".")) {
		return nil, false
	}
	rest = bytes.TrimLeft(delay, "0123456789.")
	if len(rest) == 0 {
		return nil, true
	}
	if rest[0] != ';' && rest[0] != ',' && !markup.IsSpace(rest[0]) {
		return nil, false
	}
	rest = bytes.TrimLeft(rest, markup.WhiteSpace)
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == ',') {
		rest = bytes.TrimLeft(rest[1:], markup.WhiteSpace)
	}
	if len(rest) >= len("url") && markup.EqualFold(rest[:len("url")], "url") {
		value := bytes.TrimLeft(rest[len("url"):], markup.WhiteSpace)
		if len(value) == 0 || value[0] != '=' {
			return rest, true
		}
		rest = bytes.TrimLeft(value[1:], markup.WhiteSpace)
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		rest, _, _ = bytes.Cut(rest[1:], rest[:1])
	}
	return rest, true
}

package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
)

// oddWord reads on from a word that has more than plain ASCII in it: it begins at from,
// and is plain up to at.
func (r *Reader) oddWord(from, at int) {
	body := r.body
	r.odd = append(r.odd[:0], body[from:at]...)
	for at < len(body) {
		size := 1
		switch class := r.classes[body[at]]; class {
		case isSpace:
			r.at = at
			r.endOdd(from)
			return
		case isPlain, isTag:
			if class == isTag && opensTag(body[at:], r.classes) {
				r.at = at
				r.endOdd(from)
				return
			}
			r.odd = append(r.odd, body[at])
		case isReference:
			var text []byte
			text, size = reference(body[at:])
			for len(text) > 0 {
				c, n := utf8.DecodeRune(text)
				from = r.character(c, from, at, at+size)
				text = text[n:]
			}
		default:
			c, n := utf8.DecodeRune(body[at:])
			from = r.character(c, from, at, at+n)
			size = n
		}
		at += size
	}
	r.at = at
	r.endOdd(from)
}

// character takes a character that stands at at into the word that began at from. It
// returns where the word begins, which is next if this one has ended it.
func (r *Reader) character(c rune, from, at, next int) int {
	switch {
	case c == 0xAD || c == 0x200B || c == 0xFEFF: // where a line may break, and a byte order mark: nothing to see
	case unicode.IsSpace(c):
		r.endOdd(from)
		return next
	case c >= 0x0E00 && unicode.In(c, unspaced...):
		r.endOdd(from)
		r.odd = utf8.AppendRune(r.odd, c)
		r.endOdd(at)
		return next
	default:
		r.odd = utf8.AppendRune(r.odd, c)
	}
	return from
}

// unspaced are the scripts that put no space between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// endOdd ends the word in r.odd, which begins at from in the body.
func (r *Reader) endOdd(from int) {
	word := r.odd
	r.odd = word[:0]
	switch {
	case len(word) == 0:
		return
	case bytes.HasPrefix(r.body[from:], word): // it may be kept
		r.add(entry{xxhash.Sum64(word), r.body[from : from+len(word)]})
	default:
		r.add(entry{xxhash.Sum64(word), nil})
	}
}

// maxReference is the length of "&CounterClockwiseContourIntegral;", the longest.
const maxReference = 33

// reference returns the text of the character reference that the '&' at the start of s
// begins, and its length; of none, the '&' itself.
// See https://html.spec.whatwg.org/multipage/parsing.html#character-reference-state.
func reference(s []byte) (text []byte, n int) {
	for _, common := range references {
		if bytes.HasPrefix(s, common.name) {
			return common.text, len(common.name)
		}
	}
	end := 1
	if len(s) > 1 && s[1] == '#' {
		end = 2
	}
	for end < min(len(s), maxReference) && isAlphanumeric(s[end]) {
		end++
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	if end < len("&lt") {
		return s[:1], 1
	}
	return []byte(html.UnescapeString(string(s[:end]))), end
}

// references are the most frequent ones: these cost no memory.
var references = []struct{ name, text []byte }{
	{[]byte("&nbsp;"), []byte("\u00A0")}, {[]byte("&#160;"), []byte("\u00A0")}, {[]byte("&lt;"), []byte("<")}, {[]byte("&gt;"), []byte(">")},
	{[]byte("&amp;"), []byte("&")}, {[]byte("&quot;"), []byte(`"`)}, {[]byte("&#39;"), []byte("'")}, {[]byte("&#8217;"), []byte("’")},
	{[]byte("&#8220;"), []byte("“")}, {[]byte("&#8221;"), []byte("”")},
}

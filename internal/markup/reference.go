package markup

import (
	"bytes"

	"strings"
	"unicode/utf8"

	"golang.org/x/net/html" // unlike the standard library's, it has &nGt; and &nLt;
)

// A Rule selects the character references that count.
type Rule uint8

// The rules.
const (
	// InText is the rule for text of HTML: a name counts without its semicolon, even if it is
	// only the beginning of a longer one, as in "&notit;".
	// See https://html.spec.whatwg.org/multipage/parsing.html#character-reference-state.
	InText Rule = iota

	// InAttribute differs from InText in one point, made for queries such as ?a=b&copy=c: a
	// name without a semicolon counts only if neither '=' nor a letter or digit follows.
	InAttribute

	// InXML needs the semicolon. Beyond the five names of XML it takes those of HTML that
	// stand for one character, since feeds use them without defining them.
	InXML
)

// maxName is the length of "CounterClockwiseContourIntegral;", the longest name.
const maxName = 32

// AppendText appends text with its references decoded.
func AppendText(dst, raw []byte, rule Rule) []byte {
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			return append(dst, raw...)
		}
		var n int
		dst, n = AppendReference(append(dst, raw[:i]...), raw[i:], rule)
		raw = raw[i+n:]
	}
}

// AppendReference appends the text of the reference that the '&' at the start of s begins. n
// is its length in s. If there is no reference, that is the '&' alone.
func AppendReference(dst, s []byte, rule Rule) (out []byte, n int) {
	if len(s) < len("&lt") {
		return append(dst, '&'), 1
	}
	for i := range frequent {
		if f := &frequent[i]; s[2] == f.name[2] && bytes.HasPrefix(s, f.name) {
			return append(dst, f.text...), len(f.name)
		}
	}
	if s[1] == '#' {
		return appendNumber(dst, s, rule)
	}
	end := 1
	for end < len(s) && end <= maxName && IsAlphanumeric(s[end]) {
		end++
	}
	ended := end < len(s) && s[end] == ';'
	if ended {
		end++
	}
	if end < len("&lt") || !ended && (rule == InXML || rule == InAttribute && end < len(s) && s[end] == '=') {
		return append(dst, '&'), 1
	}
	text := html.UnescapeString(string(s[:end]))
	known := true
	switch {
	case rule == InText:
	case rule == InXML || !ended: // names that need no semicolon stand for one character each
		known = utf8.RuneCountInString(text) == 1
	default: // where only a prefix is a name ("&notit;"), or none, the semicolon stays
		known = text == ";" || !strings.HasSuffix(text, ";")
	}
	if !known {
		return append(dst, '&'), 1
	}
	return append(dst, text...), end
}

// frequent are the most frequent references: these cost no memory.
var frequent = []struct{ name, text []byte }{
	{[]byte("&amp;"), []byte("&")}, {[]byte("&nbsp;"), []byte("\u00A0")}, {[]byte("&#160;"), []byte("\u00A0")},
	{[]byte("&lt;"), []byte("<")}, {[]byte("&gt;"), []byte(">")}, {[]byte("&quot;"), []byte(`"`)}, {[]byte("&#39;"), []byte("'")},
	{[]byte("&#8217;"), []byte("’")}, {[]byte("&#8220;"), []byte("“")}, {[]byte("&#8221;"), []byte("”")},
}

// appendNumber appends the character of a reference that begins with "&#".
// See https://html.spec.whatwg.org/multipage/parsing.html#numeric-character-reference-end-state.
func appendNumber(dst, s []byte, rule Rule) (out []byte, n int) {
	end, base, isDigit := 2, 10, IsDigit
	if end < len(s) && s[end]|0x20 == 'x' {
		end, base, isDigit = 3, 16, IsHexDigit
	}
	from, char := end, 0
	for ; end < len(s) && isDigit(s[end]); end++ {
		char = min(char*base+HexValue(s[end]), utf8.MaxRune+1)
	}
	ended := end < len(s) && s[end] == ';'
	if end == from || rule == InXML && !ended {
		return append(dst, '&'), 1
	}
	if ended {
		end++
	}
	switch {
	case char == 0:
		char = utf8.RuneError
	case 0x80 <= char && char <= 0x9F && rule != InXML: // as if it were a byte of windows-1252
		return append(dst, html.UnescapeString(string(s[:end]))...), end
	}
	return utf8.AppendRune(dst, rune(char)), end // numbers of no character become U+FFFD
}

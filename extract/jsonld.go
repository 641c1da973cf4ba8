package extract

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/weftcrawl/weft/record"
	"golang.org/x/net/html"
)

const (
	mostJSON  = 512 << 10 // bytes of a script
	mostBrace = 64        // objects and arrays in one another
)

// isJSONLD holds for the type of a script.
func isJSONLD(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.Trim(media, whiteSpace), "application/ld+json")
}

// jsonLD takes in a script of JSON-LD. What is not broken is kept.
func (p *page) jsonLD(s *record.Structured, n *html.Node) {
	if n.FirstChild == nil {
		return
	}
	text := n.FirstChild.Data
	if !p.spend(len(text) >> 2) {
		return
	}
	if len(text) > mostJSON {
		p.note("json-ld: a script of %d bytes, expected at most %d", len(text), mostJSON)
		return
	}
	for at := 0; at < len(text); {
		r := reader{text: text, at: at}
		r.start()
		if r.at == len(text) {
			return
		}
		err := r.value(0)
		for _, object := range objects(r.out) {
			if err == nil && len(s.JSONLD) < mostThings && p.fits(string(object), "json-ld") {
				s.JSONLD = append(s.JSONLD, object)
			}
		}
		if err != nil {
			p.note("json-ld: %v", err)
			return
		}
		at = r.at
	}
}

// objects returns the objects of a script: those of an array, or of an @graph, one by one.
func objects(text []byte) []json.RawMessage {
	var list []json.RawMessage
	if len(text) > 0 && text[0] == '[' {
		if json.Unmarshal(text, &list) != nil {
			return nil
		}
		return slices.DeleteFunc(list, func(o json.RawMessage) bool { return len(o) == 0 || o[0] != '{' })
	}
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return nil
	}
	if graph := object["@graph"]; len(graph) > 0 && graph[0] == '[' && object["@type"] == nil {
		return objects(graph)
	}
	return []json.RawMessage{text}
}

// reader reads JSON as pages have it, and writes what it should be: without comments, without
// commas at the end of lists, with line ends and other control characters in texts escaped.
type reader struct {
	text string
	at   int
	out  []byte
}

func (r *reader) fail(expected string) error {
	line := 1 + strings.Count(r.text[:r.at], "\n")
	column := 1 + utf8.RuneCountInString(r.text[strings.LastIndexByte(r.text[:r.at], '\n')+1:r.at])
	if r.at == len(r.text) {
		return fmt.Errorf("line %d, column %d: the end, expected %s", line, column, expected)
	}
	return fmt.Errorf("line %d, column %d: %.16q, expected %s", line, column, r.text[r.at:], expected)
}

// wrappers stand around scripts, so that old readers take them for comments.
var wrappers = []string{"//<![CDATA[", "// <![CDATA[", "//]]>", "// ]]>", "//-->", "// -->", "-->", "<![CDATA[", "<!]]>", "]]>", ";", ",", "\ufeff"}

// start skips what may stand before a value of its own, and behind one.
func (r *reader) start() {
	for {
		from := r.at
		r.at = len(r.text) - len(strings.TrimLeft(r.text[r.at:], whiteSpace))
		for _, mark := range wrappers {
			if strings.HasPrefix(r.text[r.at:], mark) {
				r.at += len(mark)
				break
			}
		}
		if rest := r.text[r.at:]; strings.HasPrefix(rest, "<!--") {
			r.at += opening(rest)
		}
		if r.at > from {
			continue
		}
		if r.space(); r.at == from {
			return
		}
	}
}

// opening returns how long an HTML comment is in front of a value: to its end, or to the line that
// begins with the value. Scripts of old are hidden so, with a word about it or without.
func opening(text string) int {
	for at := len("<!--"); ; {
		rest := strings.TrimLeft(text[at:], whiteSpace)
		if at = len(text) - len(rest); rest == "" || rest[0] == '{' || rest[0] == '[' {
			return at
		}
		for rest != "" && rest[0] != '\n' && rest[0] != '\r' {
			if strings.HasPrefix(rest, "-->") {
				return at + len("-->")
			}
			rest = rest[1:]
			at++
		}
	}
}

// space skips white space and comments.
func (r *reader) space() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		end := -1
		switch {
		case strings.IndexByte(whiteSpace, rest[0]) >= 0:
			end = 1
		case strings.HasPrefix(rest, "\u00a0"):
			end = len("\u00a0")
		case strings.HasPrefix(rest, "/*"):
			if end = strings.Index(rest, "*/"); end >= 0 {
				end += len("*/")
			}
		case strings.HasPrefix(rest, "<!--"):
			if end = strings.Index(rest, "-->"); end >= 0 {
				end += len("-->")
			}
		case strings.HasPrefix(rest, "//"):
			end = strings.IndexAny(rest, "\n\r")
		default:
			return
		}
		if end < 0 { // a comment to the end
			end = len(rest)
		}
		r.at += end
	}
}

func (r *reader) value(depth int) error {
	if depth > mostBrace {
		return r.fail(fmt.Sprintf("objects at most %d deep", mostBrace))
	}
	r.space()
	if r.at == len(r.text) {
		return r.fail("a value")
	}
	switch c := r.text[r.at]; {
	case c == '{':
		return r.list('}', func() error {
			if err := r.string(); err != nil {
				return err
			}
			r.space()
			if r.at == len(r.text) || r.text[r.at] != ':' {
				return r.fail(`":"`)
			}
			r.at++
			r.out = append(r.out, ':')
			return r.value(depth + 1)
		})
	case c == '[':
		return r.list(']', func() error { return r.value(depth + 1) })
	case c == '"':
		return r.string()
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(r.text[r.at:], word) {
			r.at += len(word)
			r.out = append(r.out, word...)
			return nil
		}
	}
	return r.fail("a value")
}

// list reads what stands between braces or brackets.
func (r *reader) list(end byte, part func() error) error {
	r.out = append(r.out, r.text[r.at])
	r.at++
	for first := true; ; first = false {
		r.space()
		if r.at < len(r.text) && r.text[r.at] == end {
			break
		}
		if !first {
			if r.at == len(r.text) || r.text[r.at] != ',' {
				return r.fail(fmt.Sprintf("a comma or %c", end))
			}
			for r.at < len(r.text) && r.text[r.at] == ',' {
				r.at++
				r.space()
			}
			if r.at < len(r.text) && r.text[r.at] == end {
				break
			}
			r.out = append(r.out, ',')
		}
		if err := part(); err != nil {
			return err
		}
	}
	r.at++
	r.out = append(r.out, end)
	return nil
}

// string reads a text in quotes.
func (r *reader) string() error {
	r.space()
	if r.at == len(r.text) || r.text[r.at] != '"' {
		return r.fail("a text in double quotes")
	}
	from := r.at
	r.at++
	r.out = append(r.out, '"')
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			r.out = append(r.out, '"')
			return nil
		case c == '\\':
			r.escape()
		case c < ' ':
			r.out = append(r.out, `\u00`...)
			r.out = append(r.out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			r.at++
		case c < utf8.RuneSelf:
			r.out = append(r.out, c)
			r.at++
		default:
			ch, size := utf8.DecodeRuneInString(r.text[r.at:])
			r.out = utf8.AppendRune(r.out, ch)
			r.at += size
		}
	}
	r.at = from
	return r.fail(`a closing "`)
}

// escape reads an escape. A backslash that is none stands for itself.
func (r *reader) escape() {
	rest := r.text[r.at+1:]
	switch {
	case rest != "" && strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0:
		r.out = append(r.out, '\\', rest[0])
		r.at += 2
	case isUnit(rest):
		size := 5
		if unit := unitOf(rest); utf16.IsSurrogate(unit) {
			// Half of a pair is no character: JSON allows its escape, and most readers stop at it.
			if len(rest) < 12 || rest[5] != '\\' || !isUnit(rest[6:]) || utf16.DecodeRune(unit, unitOf(rest[6:])) == utf8.RuneError {
				r.out = append(r.out, `\ufffd`...)
				r.at += 6
				return
			}
			size = 11
		}
		r.out = append(append(r.out, '\\'), rest[:size]...)
		r.at += 1 + size
	default:
		r.out = append(r.out, `\\`...)
		r.at++
	}
}

// isUnit holds for uXXXX: the escape of a unit of UTF-16, behind its backslash.
func isUnit(s string) bool {
	if len(s) < 5 || s[0] != 'u' {
		return false
	}
	_, err := hex.DecodeString(s[1:5])
	return err == nil
}

func unitOf(s string) rune {
	n, _ := strconv.ParseUint(s[1:5], 16, 16)
	return rune(n)
}

// number reads a number. One that JSON does not allow, as 007 and 1., becomes a text.
func (r *reader) number() error {
	end := r.at
	for end < len(r.text) && strings.IndexByte("+-.0123456789eE", r.text[end]) >= 0 {
		end++
	}
	text := r.text[r.at:end]
	r.at = end
	if json.Valid([]byte(text)) {
		r.out = append(r.out, text...)
	} else {
		r.out = append(append(append(r.out, '"'), text...), '"')
	}
	return nil
}

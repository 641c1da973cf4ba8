package httpclient

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Header holds the fields of a head in the order in which they arrived. Its methods are those of
// [http.Header]; names keep their case.
type Header []Field

// Field is a line of a header. Its value has no surrounding space.
type Field struct{ Name, Value string }

// Shown reports whether the field of a request is known to hold no secret.
func (f Field) Shown() bool { return slices.Contains(shownFields, strings.ToLower(f.Name)) }

var shownFields = []string{"accept", "accept-encoding", "accept-language", "from", "host", "referer", "user-agent"}

// fieldSize is the memory of a Field beside its text, in bytes.
const fieldSize = 32

// maxFields is the most fields of a head. Each takes memory beside its text, and a head of the
// largest size could have 20,000.
const maxFields = 2000

// Get returns the value of the first field with a name, ignoring case; "" for none.
func (h Header) Get(name string) string {
	for i := range h {
		if isName(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

// Values returns the values of all fields with a name, ignoring case; nil for none.
func (h Header) Values(name string) (values []string) {
	for i := range h {
		if isName(h[i].Name, name) {
			values = append(values, h[i].Value)
		}
	}
	return values
}

// Add appends a field.
func (h *Header) Add(name, value string) { *h = append(*h, Field{name, value}) }

// Set makes a field the only one with its name, ignoring case.
func (h *Header) Set(name, value string) {
	h.Del(name)
	h.Add(name, value)
}

// Del removes all fields with a name, ignoring case.
func (h *Header) Del(name string) {
	*h = slices.DeleteFunc(*h, func(f Field) bool { return isName(f.Name, name) })
}

// HTTP returns h as net/http has it.
func (h Header) HTTP() http.Header {
	all := make(http.Header, len(h))
	for _, f := range h {
		all.Add(f.Name, f.Value)
	}
	return all
}

// HeaderOf returns a header of net/http as a Header, by name.
func HeaderOf(from http.Header) Header {
	var h Header
	for _, name := range slices.Sorted(maps.Keys(from)) {
		for _, value := range from[name] {
			h.Add(name, value)
		}
	}
	return h
}

// has reports whether there is a field with a name.
func (h Header) has(name string) bool {
	for i := range h {
		if isName(h[i].Name, name) {
			return true
		}
	}
	return false
}

// list returns the values of all fields with a name as one list (RFC 9110, section 5.3).
func (h Header) list(name string) string { return strings.Join(h.Values(name), ", ") }

// reservedFields are the fields that a request may not set: they frame it, or ask for something
// that this client does not do.
var reservedFields = []string{"Connection", "Content-Length", "Expect", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade"}

// Check returns why h cannot be sent with a request, or nil: a name that is not a token, a value
// with control characters or surrounding space, or a field that frames the request.
func (h Header) Check() error {
	for _, f := range h {
		if !isToken(f.Name) {
			return fmt.Errorf("field %.64q: expected a name of letters, digits and hyphens", f.Name)
		}
		for _, name := range reservedFields {
			if isName(f.Name, name) {
				return fmt.Errorf("field %s is the client's own", name)
			}
		}
		if trim(f.Value) != f.Value {
			return fmt.Errorf("field %s: value %.64q, expected no space around it", f.Name, f.Value)
		}
		for _, c := range []byte(f.Value) {
			if c < ' ' && c != '\t' || c == 0x7f {
				return fmt.Errorf("field %s: value %.64q, expected no control characters", f.Name, f.Value)
			}
		}
	}
	return nil
}

// parseFields parses field lines up to an empty one or the end (RFC 9112, section 5). Lines may
// end in a bare LF. Fields are substrings of lines. odd reports a malformed field, which was
// dropped, or a space before a colon, which was removed; see ADR 6.
func parseFields(lines string) (h Header, odd bool, err *Error) {
	n := strings.Count(lines, "\n")
	if n > maxFields {
		return nil, false, fail(KindTooLarge, "header over %d fields", maxFields)
	}
	h = make(Header, 0, n)
	for lines != "" {
		var line string
		line, lines = cutLine(lines)
		if line == "" {
			break
		}
		if continues(line) {
			return nil, false, fail(KindProtocol, "header begins with a continuation line")
		}
		name, value, ok := strings.Cut(line, ":")
		if continues(lines) {
			value, lines = unfold(value, lines)
		}
		if !isToken(name) || !ok || splits(value) {
			if mayFrame(line) || splits(line) || splits(value) {
				return nil, false, fail(KindProtocol, "header line %.64q, expected NAME: VALUE", line)
			}
			odd = true
			if name = trim(name); !ok || !isToken(name) {
				continue
			}
		}
		h = append(h, Field{name, trim(value)})
	}
	return h, odd, nil
}

// splits reports whether s has a CR or a NUL, which a recipient refuses or replaces (RFC 9110,
// section 5.5): the next reader may take it for the end.
func splits(s string) bool { return strings.IndexByte(s, '\r') >= 0 || strings.IndexByte(s, 0) >= 0 }

// mayFrame reports whether a malformed line may have been meant as a field that frames the body.
// Another reader of the line might disagree with us.
func mayFrame(line string) bool {
	letters := strings.Map(func(c rune) rune {
		if c |= 0x20; c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, line)
	return strings.Contains(letters, "contentlength") || strings.Contains(letters, "transferencoding")
}

// continues reports whether s begins with a continuation line: obsolete folding
// (RFC 9112, section 5.2).
func continues(s string) bool { return s != "" && (s[0] == ' ' || s[0] == '\t') }

// unfold returns value with the continuation lines that rest begins with.
func unfold(value, rest string) (string, string) {
	var b strings.Builder // a head may be nothing but such lines
	b.WriteString(trim(value))
	for continues(rest) {
		var line string
		line, rest = cutLine(rest)
		b.WriteByte(' ')
		b.WriteString(trim(line))
	}
	return b.String(), rest
}

func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// trim returns s without the spaces and tabs around it.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// isName compares field names, which ignore case.
func isName(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// isToken reports whether s is a token.
func isToken(s string) bool {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

// tokenByte marks the bytes of a token (RFC 9110, section 5.6.2). Bytes above 0x7f are not
// included.
var tokenByte = func() (is [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		is[c] = strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) < 0
	}
	return is
}()

// visible reports whether s has no spaces and control characters.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

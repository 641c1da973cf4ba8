package http1

import "strings"

// Response is a whole answer.
type Response struct {
	Proto    string // "HTTP/1.1"
	Status   int
	Header   Header
	RawHead  string // status line and header as received, with the empty line
	Body     []byte // decoded; valid until Close
	Encoding string // the Content-Encoding that was decoded; empty for none
	Wire     int64  // bytes of the answer as received, interim answers included

	client *Client
	whole  *[]byte // the buffer Body is in, given back by Close
}

// Header is the fields of a head in the order in which they came.
type Header []Field

// Field is a line of a header. The value has no space around it.
type Field struct{ Name, Value string }

// Get returns the value of the first field with a name, in any case; "" for none.
func (h Header) Get(name string) string {
	for i := range h {
		if isName(h[i].Name, name) {
			return h[i].Value
		}
	}
	return ""
}

// list returns the values of all fields with a name as one list (RFC 9110, section 5.3).
func (h Header) list(name string) string {
	list := ""
	for i := range h {
		if isName(h[i].Name, name) {
			if list != "" {
				list += ", "
			}
			list += h[i].Value
		}
	}
	return list
}

// parseHead reads a status line and header fields (RFC 9112, sections 4 and 5).
// Lines may end in a bare LF. Fields are substrings of one copy of the head.
func parseHead(raw []byte) (*Response, *Error) {
	r := &Response{RawHead: string(raw)}
	line, rest := cutLine(r.RawHead)
	var ok bool
	if r.Proto, r.Status, ok = parseStatusLine(line); !ok {
		return nil, fail(KindProtocol, "status line %.64q, expected HTTP/1.x and a status", line)
	}
	r.Header = make(Header, 0, strings.Count(rest, "\n"))
	for rest != "" {
		line, rest = cutLine(rest)
		if line == "" {
			break
		}
		if continues(line) {
			return nil, fail(KindProtocol, "header begins with a continuation line")
		}
		name, value, ok := strings.Cut(line, ":")
		if continues(rest) {
			value, rest = unfold(value, rest)
		}
		// A CR or NUL within a value is for us to refuse or to replace (RFC 9110,
		// section 5.5): who reads the value next may take it for its end.
		if !ok || !isToken(name) || strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, 0) >= 0 {
			return nil, fail(KindProtocol, "header line %.64q, expected NAME: VALUE", line)
		}
		r.Header = append(r.Header, Field{name, trim(value)})
	}
	return r, nil
}

func parseStatusLine(line string) (proto string, status int, ok bool) {
	if len(line) < 12 || line[:7] != "HTTP/1." || line[7] < '0' || line[7] > '9' || line[8] != ' ' {
		return "", 0, false
	}
	for _, c := range []byte(line[9:12]) {
		if c < '0' || c > '9' {
			return "", 0, false
		}
		status = status*10 + int(c-'0')
	}
	if len(line) > 12 && line[12] != ' ' || status < 100 {
		return "", 0, false
	}
	return line[:8], status, true
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

// isName compares names of fields, which have no case.
func isName(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// isToken says whether s is a token.
func isToken(s string) bool {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

// tokenByte is the bytes of a token (RFC 9110, section 5.6.2). Those above 0x7f are
// none.
var tokenByte = func() (is [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		is[c] = strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) < 0
	}
	return is
}()

package weburl

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// parse is the basic URL parser, https://url.spec.whatwg.org/#url-parsing, without its state
// override (which serves setters, and a URL has none).
//
// The standard's states are methods here. Each takes its part from the front of p.in and appends
// it, serialised, to p.out; because components are parsed in the order in which they are written,
// one pass and one buffer are enough.
//
// The encoding of the document matters for queries.
func parse(raw string, base URL, encoding string) (URL, error) {
	if len(raw) > MaxLength {
		return URL{}, newError(raw, ErrTooLong)
	}
	var buf [256]byte
	p := parser{in: clean(raw), base: base, out: buf[:0], encoding: encoding}
	err := p.parse()
	if err == nil && len(p.out) > MaxLength {
		err = ErrTooLong
	}
	if err != nil {
		return URL{}, newError(raw, err)
	}
	p.url.href = string(p.out)
	return p.url, nil
}

type parser struct {
	in      string // the rest of the input
	base    URL    // zero if there is none
	out     []byte // the href so far
	url     URL    // the offsets so far
	special bool   // the scheme is special
	file    bool   // the scheme is file

	encoding string // of the document, "" for UTF-8
}

// clean removes what the parser ignores: surrounding white space and control characters, tabs and
// newlines anywhere. Invalid UTF-8 becomes U+FFFD.
func clean(raw string) string {
	s := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.Map(func(r rune) rune {
			if r == '\t' || r == '\n' || r == '\r' {
				return -1
			}
			return r
		}, s)
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return s
}

// parse is the scheme start, scheme and no scheme states.
func (p *parser) parse() error {
	if scheme, rest, ok := cutScheme(p.in); ok {
		p.in = rest
		p.setScheme(strings.ToLower(scheme))
		return p.afterScheme()
	}
	if p.base.IsZero() {
		return ErrRelative
	}
	if p.base.opaque() {
		if !strings.HasPrefix(p.in, "#") {
			return ErrRelative
		}
		p.setScheme(p.base.Scheme())
		p.noHost()
		p.out = append(p.out, p.base.Path()...)
		p.keepQuery()
		p.queryAndFragment()
		return nil
	}
	p.setScheme(p.base.Scheme())
	if p.file {
		return p.fileState()
	}
	return p.relative()
}

// cutScheme cuts s after its scheme and colon.
func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case isAlpha(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return s[:i], s[i+1:], true
		default:
			return "", s, false
		}
	}
	return "", s, false
}

func (p *parser) setScheme(scheme string) {
	p.special = special(scheme)
	p.file = scheme == "file"
	p.out = append(append(p.out, scheme...), ':')
	p.url.schemeEnd = uint32(len(scheme))
}

// afterScheme decides what follows the colon.
func (p *parser) afterScheme() error {
	switch {
	case p.file:
		return p.fileState()
	case p.special:
		if p.baseHasScheme() && !strings.HasPrefix(p.in, "//") {
			return p.relative() // special relative or authority state
		}
		return p.specialAuthority()
	case strings.HasPrefix(p.in, "//"): // path or authority state
		p.in = p.in[2:]
		return p.authority()
	case strings.HasPrefix(p.in, "/"):
		p.noHost()
		p.pathStart()
		return nil
	}
	p.noHost()
	p.opaquePath()
	return nil
}

// baseHasScheme reports whether the base has the scheme just read.
func (p *parser) baseHasScheme() bool {
	return p.base.Scheme() == string(p.out[:p.url.schemeEnd])
}

// relative is the relative and relative slash states. The scheme is the base's.
func (p *parser) relative() error {
	if !p.startsWithSlash() {
		p.keepOrigin()
		p.relativePath()
		return nil
	}
	switch second := p.in[1:]; {
	case p.special && second != "" && (second[0] == '/' || second[0] == '\\'):
		return p.specialAuthority()
	case strings.HasPrefix(second, "/"):
		p.in = second[1:]
		return p.authority()
	}
	p.keepOrigin()
	p.pathStart()
	return nil
}

// keepOrigin copies everything before the path from the base, whose scheme has already been
// written.
func (p *parser) keepOrigin() {
	p.url = p.base
	p.out = append(p.out[:0], p.base.href[:p.base.originEnd()]...)
	p.url.pathAt = uint32(len(p.out))
}

// relativePath continues from the base's path.
func (p *parser) relativePath() {
	p.out = append(p.out, p.base.Path()...)
	switch {
	case p.in == "" || p.in[0] == '#':
		p.keepQuery()
	case p.in[0] != '?':
		p.shorten()
		p.path()
	}
	p.queryAndFragment()
}

// keepQuery prepends the base's query to the rest of the input. It will be encoded a second time,
// which changes nothing: '%' is in no set.
func (p *parser) keepQuery() {
	p.in = p.base.href[p.base.queryAt:p.base.fragmentAt] + p.in
}

// specialAuthority implements the special authority (ignore) slashes states: any number of
// slashes, in either direction, may precede the host.
func (p *parser) specialAuthority() error {
	p.in = strings.TrimLeft(p.in, `/\`)
	return p.authority()
}

// authority is the authority, host and port states.
func (p *parser) authority() error {
	end := p.indexAny("/?#")
	text := p.in[:end]
	p.in = p.in[end:]
	p.openHost()
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		user, password, _ := strings.Cut(text[:at], ":")
		text = text[at+1:]
		if text == "" {
			return ErrNoHost
		}
		p.credentials(user, password)
	}
	host, port, hasPort := cutPort(text)
	if host == "" && (p.special || hasPort) {
		return ErrNoHost
	}
	if err := p.host(host); err != nil {
		return err
	}
	if err := p.port(port); err != nil {
		return err
	}
	p.pathStart()
	return nil
}

// openHost writes the "//" before credentials and host.
func (p *parser) openHost() {
	p.out = append(p.out, "//"...)
	p.url.userEnd = uint32(len(p.out))
	p.url.hostAt = p.url.userEnd
}

// noHost marks the host as absent; the path comes next.
func (p *parser) noHost() {
	n := uint32(len(p.out))
	p.url.userEnd, p.url.hostAt, p.url.hostEnd, p.url.pathAt = n, n, n, n
}

func (p *parser) credentials(user, password string) {
	if user == "" && password == "" {
		return
	}
	p.out = appendEncoded(p.out, user, userinfoSet)
	p.url.userEnd = uint32(len(p.out))
	if password != "" {
		p.out = appendEncoded(append(p.out, ':'), password, userinfoSet)
	}
	p.out = append(p.out, '@')
	p.url.hostAt = uint32(len(p.out))
}

// cutPort cuts s at its first colon outside of brackets.
func cutPort(s string) (host, port string, found bool) {
	inBrackets := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			inBrackets = true
		case ']':
			inBrackets = false
		case ':':
			if !inBrackets {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

// host writes the host; host.go parses it.
func (p *parser) host(host string) (err error) {
	if p.special {
		p.out, err = appendHost(p.out, host)
	} else {
		p.out, err = appendOpaqueHost(p.out, host)
	}
	if p.file && string(p.out[p.url.hostAt:]) == "localhost" {
		p.out = p.out[:p.url.hostAt] // file host state
	}
	p.url.hostEnd = uint32(len(p.out))
	p.url.pathAt = p.url.hostEnd
	return err
}

func (p *parser) port(port string) error {
	if port == "" {
		return nil
	}
	n := 0
	for i := range len(port) {
		if !isDigit(port[i]) {
			return ErrPort
		}
		if n = n*10 + int(port[i]-'0'); n > 65535 {
			return ErrPort
		}
	}
	if n != 0 && n == defaultPort(string(p.out[:p.url.schemeEnd])) {
		return nil
	}
	p.out = appendDecimal(append(p.out, ':'), n)
	p.url.pathAt = uint32(len(p.out))
	return nil
}

// fileState is the file and file slash states.
func (p *parser) fileState() error {
	base := p.base
	if base.Scheme() != "file" {
		base = URL{}
	}
	switch {
	case p.startsWithSlash():
		p.in = p.in[1:]
		if p.startsWithSlash() {
			p.in = p.in[1:]
			return p.fileHost()
		}
		p.openHost()
		p.out = append(p.out, base.Hostname()...)
		p.closeHost()
		if drive := firstSegment(base.Path()); isDrive(drive, ":") && !startsWithDrive(p.in) {
			p.out = append(append(p.out, '/'), drive...)
		}
	case !base.IsZero():
		p.keepOrigin()
		if !startsWithDrive(p.in) {
			p.relativePath()
			return nil
		}
	default:
		p.openHost()
		p.closeHost()
	}
	p.path()
	p.queryAndFragment()
	return nil
}

// fileHost is the file host state. A drive letter is a path, not a host.
func (p *parser) fileHost() error {
	p.openHost()
	end := p.indexAny("/?#")
	host := p.in[:end]
	if isDrive(host, ":|") {
		p.closeHost()
		p.path()
		p.queryAndFragment()
		return nil
	}
	p.in = p.in[end:]
	p.closeHost()
	if host != "" {
		if err := p.host(host); err != nil {
			return err
		}
	}
	p.pathStart()
	return nil
}

// closeHost ends a host that was copied or is empty.
func (p *parser) closeHost() {
	p.url.hostEnd = uint32(len(p.out))
	p.url.pathAt = p.url.hostEnd
}

// pathStart is the path start state and all that follows it. Only the path of a special URL is
// never empty.
func (p *parser) pathStart() {
	if p.startsWithSlash() {
		p.in = p.in[1:]
		p.path()
	} else if p.special || p.in != "" && p.in[0] != '?' && p.in[0] != '#' {
		p.path()
	}
	p.queryAndFragment()
}

// path is the path state: it parses segments, after the first slash, and removes dot segments on
// the way.
func (p *parser) path() {
	for {
		end := p.indexAny("/?#")
		segment := p.in[:end]
		p.in = p.in[end:]
		more := p.startsWithSlash()
		switch {
		case isDoubleDot(segment):
			p.shorten()
			if !more {
				p.out = append(p.out, '/')
			}
		case isSingleDot(segment):
			if !more {
				p.out = append(p.out, '/')
			}
		case p.file && len(p.out) == int(p.url.pathAt) && isDrive(segment, ":|"):
			p.out = append(p.out, '/', segment[0], ':')
		default:
			p.out = appendEncoded(append(p.out, '/'), segment, pathSet)
		}
		if !more {
			return
		}
		p.in = p.in[1:]
	}
}

// shorten drops the last segment of the path, unless it is a drive letter.
func (p *parser) shorten() {
	path := p.out[p.url.pathAt:]
	if len(path) == 0 || p.file && len(path) == len("/C:") && isDrive(string(path[1:]), ":") {
		return
	}
	p.out = p.out[:int(p.url.pathAt)+bytes.LastIndexByte(path, '/')]
}

// opaquePath is the opaque path state. It encodes a space before '?' or '#', which would be
// trimmed if query and fragment were removed.
func (p *parser) opaquePath() {
	end := strings.IndexAny(p.in, "?#")
	if end < 0 {
		end = len(p.in)
	}
	p.out = appendEncoded(p.out, p.in[:end], controlSet)
	p.in = p.in[end:]
	if last := len(p.out) - 1; p.in != "" && p.out[last] == ' ' {
		p.out = append(p.out[:last], "%20"...)
	}
	p.queryAndFragment()
}

// queryAndFragment closes the path and is the query and fragment states.
func (p *parser) queryAndFragment() {
	at := p.url.pathAt
	if !p.url.hasHost() && bytes.HasPrefix(p.out[at:], []byte("//")) {
		p.out = append(p.out, "/."...)
		copy(p.out[at+2:], p.out[at:])
		copy(p.out[at:], "/.")
		p.url.pathAt += 2
	}
	p.url.queryAt = uint32(len(p.out))
	query, fragment, hasFragment := strings.Cut(p.in, "#")
	if query != "" { // a query begins with '?'
		p.query(query)
	}
	p.url.fragmentAt = uint32(len(p.out))
	if hasFragment {
		p.out = appendEncoded(append(p.out, '#'), fragment, fragmentSet)
	}
	p.in = ""
}

// startsWithSlash reports whether a path separator comes next.
func (p *parser) startsWithSlash() bool {
	return p.in != "" && (p.in[0] == '/' || p.special && p.in[0] == '\\')
}

// indexAny returns the end of the part that any of stops ends; in a special URL '\' ends it too.
func (p *parser) indexAny(stops string) int {
	for i := range len(p.in) {
		if c := p.in[i]; strings.IndexByte(stops, c) >= 0 || p.special && c == '\\' {
			return i
		}
	}
	return len(p.in)
}

func isSingleDot(s string) bool { return s == "." || strings.EqualFold(s, "%2e") }

func isDoubleDot(s string) bool {
	switch len(s) {
	case 2:
		return s == ".."
	case 4:
		return strings.EqualFold(s, ".%2e") || strings.EqualFold(s, "%2e.")
	case 6:
		return strings.EqualFold(s, "%2e%2e")
	}
	return false
}

// isDrive reports whether s is a Windows drive letter followed by one of the marks (":" for a
// normalised one).
func isDrive(s, marks string) bool {
	return len(s) == 2 && isAlpha(s[0]) && strings.IndexByte(marks, s[1]) >= 0
}

// startsWithDrive reports whether s starts with a Windows drive letter.
func startsWithDrive(s string) bool {
	return len(s) >= 2 && isDrive(s[:2], ":|") && (len(s) == 2 || strings.IndexByte(`/\?#`, s[2]) >= 0)
}

// firstSegment returns the first segment of a path.
func firstSegment(path string) string {
	segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return segment
}

// Resolve parses ref as a link on the page b. Its error is an *Error. For all links of a page a
// [Resolver] is faster.
func (b URL) Resolve(ref string) (URL, error) {
	var buf [256]byte
	var u URL
	base := basePageOf(b)
	if href, ok := appendPlain(buf[:0], &u, &base, ref); ok {
		u.href = string(href)
		return u, nil
	}
	return parse(ref, b, "")
}

// Parse parses an absolute URL. Its error is an *Error.
func Parse(raw string) (URL, error) { return URL{}.Resolve(raw) }

package css

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/near"
	"golang.org/x/net/html/atom"
)

// Error is a fault in a selector: its place, the text there, and the expected one.
type Error struct {
	Column   int    // of the character, from 1
	Found    string // the text that stands there; "": the end
	Expected string
}

func (e *Error) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("column %d: the end, expected %s", e.Column, e.Expected)
	}
	return fmt.Sprintf("column %d: %.32q, expected %s", e.Column, e.Found, e.Expected)
}

// mostNested is the deepest nesting of :not( and the like.
const mostNested = 32

// Parse reads a selector. Its error is an *Error.
func Parse(text string) (*Selector, error) {
	p := parser{text: text}
	s, err := p.list(true, false)
	if err == nil && p.at < len(text) {
		err = p.expected("a comma, a combinator or the end")
	}
	if err != nil {
		return nil, err
	}
	s.text = text
	return s, nil
}

// parser reads a selector from the left to the right.
type parser struct {
	text  string
	at    int // byte
	depth int
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) skip(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// space skips white space, and reports whether there was any.
func (p *parser) space() bool {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte(whiteSpace, p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at > from
}

func (p *parser) expected(what string) error { return p.wrong(p.at, what) }

// wrong reports what stands at a byte.
func (p *parser) wrong(at int, what string) error {
	return &Error{1 + utf8.RuneCountInString(p.text[:at]), p.text[at:], what}
}

// list reads alternatives, up to a closing parenthesis or the end. With takes, they may say what is
// taken of an element; with relative, combinators may come first without a scope of their own.
func (p *parser) list(takes, relative bool) (*Selector, error) {
	if p.depth++; p.depth > mostNested {
		return nil, p.expected(fmt.Sprintf("selectors nested at most %d times", mostNested))
	}
	defer func() { p.depth-- }()
	s := &Selector{}
	for {
		c, err := p.complex(takes, relative)
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, c)
		if !p.skip(',') {
			return s, nil
		}
	}
}

// complex reads one alternative. With relative, one without a leading combinator stands somewhere
// below the scope.
func (p *parser) complex(takes, relative bool) (c complex, err error) {
	add := func(combinator byte, k compound) {
		if len(c.compounds) > 0 {
			c.combinators = append(c.combinators, combinator)
		}
		c.compounds = append(c.compounds, k)
	}
	p.space()
	combinator := byte(0)
	if strings.IndexByte(">+~", p.peek()) >= 0 && p.peek() != 0 {
		combinator = p.peek()
		p.at++
		p.space()
	} else if relative {
		combinator = ' '
	}
	if combinator != 0 {
		add(0, compound{tests: []test{scope{}}})
	}
	for {
		if strings.HasPrefix(p.text[p.at:], "::") && combinator == ' ' && len(c.compounds) > 0 {
			// It is "p ::text".
			add(within, compound{tests: []test{element{}}})
		} else {
			k, err := p.compound()
			if err != nil {
				return c, err
			}
			add(combinator, k)
		}
		if strings.HasPrefix(p.text[p.at:], "::") {
			if c.take, err = p.take(takes); err != nil {
				return c, err
			}
			p.space()
			break
		}
		if combinator = p.combinator(); combinator == 0 {
			break
		}
	}
	slices.Reverse(c.compounds)
	slices.Reverse(c.combinators)
	return c, nil
}

// combinator reads what leads to the next compound; 0: none follows.
func (p *parser) combinator() byte {
	spaced := p.space()
	switch c := p.peek(); {
	case c == 0, c == ',', c == ')':
		return 0
	case c == '>', c == '+', c == '~':
		p.at++
		p.space()
		return c
	case spaced:
		return ' '
	}
	return 0
}

// compound reads what one element must be.
func (p *parser) compound() (k compound, err error) {
	k.tests = []test{element{}}
	from := p.at
	if !p.skip('*') && p.startsName() {
		name, err := p.name("an element")
		if err != nil {
			return k, err
		}
		k.tag = strings.ToLower(name)
		k.atom = atom.Lookup([]byte(k.tag))
		k.tests = nil
	}
	for {
		var t test
		switch p.peek() {
		case '#':
			p.at++
			var name string
			name, err = p.name("an id")
			t = hasID(name)
		case '.':
			p.at++
			var name string
			name, err = p.name("a class")
			t = hasClass(name)
		case '[':
			t, err = p.attribute()
		case ':':
			if strings.HasPrefix(p.text[p.at:], "::") {
				break
			}
			t, err = p.pseudo()
		}
		if err != nil {
			return k, err
		}
		if t == nil {
			break
		}
		k.tests = append(k.tests, t)
	}
	if p.at == from {
		if strings.HasPrefix(p.text[p.at:], "::") {
			return k, nil // any element
		}
		return k, p.expected("an element, .class, #id, [attribute] or :pseudo-class")
	}
	return k, nil
}

// take reads ::text or ::attr(name).
func (p *parser) take(allowed bool) (Take, error) {
	from := p.at
	p.at += len("::")
	if !allowed {
		return Take{}, p.wrong(from, "::text and ::attr at the end only")
	}
	name, err := p.name("::text or ::attr(name)")
	if err != nil {
		return Take{}, err
	}
	switch name {
	case "text":
		return Take{What: TakeText}, nil
	case "attr":
		if !p.skip('(') {
			return Take{}, p.expected("(name) of an attribute, as in ::attr(href)")
		}
		p.space()
		name, err := p.value("the name of an attribute")
		if err != nil {
			return Take{}, err
		}
		p.space()
		if !p.skip(')') {
			return Take{}, p.expected("a closing )")
		}
		return Take{TakeAttr, strings.ToLower(name)}, nil
	}
	return Take{}, p.wrong(from, "::text or ::attr(name)")
}

// attribute reads [name], or [name op value flag].
func (p *parser) attribute() (test, error) {
	p.at++
	p.space()
	name, err := p.name("the name of an attribute")
	if err != nil {
		return nil, err
	}
	t := hasAttr{name: strings.ToLower(name)}
	p.space()
	if p.skip(']') {
		return t, nil
	}
	for _, op := range []string{"=", "~=", "|=", "^=", "$=", "*=", "!="} {
		if strings.HasPrefix(p.text[p.at:], op) {
			t.op = op
			p.at += len(op)
			break
		}
	}
	if t.op == "" {
		return nil, p.expected("] or one of = ~= |= ^= $= *= !=")
	}
	p.space()
	if t.value, err = p.value("a value"); err != nil {
		return nil, err
	}
	p.space()
	t.foldHTML = foldedInHTML[t.name]
	if c := p.peek() | 0x20; c == 'i' || c == 's' {
		t.fold, t.foldHTML = c == 'i', false
		p.at++
		p.space()
	}
	if !p.skip(']') {
		return nil, p.expected("a closing ]")
	}
	return t, nil
}

// simple are the pseudo-classes without an argument.
var simple = map[string]test{
	"first-child": nth{b: 1}, "last-child": nth{b: 1, last: true}, "only-child": both{nth{b: 1}, nth{b: 1, last: true}},
	"first-of-type": nth{b: 1, ofType: true}, "last-of-type": nth{b: 1, last: true, ofType: true},
	"only-of-type": both{nth{b: 1, ofType: true}, nth{b: 1, last: true, ofType: true}},
	"empty":        empty{}, "root": root{}, "scope": scope{},
	"link": both{is{of: &Selector{all: []complex{{compounds: []compound{{tag: "a", atom: atom.A}}}, {compounds: []compound{{tag: "area", atom: atom.Area}}}}}}, hasAttr{name: "href"}},
}

// withArgument are the others.
var withArgument = []string{"is", "where", "not", "has", "contains", "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"}

// pseudo reads a pseudo-class.
func (p *parser) pseudo() (test, error) {
	from := p.at
	p.at++
	name, err := p.name("a pseudo-class, such as :first-child")
	if err != nil {
		return nil, err
	}
	name = strings.ToLower(name)
	if t, ok := simple[name]; ok {
		return t, nil
	}
	if !slices.Contains(withArgument, name) {
		return nil, p.unknown(from, name)
	}
	if !p.skip('(') {
		return nil, p.expected("( and an argument of :" + name)
	}
	p.space()
	t, err := p.argument(name)
	if err != nil {
		return nil, err
	}
	p.space()
	if !p.skip(')') {
		return nil, p.expected("a closing )")
	}
	return t, nil
}

// unknown reports a pseudo-class that there is not, or that only a browser can answer.
func (p *parser) unknown(from int, name string) error {
	all := slices.Clone(withArgument)
	for name := range simple {
		all = append(all, name)
	}
	slices.Sort(all)
	if meant := near.Word(name, all); meant != "" {
		return p.wrong(from, "a pseudo-class: did you mean :"+meant+"?")
	}
	return p.wrong(from, "one of :"+strings.Join(all, " :"))
}

// argument reads what stands between the parentheses of a pseudo-class.
func (p *parser) argument(name string) (test, error) {
	switch name {
	case "is", "where", "not":
		of, err := p.list(false, false)
		return is{of, name == "not"}, err
	case "has":
		of, err := p.list(false, true)
		return has{of}, err
	case "contains":
		text, err := p.value("a text in quotes")
		return contains(text), err
	}
	t := nth{last: strings.Contains(name, "last"), ofType: strings.HasSuffix(name, "type")}
	if err := p.formula(&t); err != nil {
		return nil, err
	}
	if p.space(); !t.ofType && strings.HasPrefix(p.text[p.at:], "of ") {
		p.at += len("of ")
		of, err := p.list(false, false)
		if err != nil {
			return nil, err
		}
		t.of = of
	}
	return t, nil
}

// formula reads odd, even, b, an, an+b.
func (p *parser) formula(t *nth) error {
	const expected = "odd, even, a number, or a formula such as 2n+1"
	from := p.at
	for p.at < len(p.text) && (strings.IndexByte("+-nN0123456789", p.text[p.at]) >= 0 || p.startsName()) && !strings.HasPrefix(p.text[p.at:], "of ") {
		p.at++
		if rest := strings.TrimLeft(p.text[p.at:], whiteSpace); rest != "" && (rest[0] == '+' || rest[0] == '-') {
			p.at = len(p.text) - len(rest)
		} else if last := p.text[p.at-1]; last == '+' || last == '-' {
			p.space()
		}
	}
	words := strings.ToLower(strings.Join(strings.Fields(p.text[from:p.at]), ""))
	switch words {
	case "odd":
		t.a, t.b = 2, 1
		return nil
	case "even":
		t.a = 2
		return nil
	}
	a, b, is := strings.Cut(words, "n")
	if !is {
		a, b = "0", words
	}
	switch a {
	case "", "+":
		a = "1"
	case "-":
		a = "-1"
	}
	if is && b == "" {
		b = "0"
	}
	var errA, errB error
	t.a, errA = strconv.Atoi(a)
	t.b, errB = strconv.Atoi(b)
	const most = 1 << 30
	if errA != nil || errB != nil || max(t.a, -t.a, t.b, -t.b) > most {
		return p.wrong(from, expected)
	}
	return nil
}

// startsName reports whether a name begins here.
func (p *parser) startsName() bool {
	c := p.peek()
	if c == '-' && p.at+1 < len(p.text) {
		c = p.text[p.at+1]
		return c == '-' || c == '\\' || inName(c) && (c < '0' || c > '9')
	}
	return c == '\\' && p.at+1 < len(p.text) || inName(c) && c != '-' && (c < '0' || c > '9')
}

// inName reports whether a byte may stand in a name.
func inName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c >= utf8.RuneSelf
}

// name reads a name, with its escapes.
func (p *parser) name(what string) (string, error) {
	if !p.startsName() {
		return "", p.expected(what)
	}
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case inName(c):
			b.WriteByte(c)
			p.at++
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteRune(p.escape())
		default:
			return b.String(), nil
		}
	}
	return b.String(), nil
}

// escape reads what follows a backslash: up to six hexadecimal digits, or any character.
func (p *parser) escape() rune {
	n := 0
	for n < 6 && p.at+n < len(p.text) && strings.IndexByte("0123456789abcdefABCDEF", p.text[p.at+n]) >= 0 {
		n++
	}
	if n == 0 {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
		return r
	}
	code, _ := strconv.ParseUint(p.text[p.at:p.at+n], 16, 32)
	p.at += n
	if p.at < len(p.text) && strings.IndexByte(whiteSpace, p.text[p.at]) >= 0 {
		p.at++
	}
	if r := rune(code); r != 0 && utf8.ValidRune(r) {
		return r
	}
	return utf8.RuneError
}

// value reads a text in quotes, or a name; digits, too, which people leave without quotes.
func (p *parser) value(what string) (string, error) {
	quote := p.peek()
	if quote != '"' && quote != '\'' {
		if c := p.peek(); c >= '0' && c <= '9' {
			from := p.at
			for p.at < len(p.text) && inName(p.text[p.at]) {
				p.at++
			}
			return p.text[from:p.at], nil
		}
		return p.name(what)
	}
	from := p.at
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteRune(p.escape())
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return "", p.wrong(from, "a closing "+string(quote))
}

package extract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/css"
	"github.com/weftcrawl/weft/internal/near"
	"github.com/weftcrawl/weft/internal/pattern"
)

// readXPath returns an expression of XPath 1.0 as package xpath understands it, or a *css.Error.
// The package leaves out some of what it does not understand, and of the rest does not say where it
// stands. https://www.w3.org/TR/1999/REC-xpath-19991116/#exprlex
func readXPath(text string) (read string, cost int, err error) {
	g := &grammar{text: text}
	if err := g.expression(); err != nil {
		return "", 0, err
	}
	if g.at < len(text) {
		return "", 0, g.expected("an operator such as | or =, or the end")
	}
	return g.out.String() + text[g.written:], g.cost, nil
}

// functions are those of package xpath, and how many arguments they take at least and at most.
// Three of XPath 2.0 that it has, too, have no bound: it keeps each pattern of matches and replace,
// and a string-join may be the product of two texts of a page.
var functions = map[string][2]int{
	"boolean": {1, 1}, "ceiling": {1, 1}, "concat": {2, 100}, "contains": {2, 2}, "count": {1, 1}, "ends-with": {2, 2}, "false": {0, 0}, "floor": {1, 1},
	"last": {0, 0}, "local-name": {0, 1}, "lower-case": {1, 1}, "name": {0, 1}, "normalize-space": {0, 1}, "not": {1, 1}, "number": {0, 1}, "position": {0, 0},
	"reverse": {1, 1}, "round": {1, 1}, "starts-with": {2, 2}, "string": {0, 1}, "string-length": {0, 1}, "substring": {2, 3}, "substring-after": {2, 2},
	"substring-before": {2, 2}, "sum": {1, 1}, "translate": {3, 3}, "true": {0, 0},
}

var axes = []string{
	"ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self", "following", "following-sibling",
	"parent", "preceding", "preceding-sibling", "self",
}

const (
	aValue = "a path, a text, a number or a function"
	aStep  = "an element, @attribute, text(), *, . or .."
)

// grammar reads an expression from the left to the right.
type grammar struct {
	text    string
	at      int // byte
	out     strings.Builder
	written int // bytes of text that out has
	cost    int // of its patterns: see pattern.Cost
}

// replace writes other words for what stands between two bytes.
func (g *grammar) replace(from, to int, words string) {
	g.out.WriteString(g.text[g.written:from] + words)
	g.written = to
}

// expected says what should stand where the reader is.
func (g *grammar) expected(what string) error { return g.wrong(g.at, what) }

func (g *grammar) wrong(at int, what string) error {
	return &css.Error{Column: 1 + utf8.RuneCountInString(g.text[:at]), Found: g.text[at:], Expected: what}
}

// rest is the text still to be parsed, without white space in front.
func (g *grammar) rest() string {
	rest := strings.TrimLeft(g.text[g.at:], whiteSpace)
	g.at = len(g.text) - len(rest)
	return rest
}

// skip skips a sign, if it comes next.
func (g *grammar) skip(sign string) bool {
	is := strings.HasPrefix(g.rest(), sign)
	if is {
		g.at += len(sign)
	}
	return is
}

// name reads a name; "" if there is none.
func (g *grammar) name() string {
	rest := g.rest()
	n := strings.IndexFunc(rest, func(r rune) bool {
		return r < utf8.RuneSelf && r != '_' && r != '-' && r != '.' && !isLetter(r) && !isDigit(r)
	})
	if n < 0 {
		n = len(rest)
	}
	if n > 0 && (rest[0] == '-' || rest[0] == '.' || isDigit(rune(rest[0]))) {
		n = 0
	}
	g.at += n
	return rest[:n]
}

func isLetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }

// expression reads operands with operators between them. Which binds closer does not matter here.
func (g *grammar) expression() error {
	for {
		for g.skip("-") {
		}
		if err := g.operand(); err != nil || !g.operator() {
			return err
		}
	}
}

// operator skips an operator, if one comes next.
func (g *grammar) operator() bool {
	for _, sign := range []string{"!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "|"} {
		if g.skip(sign) {
			return true
		}
	}
	from := g.at
	switch g.name() {
	case "or", "and", "div", "mod":
		return true
	}
	g.at = from
	return false
}

// operand reads a path, or a value and perhaps a path from there.
func (g *grammar) operand() error {
	rest := g.rest()
	switch {
	case rest == "":
		return g.expected(aValue)
	case rest[0] == '"' || rest[0] == '\'':
		return g.literal()
	case isDigit(rune(rest[0])) || rest[0] == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
		g.at += len(rest) - len(strings.TrimLeft(rest, ".0123456789"))
		return nil
	case rest[0] == '$':
		return g.expected("no variable: there are none")
	case rest[0] == '/':
		return g.path(true)
	case rest[0] == '(':
		g.at++
		if err := g.expression(); err != nil {
			return err
		}
		if err := g.closing(")", "an operator or )"); err != nil {
			return err
		}
	default:
		if is, err := g.call(); err != nil {
			return err
		} else if !is {
			if err := g.step(aValue); err != nil {
				return err
			}
		}
	}
	if err := g.predicates(); err != nil {
		return err
	}
	return g.path(false)
}

func (g *grammar) closing(sign, expected string) error {
	if !g.skip(sign) {
		return g.expected(expected)
	}
	return nil
}

func (g *grammar) literal() error {
	from, quote := g.at, g.text[g.at:g.at+1]
	end := strings.Index(g.text[from+1:], quote)
	if end < 0 {
		return g.wrong(from, quote+" behind it")
	}
	g.at += end + 2
	return nil
}

// path reads steps, each behind a slash or two. The root of the page needs none.
func (g *grammar) path(root bool) error {
	for ; g.skip("/"); root = false {
		double := strings.HasPrefix(g.text[g.at:], "/")
		if double {
			g.at++
		}
		if rest := g.rest(); root && !double && (rest == "" || strings.IndexByte("|=!<>+-),]", rest[0]) >= 0) {
			return nil
		}
		if err := g.step(aStep); err != nil {
			return err
		}
		if err := g.predicates(); err != nil {
			return err
		}
	}
	return nil
}

// predicates reads conditions in brackets.
func (g *grammar) predicates() error {
	for g.skip("[") {
		if err := g.expression(); err != nil {
			return err
		}
		if err := g.closing("]", "an operator or ]"); err != nil {
			return err
		}
	}
	return nil
}

// step reads one step of a path.
func (g *grammar) step(expected string) error {
	if g.skip("..") || g.skip(".") {
		return nil
	}
	from := g.at
	if !g.skip("@") {
		name := g.name()
		switch {
		case !g.skip("::"):
			g.at = from
		case !slices.Contains(axes, name):
			return g.wrong(from, or("an axis of XPath 1.0", near.Word(name, axes), "::"))
		default:
			expected = "an element, *, text() or node()"
		}
	} else {
		expected = "the name of an attribute, or *"
	}
	if g.skip("*") {
		return nil
	}
	g.rest()
	from = g.at
	name := g.name()
	switch {
	case name == "":
		return g.expected(expected)
	case g.skip("("):
		if name != "text" && name != "node" && name != "comment" {
			return g.wrong(from, "text(), node() or comment() as a step: functions stand around a path, as in string(//h1)")
		}
		return g.closing(")", ")")
	case g.skip(":"):
		if slices.Contains(axes, name) {
			return g.wrong(from, name+":: with two colons")
		}
		if !g.skip("*") && g.name() == "" {
			return g.expected("a name behind its prefix, or *")
		}
	}
	return nil
}

// call reads a call of a function, if one comes next.
func (g *grammar) call() (is bool, err error) {
	g.rest()
	from := g.at
	name := g.name()
	if name != "" && strings.HasPrefix(g.text[g.at:], ":") && !strings.HasPrefix(g.text[g.at:], "::") {
		g.at++
		name += ":" + g.name()
	}
	if name == "" || !g.skip("(") || name == "text" || name == "node" || name == "comment" {
		g.at = from
		return false, nil
	}
	switch name {
	case "has-class":
		return true, g.hasClass(from)
	case "re:test":
		return true, g.test(from)
	}
	limits, known := functions[name]
	if !known {
		return true, g.wrong(from, instead(name))
	}
	n := 0
	for !g.skip(")") {
		if n > 0 && !g.skip(",") {
			return true, g.expected("an operator, a comma or )")
		}
		if err := g.expression(); err != nil {
			return true, err
		}
		n++
	}
	if n < limits[0] || n > limits[1] {
		return true, g.wrong(from, arguments(limits))
	}
	return true, nil
}

// instead says what stands in place of a function that there is not: those of EXSLT, as lxml and so
// Scrapy have them, go a longer way.
func instead(name string) string {
	switch name {
	case "re:match", "re:replace":
		return "the text alone, and match = 'PATTERN' in the rule of the field"
	case "set:difference":
		return "A[count(. | B) != count(B)] for set:difference(A, B)"
	case "set:intersection":
		return "A[count(. | B) = count(B)] for set:intersection(A, B)"
	case "set:has-same-node":
		return "count(A | B) < count(A) + count(B) for set:has-same-node(A, B)"
	}
	names := []string{"has-class", "re:test"}
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return or("a function of XPath 1.0, not id() or lang(), has-class() or re:test()", near.Word(name, names), "()")
}

// hasClass reads the classes of has-class(), a function of Scrapy: the element has all of them.
func (g *grammar) hasClass(from int) error {
	var tests []string
	for !g.skip(")") {
		if len(tests) > 0 && !g.skip(",") {
			return g.expected("a comma or )")
		}
		class, err := g.quoted("the name of a class in quotes")
		if err != nil {
			return err
		}
		name := strings.Trim(class[1:len(class)-1], whiteSpace)
		if name == "" || strings.ContainsAny(name, whiteSpace) {
			return g.wrong(g.at-len(class), "one class")
		}
		quote := class[:1]
		tests = append(tests, "contains(concat(' ', normalize-space(@class), ' '), "+quote+" "+name+" "+quote+")")
	}
	if tests == nil {
		return g.wrong(from, "a class: has-class('price')")
	}
	g.replace(from, g.at, "("+strings.Join(tests, " and ")+")")
	return nil
}

// test reads re:test() of EXSLT: a text, a pattern and perhaps flags. Package xpath has it as
// matches(). It keeps patterns, so none may come from a page, and together they must not be long.
// https://exslt.github.io/regexp/functions/test/
func (g *grammar) test(from int) error {
	g.replace(from, g.at, "matches(")
	if err := g.expression(); err != nil {
		return err
	}
	if err := g.closing(",", "a comma and a pattern in quotes"); err != nil {
		return err
	}
	text, err := g.quoted("a pattern in quotes")
	if err != nil {
		return err
	}
	at := g.at - len(text)
	flags := ""
	if g.skip(",") {
		if flags, err = g.quoted("flags in quotes: 'i' or ''"); err != nil {
			return err
		}
		if strings.Trim(flags, `"'gi`) != "" {
			return g.wrong(g.at-len(flags), "the flag 'i', or none")
		}
	}
	if err := g.closing(")", ")"); err != nil {
		return err
	}
	if g.cost += pattern.Cost(text[1 : len(text)-1]); g.cost > mostTested {
		return g.wrong(at, "shorter patterns, with what their repetitions stand for")
	}
	if _, err := regexp.Compile(text[1 : len(text)-1]); err != nil {
		return g.wrong(at, "a regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if strings.Contains(flags, "i") {
		text = text[:1] + "(?i)" + text[1:]
	}
	g.replace(at, g.at, text+")")
	return nil
}

// quoted reads a text, with its quotes.
func (g *grammar) quoted(expected string) (string, error) {
	rest := g.rest()
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", g.expected(expected)
	}
	err := g.literal()
	return rest[:len(rest)-len(g.text[g.at:])], err
}

// or adds the word that is probably meant.
func or(expected, meant, behind string) string {
	if meant == "" {
		return expected
	}
	return expected + ": did you mean " + meant + behind + "?"
}

func arguments(limits [2]int) string {
	least, most := limits[0], limits[1]
	switch {
	case most == 0:
		return "no argument"
	case most == 1 && least == 1:
		return "one argument"
	case most == 1:
		return "one argument or none"
	case least == most:
		return fmt.Sprintf("%d arguments", most)
	case most > 3:
		return fmt.Sprintf("%d arguments or more", least)
	}
	return fmt.Sprintf("%d or %d arguments", least, most)
}

package extract

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/pattern"
)

// Rule has the fields of one kind of pages. Each page that it is about becomes an item, or each of
// its elements that Each selects does.
type Rule struct {
	Name string `json:"name,omitempty"` // of the kind, such as "product"
	// URLs is an expression for those of its pages; with ^/ in front, for their paths; "": all.
	URLs   string  `json:"urls,omitempty"`
	Each   string  `json:"each,omitempty"` // selects an element for each item; "": the page is one
	Fields []Field `json:"fields"`
}

// Field is one value of an item, or a list of them.
type Field struct {
	Name   string `json:"name"`
	Select string `json:"select"`
	Type   Type   `json:"type,omitempty"` // "": text
	List   bool   `json:"list,omitempty"` // all that Select finds, not the first
	// Match is an expression for the part of the text that counts: its group, or all of it.
	Match    string `json:"match,omitempty"`
	Format   string `json:"format,omitempty"`   // of a date, in the words of strptime: %d.%m.%Y
	Default  string `json:"default,omitempty"`  // for a page without a value
	Required bool   `json:"required,omitempty"` // an item without it is reported
	// Fields make a record, for each element that Select finds.
	Fields []Field `json:"fields,omitempty"`
}

// Type is the type of a field's value.
type Type string

// Types.
const (
	Text   Type = "text"   // white space in one piece
	HTML   Type = "html"   // the element with its tags
	Number Type = "number" // as in "1,234.50 €"
	Date   Type = "date"   // ISO 8601: a day, or a time with its zone if it has one
	URL    Type = "url"    // absolute
)

// Types returns the types.
func Types() []Type { return []Type{Text, HTML, Number, Date, URL} }

// Of returns the rule of one kind without a name, for all pages, with fields as people type them:
// NAME=SELECTOR, NAME:TYPE=SELECTOR, and NAME[]=SELECTOR for a list.
func Of(fields ...string) (Rule, error) {
	var r Rule
	for _, text := range fields {
		f, err := ParseField(text)
		if err != nil {
			return r, err
		}
		r.Fields = append(r.Fields, f)
	}
	return r, nil
}

// ParseField reads one such field. Its error says where the selector is wrong.
func ParseField(text string) (f Field, err error) {
	name, selector, ok := strings.Cut(text, "=")
	if !ok {
		return f, fmt.Errorf("expected NAME=SELECTOR, such as price=.price")
	}
	name, f.List = strings.CutSuffix(name, "[]")
	name, kind, _ := strings.Cut(name, ":")
	f.Name, f.Type, f.Select = name, Type(kind), selector
	_, err = compileField(&f)
	return f, err
}

// String returns the rule in one line, as people type its parts.
func (r Rule) String() string {
	return r.Name + brief(r.Fields)
}

func brief(fields []Field) string {
	var all []string
	for _, f := range fields {
		s := f.Name
		if f.Type != "" && f.Type != Text {
			s += ":" + string(f.Type)
		}
		if f.List {
			s += "[]"
		}
		s += "=" + f.Select
		if len(f.Fields) > 0 {
			s += brief(f.Fields)
		}
		all = append(all, s)
	}
	return "{" + strings.Join(all, " ") + "}"
}

const (
	mostRules  = 100
	mostFields = 1000 // of all rules
	mostDepth  = 8    // of records in records

	mostPattern = 100_000 // cost of all expressions: see pattern.Cost
)

// RuleError is an error in one part of the rules.
type RuleError struct {
	Rule  string   // its name
	Field []string // with those around it; none: it is the rule
	Key   string   // "select", "match" and so on
	Err   error
}

func (e *RuleError) Error() string {
	where := strings.Join(e.Field, ".")
	if e.Rule != "" {
		where = strings.TrimSuffix(e.Rule+"."+where, ".")
	}
	if e.Key != "" && e.Key != "select" {
		where = strings.TrimPrefix(where+": "+e.Key, ": ")
	}
	if where == "" {
		return e.Err.Error()
	}
	return where + ": " + e.Err.Error()
}

func (e *RuleError) Unwrap() error { return e.Err }

// kind is a rule that is ready for pages.
type kind struct {
	name   string
	urls   *regexp.Regexp // nil: all
	ofPath bool           // urls is about the path
	each   *selector      // nil: the page
	fields []*field
}

// field is a field that is ready for pages.
type field struct {
	Field
	selector *selector
	match    *regexp.Regexp
	cost     int // of match, for each byte
	layout   string
	fields   []*field
}

// isName holds for the names of kinds and fields: they become columns of other tools.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'; !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

var errName = errors.New("expected a name of letters, digits, _ and -, not longer than 64")

// compile makes the rules ready. Its error is a *RuleError.
func compile(rules []Rule) (all []*kind, err error) {
	if len(rules) > mostRules {
		return nil, &RuleError{Err: fmt.Errorf("%d rules, expected at most %d", len(rules), mostRules)}
	}
	left := room{fields: mostFields, patterns: mostPattern}
	for _, r := range rules {
		k, err := compileRule(r, &left)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other *kind) bool { return other.name == k.name }) {
			return nil, &RuleError{Rule: r.Name, Err: errors.New("two rules of this name")}
		}
		all = append(all, k)
	}
	return all, nil
}

// room bounds the fields and expressions that are still to come.
type room struct {
	fields   int
	patterns pattern.Room
}

func compileRule(r Rule, left *room) (*kind, error) {
	fail := func(key string, err error) error { return &RuleError{Rule: r.Name, Key: key, Err: err} }
	k := &kind{name: r.Name, ofPath: strings.HasPrefix(r.URLs, "^/")}
	var err error
	switch {
	case r.Name != "" && !isName(r.Name):
		return nil, fail("", fmt.Errorf("%.64q: %w", r.Name, errName))
	case len(r.Fields) == 0:
		return nil, fail("", errors.New("no fields, expected at least one"))
	}
	if r.URLs != "" {
		if err := left.patterns.Take(r.URLs); err != nil {
			return nil, fail("urls", err)
		}
		if k.urls, err = regexp.Compile(r.URLs); err != nil {
			return nil, fail("urls", expression(r.URLs, err))
		}
	}
	if r.Each != "" {
		if k.each, err = parseSelector(r.Each); err != nil {
			return nil, fail("each", err)
		}
	}
	k.fields, err = compileFields(r.Fields, left, 1)
	var e *RuleError
	if errors.As(err, &e) {
		e.Rule = r.Name
	}
	return k, err
}

func compileFields(fields []Field, left *room, depth int) (all []*field, err error) {
	for i := range fields {
		f := &fields[i]
		if left.fields--; left.fields < 0 {
			return nil, &RuleError{Err: fmt.Errorf("expected at most %d fields", mostFields)}
		}
		if err := left.patterns.Take(f.Match); err != nil {
			return nil, &RuleError{Field: []string{f.Name}, Key: "match", Err: err}
		}
		c, err := compileField(f)
		if err == nil && len(f.Fields) > 0 {
			if depth == mostDepth {
				return nil, &RuleError{Field: []string{f.Name}, Err: fmt.Errorf("expected records at most %d deep", mostDepth)}
			}
			if c.fields, err = compileFields(f.Fields, left, depth+1); err != nil {
				var e *RuleError
				if errors.As(err, &e) {
					e.Field = append([]string{f.Name}, e.Field...)
				}
				return nil, err
			}
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other *field) bool { return other.Name == f.Name }) {
			return nil, &RuleError{Field: []string{f.Name}, Err: errors.New("two fields of this name")}
		}
		all = append(all, c)
	}
	return all, nil
}

// compileField makes a field ready, but for the fields of its record.
func compileField(f *Field) (*field, error) {
	c := &field{Field: *f}
	c.Type = cmp.Or(f.Type, Text)
	fail := func(key string, err error) error {
		return &RuleError{Field: []string{f.Name}, Key: key, Err: err}
	}
	var err error
	switch {
	case !isName(f.Name):
		return nil, &RuleError{Err: fmt.Errorf("%.64q: %w", f.Name, errName)}
	case !slices.Contains(Types(), c.Type):
		return nil, fail("type", fmt.Errorf("%.32q, expected one of %s", string(f.Type), words(Types())))
	case f.Format != "" && c.Type != Date:
		return nil, fail("format", errors.New(`expected together with type = "date"`))
	case len(f.Fields) > 0 && (f.Type != "" || f.Match != "" || f.Default != ""):
		return nil, fail("", errors.New("a record has no type, match or default of its own"))
	}
	if c.selector, err = parseSelector(f.Select); err != nil {
		return nil, fail("select", err)
	}
	if f.Match != "" {
		if c.match, err = regexp.Compile(f.Match); err != nil {
			return nil, fail("match", expression(f.Match, err))
		}
		c.cost = pattern.Cost(f.Match)
		if n := c.match.NumSubexp(); n > 1 {
			return nil, fail("match", fmt.Errorf("%.64q: %d groups, expected at most one: (?:…) groups without counting", f.Match, n))
		}
	}
	if c.layout, err = layoutOf(f.Format); err != nil {
		return nil, fail("format", err)
	}
	return c, nil
}

func words(types []Type) string {
	var all []string
	for _, t := range types {
		all = append(all, string(t))
	}
	return strings.Join(all, ", ")
}

// expression says what is wrong with a regular expression.
func expression(text string, err error) error {
	what := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	return fmt.Errorf("%.64q: %s, expected a regular expression", text, what)
}

// Package where selects records by a condition that a person types, such as
//
//	status >= 400 && host == "example.org"
//
// The fields are those of the record by their JSON names, and host: the host name of its URL. A
// field that a record lacks has its zero value. The language is that of
// [github.com/expr-lang/expr]; it has no side effects, and its loops and lists are bounded. The
// texts that it puts together are not: a condition is as trusted as who types it.
package where

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
	"github.com/weftcrawl/weft/internal/near"
)

// longest bounds a condition, in bytes.
const longest = 10_000

// Filter is a compiled condition on records of type T, a struct; nil selects all. Owner: one
// goroutine.
type Filter[T any] struct{ Condition }

// Condition is a compiled condition on structs of a type that is known at run time.
type Condition struct {
	program *vm.Program
	machine vm.VM
	record  reflect.Value // the record at hand: of type environment, its fields as in fields
	pointer any           // to it
	fields  []field       // named in the condition
}

// field is a field of a record.
type field struct {
	name string       // in JSON
	from []int        // its index in the record
	to   int          // its index in the environment
	typ  reflect.Type // there
	host bool         // the host of the URL that from leads to
}

// Compile reads a condition. Errors: it is no expression, names a field that T lacks, compares what
// cannot be compared, or its result is neither true nor false.
func Compile[T any](condition string) (*Filter[T], error) {
	c, err := CompileFor(reflect.TypeFor[T](), condition)
	if err != nil {
		return nil, err
	}
	return &Filter[T]{*c}, nil
}

// CompileFor is Compile for a type of structs.
func CompileFor(t reflect.Type, condition string) (*Condition, error) {
	if len(condition) > longest {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(condition), longest)
	}
	all := fieldsOf(t)
	f := &Condition{record: environment(all)}
	f.pointer = f.record.Addr().Interface()
	program, err := expr.Compile(condition, expr.Env(f.pointer), expr.AsBool())
	if err != nil {
		return nil, inWords(condition, err, all)
	}
	f.program = program
	for _, one := range all {
		if strings.Contains(condition, one.name) {
			f.fields = append(f.fields, one)
		}
	}
	return f, nil
}

// Matches reports whether the condition holds for a record. Errors: an operation that is impossible
// with its values, such as a remainder of 0.
func (f *Filter[T]) Matches(record *T) (bool, error) {
	if f == nil {
		return true, nil
	}
	return f.Holds(reflect.ValueOf(record).Elem())
}

// Holds is Filter.Matches for a struct.
func (f *Condition) Holds(from reflect.Value) (bool, error) {
	for i := range f.fields {
		f.fields[i].copy(f.record, from)
	}
	result, err := f.machine.Run(f.program, f.pointer)
	if err != nil {
		return false, brief(err)
	}
	return result.(bool), nil // by AsBool
}

// Fields returns the names that a condition on a T may use.
func Fields[T any]() []string { return names(fieldsOf(reflect.TypeFor[T]())) }

func names(all []field) []string {
	var words []string
	for _, f := range all {
		words = append(words, f.name)
	}
	return words
}

// fieldsOf returns the fields of a record: numbers, texts, booleans, times, lists of texts, and
// such lists by their names.
func fieldsOf(t reflect.Type) (all []field) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		typ, ok := plain(f.Type)
		if name == "" || name == "-" || !ok {
			continue
		}
		all = append(all, field{name: name, from: f.Index, to: len(all), typ: typ})
	}
	at := slices.IndexFunc(all, func(f field) bool { return f.name == "url" })
	if at >= 0 && !slices.ContainsFunc(all, func(f field) bool { return f.name == "host" }) {
		all = append(all, field{name: "host", from: all[at].from, to: len(all), typ: all[at].typ, host: true})
	}
	return all
}

// plain returns the type without a name of its own that a type has underneath: expressions compare
// only these with numbers and texts.
func plain(t reflect.Type) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.String:
		return reflect.TypeFor[string](), true
	case reflect.Bool:
		return reflect.TypeFor[bool](), true
	case reflect.Int, reflect.Int64:
		return reflect.TypeFor[int64](), true
	case reflect.Float64:
		return reflect.TypeFor[float64](), true
	}
	if t.ConvertibleTo(lists) {
		return reflect.TypeFor[map[string]string](), true
	}
	if t.Implements(objects) {
		return reflect.TypeFor[string](), true
	}
	return t, t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[[]string]()
}

// lists are of texts, by their names. A condition has each as one text.
var lists = reflect.TypeFor[map[string][]string]()

// objects are fields that a condition has as text: that of their JSON.
var objects = reflect.TypeFor[interface{ JSON() string }]()

// environment returns a new struct whose fields an expression knows by their JSON names.
func environment(all []field) reflect.Value {
	fields := make([]reflect.StructField, len(all))
	for i, f := range all {
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: f.typ, Tag: reflect.StructTag(fmt.Sprintf("expr:%q", f.name)),
		}
	}
	return reflect.New(reflect.StructOf(fields)).Elem()
}

// copy sets the field of the environment to that of a record.
func (f *field) copy(env, record reflect.Value) {
	to, from := env.Field(f.to), record.FieldByIndex(f.from)
	switch to.Kind() {
	case reflect.String:
		text := from.String()
		if o, ok := from.Interface().(interface{ JSON() string }); ok {
			text = o.JSON()
		}
		if f.host {
			text = Host(text)
		}
		to.SetString(text)
	case reflect.Bool:
		to.SetBool(from.Bool())
	case reflect.Int64:
		to.SetInt(from.Int())
	case reflect.Float64:
		to.SetFloat(from.Float())
	case reflect.Map:
		texts := make(map[string]string)
		for name, values := range from.Convert(lists).Interface().(map[string][]string) {
			texts[name] = strings.Join(values, ", ")
		}
		to.Set(reflect.ValueOf(texts))
	default:
		to.Set(from)
	}
}

// Host returns the host name of a URL in canonical form.
func Host(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if ip, _, isV6 := strings.Cut(rest, "]"); isV6 {
		return strings.TrimPrefix(ip, "[")
	}
	name, _, _ := strings.Cut(rest, ":")
	return name
}

// quoted are the texts of a condition.
var quoted = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])*'|`[^`]*`")

// habits are spellings of other languages, with what is written instead.
var habits = []struct{ spelling, expected string }{
	{`\bheaders\.\w+-[\w-]+`, `a name in brackets and quotes, as in headers["x-cache"]`},
	{`(?i)\bis\s+null\b`, `== "", or == 0 for a number`},
	{`(?i)\bis\s+not\s+null\b`, `!= "", or != 0 for a number`},
	{`(?i)\bnull\b`, `"", or 0 for a number`},
	{`\bAND\b|&&?`, "and, or &&"},
	{`\bOR\b|\|\|?`, "or, or ||"},
	{`\bNOT\b`, "not"},
	{`(?i)\bin\s*\(`, "a list in brackets, as in status in [404, 500]"},
	{`\bIN\b`, "in"},
	{`<>`, "!="},
	{`(?i)\b(r?like)\b|=?~=?`, `contains, or matches for a regular expression`},
}

// habit returns an error for a condition that fails and has a spelling of another language; nil: it
// has none.
func habit(condition string) error {
	plain := quoted.ReplaceAllStringFunc(condition, func(text string) string { return strings.Repeat(`"`, len(text)) })
	for _, h := range habits {
		for _, at := range regexp.MustCompile(h.spelling).FindAllStringIndex(plain, -1) {
			typed := plain[at[0]:at[1]]
			if typed == "&&" || typed == "||" {
				continue
			}
			return fmt.Errorf("%.64s at character %d, expected %s", typed, utf8.RuneCountInString(condition[:at[0]])+1, h.expected)
		}
	}
	return nil
}

// ofLinks are fields of links that no other record has.
var ofLinks = []string{"kind", "to", "tag", "attr", "rel"}

// inWords returns the error of the library on a condition in one line, with the field that may be
// meant.
func inWords(condition string, err error, all []field) error {
	var e *file.Error
	if !errors.As(err, &e) {
		return err
	}
	if wrong := habit(condition); wrong != nil {
		return wrong
	}
	name, isUnknown := strings.CutPrefix(e.Message, "unknown name ")
	if !isUnknown || strings.Contains(name, " ") {
		return brief(err)
	}
	if slices.Contains(ofLinks, name) {
		return fmt.Errorf("unknown field %s: links have it, which weft export writes with --table links", name)
	}
	if meant := near.Word(name, append(names(all), builtin.Names...)); meant != "" {
		return fmt.Errorf("unknown field %s: did you mean %s?", name, meant)
	}
	return fmt.Errorf("unknown field %s, expected a text in quotes, or one of %s",
		name, strings.Join(names(all), ", "))
}

// brief returns an error of the library without its excerpt of the condition.
func brief(err error) error {
	var e *file.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case strings.HasPrefix(e.Message, `unexpected token Operator("=")`):
		return fmt.Errorf("= at character %d, expected ==", e.Column+1)
	case strings.Contains(e.Message, "mismatched types time.Time and string"), strings.Contains(e.Message, "mismatched types string and time.Time"):
		return fmt.Errorf("a time beside a text, at character %d, expected one such as date(\"2026-11-01\")", e.Column+1)
	case strings.Contains(e.Message, "mismatched types int64 and string"), strings.Contains(e.Message, "mismatched types string and int64"):
		return fmt.Errorf("a number beside a text, at character %d, expected a number without quotes, as in status == 404", e.Column+1)
	}
	return fmt.Errorf("%s, at character %d", e.Message, e.Column+1)
}

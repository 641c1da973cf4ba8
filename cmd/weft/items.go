package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/config"
	"github.com/weftcrawl/weft/internal/near"
)

// rules is the value of --extract: fields one by one, for all pages, or the rules of a file.
type rules struct{ to *[]extract.Rule }

var _ pflag.Value = (*rules)(nil)

func (r *rules) String() string { return "" }
func (r *rules) Type() string   { return "stringArray" } // the completion offers it again

func (r *rules) Set(s string) error {
	f, err := extract.ParseField(s)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(*r.to, func(r extract.Rule) bool { return r.Name == "" })
	if at < 0 {
		at = len(*r.to)
		*r.to = append(*r.to, extract.Rule{})
	}
	to := &(*r.to)[at]
	to.Fields = append(to.Fields, f)
	_, err = extract.New(*r.to, false)
	return err
}

// extractOptions are those of commands that find fields.
func extractOptions(to *[]extract.Rule, structured *bool) []option {
	return []option{
		{name: "extract", arg: "NAME=SEL", Value: &rules{to}, field: "Extract",
			help: "take a field of pages, by CSS or XPath; repeatable",
			more: "price:number=.price converts, to number, date, url or html; tags[]=.tag takes all. " +
				"Without it, the rules of weft.toml hold: see docs/extract.md."},
		{name: "structured", caller: true, advanced: true, Value: on(structured), field: "Structured",
			help: "take JSON-LD, microdata, RDFa, OpenGraph and meta"},
	}
}

// itemsTable is the table of a file that holds rules.
const itemsTable = "items"

// ofItems reports whether an option of a file is part of a rule.
func ofItems(o config.Option) bool {
	return o.Command == itemsTable || strings.HasPrefix(o.Command, itemsTable+" ")
}

// rulesOf returns the rules of a file that hold with a profile. Its error is a *config.Error.
func rulesOf(options []config.Option, profile string) ([]extract.Rule, error) {
	f := fileRules{lines: make(map[string]int)}
	for _, o := range options {
		if !ofItems(o) || o.Profile != "" && o.Profile != profile {
			continue
		}
		if err := f.take(o); err != nil {
			return nil, &config.Error{Line: o.Line, Err: err}
		}
	}
	_, err := extract.New(f.rules, false)
	var e *extract.RuleError
	if errors.As(err, &e) {
		return nil, &config.Error{Line: f.line(e), Err: err}
	}
	return f.rules, err
}

// fileRules are rules as a file brings them, key by key.
type fileRules struct {
	rules []extract.Rule
	lines map[string]int // of keys, by their path
}

// line returns where a mistake is: at the key, the field, or the first key of the rule.
func (f *fileRules) line(e *extract.RuleError) int {
	path := append([]string{e.Rule}, e.Field...)
	for _, p := range [][]string{append(slices.Clone(path), e.Key), path, path[:1]} {
		if line := f.lines[strings.Join(p, " ")]; line > 0 {
			return line
		}
	}
	return 1
}

// take takes in one key: items NAME urls, items NAME fields FIELD, items NAME fields FIELD type …
func (f *fileRules) take(o config.Option) error {
	path := append(strings.Split(o.Command, " ")[1:], o.Name)
	if len(path) == 1 {
		return fmt.Errorf("%s.%s: a value, expected a table: [%[1]s.NAME]", itemsTable, o.Name)
	}
	name := path[0]
	at := slices.IndexFunc(f.rules, func(r extract.Rule) bool { return r.Name == name })
	if at < 0 {
		at = len(f.rules)
		f.rules = append(f.rules, extract.Rule{Name: name})
		f.lines[name] = o.Line
	}
	r := &f.rules[at]
	switch key := path[1]; {
	case key == "fields" && len(path) > 2:
		return f.field(&r.Fields, path[:1], path[2:], o)
	case key == "fields":
		return fmt.Errorf("fields: expected a table: fields.NAME = %q", "SELECTOR")
	case len(path) > 2:
		return unknownKey(key, "fields", "urls", "each")
	case o.List:
		return fmt.Errorf("%s: a list, expected one value", key)
	case key == "urls":
		r.URLs = o.Values[0]
	case key == "each":
		r.Each = o.Values[0]
	default:
		return unknownKey(key, "fields", "urls", "each")
	}
	f.lines[strings.Join(path, " ")] = o.Line
	return nil
}

// field takes in a key of a field: below around, path leads to it.
func (f *fileRules) field(to *[]extract.Field, around, path []string, o config.Option) error {
	name := path[0]
	at := slices.IndexFunc(*to, func(f extract.Field) bool { return f.Name == name })
	if at < 0 {
		at = len(*to)
		*to = append(*to, extract.Field{Name: name})
	}
	around = append(slices.Clone(around), name)
	if f.lines[strings.Join(around, " ")] == 0 {
		f.lines[strings.Join(around, " ")] = o.Line
	}
	field := &(*to)[at]
	if len(path) == 1 { // NAME = "SELECTOR"
		return f.set(field, around, "select", o)
	}
	if path[1] == "fields" && len(path) > 2 {
		return f.field(&field.Fields, around, path[2:], o)
	}
	if len(path) > 2 {
		return unknownKey(path[1], "fields")
	}
	return f.set(field, around, path[1], o)
}

// set gives a field a value.
func (f *fileRules) set(field *extract.Field, around []string, key string, o config.Option) error {
	if o.List {
		return fmt.Errorf("%s: a list, expected one value", o.Name)
	}
	f.lines[strings.Join(around, " ")+" "+key] = o.Line
	v := o.Values[0]
	var err error
	switch key {
	case "select":
		field.Select = v
	case "type":
		field.Type = extract.Type(v)
	case "match":
		field.Match = v
	case "format":
		field.Format = v
	case "default":
		field.Default = v
	case "list":
		field.List, err = yesOrNo(key, v)
	case "required":
		field.Required, err = yesOrNo(key, v)
	default:
		return unknownKey(key, "select", "type", "list", "match", "format", "default", "required", "fields")
	}
	return err
}

func yesOrNo(key, v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%s = %.128q: expected true or false", key, v)
	}
	return b, nil
}

func unknownKey(key string, known ...string) error {
	if meant := near.Word(key, known); meant != "" {
		return fmt.Errorf("%.128q: unknown key: did you mean %s?", key, meant)
	}
	return fmt.Errorf("%.128q: unknown key, expected one of %s", key, strings.Join(known, ", "))
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/near"
	"github.com/weftcrawl/weft/internal/where"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
)

// closed are the fields that have one of a few values, or none.
var closed = map[string]func() []string{
	"kind": linkKinds, "cut": reasonNames,
	"indexability":  namesOf(record.Indexable, record.ByRobots, record.ByRedirection, record.ByStatus, record.ByNoindex, record.ByCanonical),
	"state":         namesOf(weft.URLPending, weft.URLLeased, weft.URLDone, weft.URLFailed, weft.URLRefused),
	"role":          namesOf(record.RoleAsset, record.RoleExternal, record.RoleProbe),
	"change":        namesOf(record.ChangeUnchanged, record.ChangeChanged, record.ChangeGone, record.ChangeNew),
	"unchanged_by":  namesOf(record.SameNotModified, record.SameBody, record.SameText),
	"needs_scripts": namesOf("mount", "noscript", "template", "hollow", "no-text"),
}

func namesOf[T ~string](all ...T) func() []string {
	return func() []string {
		names := make([]string, len(all))
		for i, w := range all {
			names[i] = string(w)
		}
		return names
	}
}

func linkKinds() (names []string) {
	for k := links.KindPage; k <= links.KindText; k++ {
		names = append(names, k.String())
	}
	return names
}

func reasonNames() (names []string) {
	for _, r := range weft.Reasons() {
		names = append(names, r.Name)
	}
	return names
}

// These find what a condition compares a field with: one text, or a list of texts.
var (
	compared = regexp.MustCompile(`(?:^|[^.\w"'])([a-z_]+)\s*(?:[!=]=\s*("[^"]*"|'[^']*')|in\s*\[([^]]*)\])`)
	aText    = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// compile reads a condition on a T. One that compares a field with a value that it never has would
// select nothing, or all.
func compile[T any](condition string) (*where.Filter[T], error) {
	f, err := where.Compile[T](condition)
	return f, cmp.Or(err, comparesValues(condition))
}

// comparesValues returns an error if a condition compares a field with a value that it never has.
func comparesValues(condition string) error {
	for _, found := range compared.FindAllStringSubmatch(condition, -1) {
		for _, text := range aText.FindAllString(found[2]+found[3], -1) {
			if err := isValue(found[1], text[1:len(text)-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindOfTag is the kind of link that people call otherwise.
var kindOfTag = map[string]string{"a": "page", "img": "image", "css": "style", "js": "script"}

// isValue returns an error for a value that a field never has.
func isValue(field, value string) error {
	switch {
	case value == "":
	case field == "error_kind":
		if _, err := errorKind(value); err != nil {
			return fmt.Errorf("%q: %w", value, err)
		}
	case closed[field] != nil:
		all := closed[field]()
		if slices.Contains(all, value) {
			return nil
		}
		if meant := cmp.Or(kindOfTag[value], near.Word(strings.ToLower(value), all)); slices.Contains(all, meant) {
			return fmt.Errorf("%s %.64q: no such value: did you mean %s?", field, value, meant)
		}
		return fmt.Errorf("%s %.64q: no such value, expected one of %s", field, value, strings.Join(all, ", "))
	}
	return nil
}

func errorKinds() []string {
	var names []string
	for _, k := range weft.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// errorKind reads the name of an error kind.
func errorKind(s string) (string, error) {
	if slices.Contains(errorKinds(), s) {
		return s, nil
	}
	if meant := near.Word(s, errorKinds()); meant != "" {
		return "", fmt.Errorf("no error kind: did you mean %s?", meant)
	}
	return "", errors.New("expected an error kind that weft kinds lists, such as dns")
}

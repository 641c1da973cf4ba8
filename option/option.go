// Package option holds the named values of options of a crawl, and the errors of options: package
// weft has each under a name of its own.
package option

import (
	"errors"
	"fmt"
)

// Scope is the distance from its seeds that a crawl goes.
type Scope string

// Scopes, the narrowest first.
const (
	ScopePage   Scope = "page"   // the seeds, and the targets of their redirects
	ScopePrefix Scope = "prefix" // URLs that start as a seed does, up to its last slash
	ScopeHost   Scope = "host"   // URLs on the host of a seed, by http or https
	ScopeDomain Scope = "domain" // registrable domain of a seed: www.example.org, too, for example.org
	ScopeAny    Scope = "any"    // all URLs
)

// ParseScope reads the name of a scope; the empty name is ScopeHost.
func ParseScope(name string) (Scope, error) {
	switch s := Scope(name); s {
	case "":
		return ScopeHost, nil
	case ScopePage, ScopePrefix, ScopeHost, ScopeDomain, ScopeAny:
		return s, nil
	}
	return "", fmt.Errorf("scope %.64q, expected page, prefix, host, domain or any", name)
}

// Assets selects the assets of pages that a crawl fetches: the files that a browser loads to show a
// page, such as images, scripts and fonts.
type Assets string

// The choices of assets.
const (
	AssetsNone  Assets = ""      // none, but for style sheets in scope
	AssetsScope Assets = "scope" // in scope, or on its hosts, whatever depth and inclusions say
	AssetsAny   Assets = "any"   // all, wherever they are
)

// ParseAssets reads the name of these; the empty name is AssetsNone.
func ParseAssets(name string) (Assets, error) {
	switch a := Assets(name); a {
	case AssetsNone, AssetsScope, AssetsAny:
		return a, nil
	}
	return "", fmt.Errorf("assets %.64q, expected scope or any", name)
}

// ErrPlan is returned when an option differs from the job's.
var ErrPlan = errors.New("as the job began with")

// Error reports an invalid option.
type Error struct {
	Option string // field of weft.Options, such as "Concurrency"
	Value  string // as given; empty if there is none, or Err names it
	Err    error  // the fault, and the value expected
}

func (e *Error) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("option %s: %v", e.Option, e.Err)
	}
	return fmt.Sprintf("option %s %.128q: %v", e.Option, e.Value, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// PlanError reports frozen options whose values are not the job's. It is an ErrPlan.
type PlanError struct {
	Differences []Difference // in the order of the frozen options, then seeds and exclusions
	Finished    bool         // the job's crawl is
}

// Difference is an option with the job's value and the requested one, in words.
type Difference struct{ Option, Was, Now string }

// Error leaves the name and value of the first difference to the Error that wraps it.
func (e *PlanError) Error() string {
	text := fmt.Sprintf("expected %s, %v", e.Differences[0].Was, ErrPlan)
	for _, d := range e.Differences[1:] {
		text += fmt.Sprintf("; option %s %.128q: expected %s", d.Option, d.Now, d.Was)
	}
	return text
}

// Is reports whether target is ErrPlan.
func (*PlanError) Is(target error) bool { return target == ErrPlan }

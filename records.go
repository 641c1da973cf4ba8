package weft

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/option"
	"github.com/weftcrawl/weft/record"
)

// The records and counts of a crawl: see package record.
type (
	Record       = record.Record
	LinkRecord   = record.Link
	Headers      = record.Headers
	Indexability = record.Indexability
	Item         = record.Item
	Fields       = record.Fields
	Change       = record.Change
	Sameness     = record.Sameness
	Summary      = record.Summary
	Broken       = record.Broken
	GivenUp      = record.GivenUp
	Counters     = record.Counters
	ItemCounts   = record.ItemCounts
	ScriptCounts = record.ScriptCounts
	Unrendered   = record.Unrendered
	Count        = record.Count
	Format       = record.Format
	Stats        = record.Stats
	InFlight     = record.InFlight
	Estimate     = record.Estimate
)

// Changes that a recrawl finds.
const (
	ChangeUnchanged = record.ChangeUnchanged
	ChangeChanged   = record.ChangeChanged
	ChangeGone      = record.ChangeGone
	ChangeNew       = record.ChangeNew
)

// The signs by which a recrawl knows that a URL is unchanged.
const (
	SameNotModified = record.SameNotModified
	SameBody        = record.SameBody
	SameText        = record.SameText
)

// Formats of Options.Output.
const (
	FormatJSONL = record.FormatJSONL
	FormatURLs  = record.FormatURLs
	FormatCSV   = record.FormatCSV
)

// ParseFormat reads the name of a format; the empty name is FormatJSONL.
func ParseFormat(name string) (Format, error) { return record.ParseFormat(name) }

// FrozenOptions returns the fields of Options that a job keeps for good: with other values there
// would be two crawls in one job. Seeds and SeedSeq are compared by themselves.
func FrozenOptions() []string {
	var names []string
	for _, o := range job.Frozen {
		names = append(names, o.Name)
	}
	return names
}

// Scope is the reach of a crawl from its seeds: see package option.
type Scope = option.Scope

// Scopes, the narrowest first.
const (
	ScopePage   = option.ScopePage
	ScopePrefix = option.ScopePrefix
	ScopeHost   = option.ScopeHost
	ScopeDomain = option.ScopeDomain
	ScopeAny    = option.ScopeAny
)

// ParseScope reads the name of a scope; the empty name is ScopeHost.
func ParseScope(name string) (Scope, error) { return option.ParseScope(name) }

// Assets selects the assets of pages that are fetched: see package option.
type Assets = option.Assets

// The choices of assets.
const (
	AssetsNone  = option.AssetsNone
	AssetsScope = option.AssetsScope
	AssetsAny   = option.AssetsAny
)

// Role is the reason of a request beyond the scope: see package record.
type Role = record.Role

// Roles.
const (
	RoleAsset    = record.RoleAsset
	RoleExternal = record.RoleExternal
	RoleProbe    = record.RoleProbe
)

// Duplicates selects the pages that are recognized as duplicates of others.
type Duplicates string

// The kinds of duplicates.
const (
	DuplicatesOff  Duplicates = "off"  // nothing
	DuplicatesSame Duplicates = "same" // pages with the same body
	DuplicatesNear Duplicates = "near" // and pages with nearly the same text: see package text
)

// ParseDuplicates reads a name of these; the empty name is DuplicatesSame.
func ParseDuplicates(name string) (Duplicates, error) {
	switch d := Duplicates(name); d {
	case "":
		return DuplicatesSame, nil
	case DuplicatesOff, DuplicatesSame, DuplicatesNear:
		return d, nil
	}
	return "", fmt.Errorf("duplicates %.64q, expected off, same or near", name)
}

// Reason is the ground on which a link is not followed, or a URL not queued.
type Reason struct {
	Name    string
	Meaning string // for people, on one line; flags are those of the command
}

// Reasons lists every reason; those up to the last two are keys of Summary.NotFollowed, beside
// those that OnLink gives.
func Reasons() []Reason {
	var all []Reason
	for _, r := range scope.Reasons() {
		all = append(all, Reason(r))
	}
	return all
}

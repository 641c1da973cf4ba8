package main

import (
	"slices"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/where"
)

// retryFlags are --retry-failed, and the flags that replace its selection: URLs that may pass.
type retryFlags struct {
	dir       string // the folder of a job; empty: no retry
	status    []weft.StatusRange
	kind      string
	condition *where.Filter[weft.Record]
	only      func(*weft.Record) bool // replaces the selection; or nil
}

// any reports whether a selection is given.
func (r *retryFlags) any() bool { return r.status != nil || r.kind != "" || r.condition != nil }

// check makes the folder that of the job, and refuses flags that exclude a retry.
func (r *retryFlags) check(f *crawlFlags, o *weft.Options) error {
	switch {
	case f.update != "":
		return usage("--retry-failed and --update: expected one of them")
	case o.Job != "":
		return usage("--retry-failed and --job: expected one of them")
	case o.Rerun.Fresh:
		return usage("--retry-failed and --fresh: expected one of them")
	}
	if err := mayBeJob(r.dir); err != nil {
		return usage("--retry-failed %w", err)
	}
	o.Job = r.dir
	return nil
}

// selects returns which records are those of URLs to ask again. A condition that cannot be
// evaluated for a record does not hold; warn takes the first such error.
func (r *retryFlags) selects(warn func(string)) func(*weft.Record) bool {
	if r.only != nil {
		return r.only
	}
	if !r.any() {
		return weft.MayPass
	}
	warned := false
	return func(record *weft.Record) bool {
		within := func(s weft.StatusRange) bool { return s.From <= record.Status && record.Status <= s.To }
		if r.status != nil && !slices.ContainsFunc(r.status, within) || r.kind != "" && r.kind != record.ErrorKind {
			return false
		}
		holds, err := r.condition.Matches(record)
		if err != nil && !warned {
			warn("--where: " + record.URL + ": " + err.Error())
			warned = true
		}
		return holds
	}
}

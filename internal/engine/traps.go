package engine

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// traps recognises endless paths by what their pages say: see package shapes. What is left of a
// trap is refused at its turn, so each URL has a record that says why.
// Owner: the coordinator's loop.
type traps struct {
	committer *committer
	summary   *record.Summary

	shapes *shapes.Table // nil: no trap is recognised
}

// any reports whether there is a trap.
func (t *traps) any() bool { return t.shapes != nil && t.shapes.Traps() > 0 }

// watch reports whether a URL that is leased is to be sketched.
func (t *traps) watch(u *frontier.URL) bool {
	return t.shapes != nil && !u.Robots && !u.Resolve && !u.Role.Beyond() && !fetch.IsSitemap(*u) && t.shapes.Watch(shapes.Of(u.URL))
}

// takes reports whether a URL is part of a trap. What a seed names, and what an earlier visit has
// fetched, is not.
func (t *traps) takes(u *frontier.URL) bool {
	return t.any() && u.From != "" && u.Known == nil && !fetch.IsSitemap(*u) && t.shapes.IsTrap(shapes.Of(u.URL))
}

// found takes in that a page whose shape has nothing new has led to a URL that is new.
func (t *traps) found(u weburl.URL) { t.shapes.Found(shapes.Of(u)) }

// judge takes in the sketch of a page, and reports whether its shape has nothing new, so that the
// URLs found on it count as growth, and whether it is a trap from now on.
func (t *traps) judge(out *fetch.Outcome) (stale, trap bool) {
	if out.Sketch == 0 {
		return false, false
	}
	s := shapes.Of(out.URL.URL)
	if trap = t.shapes.Judge(s, out.Sketch); trap {
		name := shapes.Name(out.URL.URL)
		t.summary.Trap(frontier.Brief(name))
		t.committer.note(func(b *store.Batch) { t.committer.job.SetTrap(b, name) })
	}
	return t.shapes.Stale(s), trap
}

// recall brings back the traps of earlier runs.
func (t *traps) recall(j *job.Job) error {
	if t.shapes == nil {
		return nil
	}
	unnamed := len(t.summary.Traps) == 0 // in a new visit
	for name, err := range j.Traps("") {
		if err != nil {
			return err
		}
		t.shapes.Close(shapes.Named(name))
		if unnamed {
			t.summary.Trap(frontier.Brief(name))
		}
	}
	return nil
}

// TrapWords says why URLs of a shape are refused.
func TrapWords(shape string, alike int) string {
	return fmt.Sprintf("%d pages like %s in a row said nothing new", alike, shape)
}

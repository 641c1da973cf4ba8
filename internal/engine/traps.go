package engine

import (
	"fmt"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
)

// traps recognises endless paths by what their pages say: see package shapes. What is left of a
// trap is refused at its turn, so each URL has a record that says why.
type traps struct{ *shapes.Table } // nil: none is recognised

// watch reports whether a URL that is leased is to be sketched.
func (t traps) watch(u *frontier.URL) bool {
	return t.Table != nil && !u.Robots && !u.Resolve && !u.Role.Beyond() && !fetch.IsSitemap(*u) && t.Watch(shapes.Of(u.URL))
}

// takes reports whether a URL is part of a trap. What a seed names, and what an earlier visit has
// fetched, is not.
func (t traps) takes(u *frontier.URL) bool {
	return t.Table != nil && t.Traps() > 0 && u.From != "" && u.Known == nil && !fetch.IsSitemap(*u) && t.IsTrap(shapes.Of(u.URL))
}

// judge takes in the sketch of a page, and reports whether its shape has nothing new, so that the
// URLs found on it count as growth.
func (d *Coordinator) judge(out *fetch.Outcome) (stale bool) {
	if out.Sketch == 0 {
		return false
	}
	s := shapes.Of(out.URL.URL)
	if d.traps.Judge(s, out.Sketch) {
		name := shapes.Name(out.URL.URL)
		d.progress.summary.Trap(frontier.Brief(name))
		if d.cfg.Job != nil {
			d.cfg.Job.SetTrap(d.committer.open.state, name)
		}
		d.frontier.RefuseBy(d.refuses)
	}
	return d.traps.Stale(s)
}

// recallTraps brings back the traps of earlier runs.
func (d *Coordinator) recallTraps() error {
	if d.traps.Table == nil {
		return nil
	}
	s := &d.progress.summary
	unnamed := len(s.Traps) == 0 // in a new visit
	for name, err := range d.cfg.Job.Traps("") {
		if err != nil {
			return err
		}
		d.traps.Close(shapes.Named(name))
		if unnamed {
			s.Trap(frontier.Brief(name))
		}
	}
	return nil
}

// refuses judges a pending URL whose turn has come, by what the crawl has learnt since it was found.
func (d *Coordinator) refuses(u *frontier.URL) (kind, reason string) {
	if kind, reason := d.excluded(u.URL); kind != "" {
		return kind, reason
	}
	if d.traps.takes(u) {
		return record.KindNothingNew, frontier.Brief(TrapWords(shapes.Name(u.URL), d.cfg.MaxAlike))
	}
	return "", ""
}

// TrapWords says why URLs of a shape are refused.
func TrapWords(shape string, alike int) string {
	return fmt.Sprintf("%d pages like %s in a row said nothing new", alike, shape)
}

package diff

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/weftcrawl/weft/record"
)

// joiner goes through the URLs of both sides.
type joiner struct {
	*comparison
	moves *moves
}

// Compare compares two sides. Close the report.
func Compare(ctx context.Context, old, new Source, o Options) (_ *Report, err error) {
	c := &joiner{comparison: &comparison{Options: o, churn: make(map[churnKey]*Churn)}}
	var bad error
	atOnce(
		func() { c.old, err = openSide(ctx, old, o.Temp, o.wants) },
		func() { c.new, bad = openSide(ctx, new, o.Temp, o.wants) },
	)
	for _, s := range []*side{c.old, c.new} {
		if s != nil {
			defer s.close()
		}
	}
	if err = cmp.Or(err, bad); err != nil {
		return nil, err
	}
	if c.report, err = newReport(o.Temp); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.report.Close()
		}
	}()
	c.summary = &c.report.Summary
	c.moves = newMoves(o.Temp)
	defer c.moves.close()
	if err := c.join(ctx); err != nil {
		return nil, err
	}
	if err := c.moves.settle(c.comparison); err != nil {
		return nil, err
	}
	c.summary.Old, c.summary.New = c.old.Side, c.new.Side
	c.summary.Churn = c.listChurn()
	return c.report, nil
}

// atOnce has the two sides do their part on two cores. They share nothing.
func atOnce(old, new func()) {
	var done sync.WaitGroup
	done.Go(old)
	new()
	done.Wait()
}

// join goes through the URLs of both sides, site by site.
func (c *joiner) join(ctx context.Context) error {
	pullOld, stopOld := iter.Pull2(c.old.entries())
	defer stopOld()
	pullNew, stopNew := iter.Pull2(c.new.entries())
	defer stopNew()
	nextOld := func() (*entry, error) { return next(pullOld, &c.old.Side) }
	nextNew := func() (*entry, error) { return next(pullNew, &c.new.Side) }
	drafts, err := newSpool[changedPage](c.Temp)
	if err != nil {
		return err
	}
	defer drafts.close()
	var of *site
	old, err := nextOld()
	if err != nil {
		return err
	}
	new, err := nextNew()
	for err == nil && (old != nil || new != nil) {
		if err = ctx.Err(); err != nil {
			break
		}
		order := compareEntries(old, new)
		first := old
		if order > 0 {
			first = new
		}
		if of == nil || of.host != first.host {
			if err = c.begin(&of, first.host, drafts); err != nil {
				break
			}
		}
		switch {
		case order < 0:
			if err = c.absent(old); err == nil {
				old, err = nextOld()
			}
		case order > 0:
			if err = c.present(new); err == nil {
				new, err = nextNew()
			}
		default:
			if err = c.both(of, old, new); err == nil {
				old, err = nextOld()
			}
			if err == nil {
				new, err = nextNew()
			}
		}
	}
	if err == nil && of != nil {
		err = c.finish(of)
	}
	return err
}

// begin finishes a site, and begins the next.
func (c *joiner) begin(of **site, host string, drafts *spool[changedPage]) error {
	if *of != nil {
		if err := c.finish(*of); err != nil {
			return err
		}
		if err := drafts.clear(); err != nil {
			return err
		}
	}
	*of = &site{host: host, changed: drafts, witnesses: make(map[uint64][]*entry)}
	return nil
}

// next returns the next URL of a side, which it counts; nil: there is none.
func next(pull func() (*entry, error, bool), of *Side) (*entry, error) {
	e, err, ok := pull()
	if !ok {
		return nil, nil
	}
	of.Pages++
	return e, err
}

// compareEntries orders two URLs; one that is not there is last.
func compareEntries(a, b *entry) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	if order := strings.Compare(a.host, b.host); order != 0 {
		return order
	}
	return strings.Compare(a.url, b.url)
}

// absent takes in a URL of the old side alone.
func (c *joiner) absent(e *entry) error {
	p, err := e.page()
	if err != nil || stateOf(&p.record) != isThere {
		return err
	}
	if why := c.new.incomplete(); why != "" {
		return c.tell(&Change{Kind: NotCompared, URL: p.record.URL, Title: p.record.Title, OldStatus: p.record.Status, Reason: "new: " + why})
	}
	return c.moves.gone(c.comparison, &p.record, 0, "not on the new side")
}

// present takes in a URL of the new side alone.
func (c *joiner) present(e *entry) error {
	p, err := e.page()
	if err != nil || stateOf(&p.record) != isThere {
		return err
	}
	if why := c.old.incomplete(); why != "" {
		return c.tell(&Change{Kind: NotCompared, URL: p.record.URL, Title: p.record.Title, NewStatus: p.record.Status, Reason: "old: " + why})
	}
	return c.moves.appeared(c.comparison, &p.record, 0)
}

// both compares a URL of both sides.
func (c *joiner) both(of *site, old, new *entry) error {
	if bytes.Equal(old.text, new.text) && old.print != 0 { // the record is the same
		c.same(of, new)
		return nil
	}
	if old.print != 0 && old.print == new.print {
		if same, err := c.sameHead(old, new); err != nil || same {
			c.same(of, new)
			return err
		}
	}
	a, err := old.page()
	if err != nil {
		return err
	}
	b, err := new.page()
	if err != nil {
		return err
	}
	from, to := stateOf(&a.record), stateOf(&b.record)
	switch {
	case from == isThere && to == isThere:
		return c.pages(of, new, a, b)
	case from == isGone && to == isGone, from == failed && to == failed, from == isGone && to == failed, from == failed && to == isGone:
		return nil
	case to == failed:
		return c.tell(&Change{Kind: NotCompared, URL: b.record.URL, Title: a.record.Title, OldStatus: a.record.Status, NewStatus: b.record.Status, Reason: "new: " + failure(&b.record)})
	case from == failed:
		return c.tell(&Change{Kind: NotCompared, URL: b.record.URL, Title: b.record.Title, OldStatus: a.record.Status, NewStatus: b.record.Status, Reason: "old: " + failure(&a.record)})
	case from == isThere && to == isGone:
		return c.moves.gone(c.comparison, &a.record, b.record.Status, statusInWords(b.record.Status))
	case from == isGone && to == isThere:
		return c.moves.appeared(c.comparison, &b.record, a.record.Status)
	}
	c.old.redirect(&a.record)
	c.new.redirect(&b.record)
	if from == isThere && to == leads {
		return c.moves.redirected(c.comparison, &a.record, &b.record)
	}
	return c.leading(a, b)
}

// same counts a page that is the same.
func (c *joiner) same(of *site, e *entry) {
	c.summary.Compared++
	c.summary.Unchanged++
	of.unchanged(e)
}

// leading compares a URL that is a redirect, or was one.
func (c *joiner) leading(a, b *page) error {
	c.summary.Compared++
	d := statusDetails(&a.record, &b.record)
	if len(d) == 0 {
		c.summary.Unchanged++
		return nil
	}
	return c.tell(&Change{Kind: Changed, URL: b.record.URL, Title: b.record.Title, OldStatus: a.record.Status, NewStatus: b.record.Status, Details: d})
}

// pages compares two pages that are there.
func (c *joiner) pages(of *site, e *entry, a, b *page) error {
	var before, now *facts
	if c.old.Brief || c.new.Brief {
		before, now = c.brief(a, b)
	} else {
		var from, to *response
		var lacksOld, lacksNew error
		atOnce(
			func() { from, lacksOld = c.old.read(&a.record) },
			func() { to, lacksNew = c.new.read(&b.record) },
		)
		switch {
		case lacksOld != nil:
			return c.unread(a, b, "old", lacksOld)
		case lacksNew != nil:
			return c.unread(a, b, "new", lacksNew)
		}
		if isLeftOut(&b.record) {
			return nil
		}
		if bytes.Equal(from.body, to.body) && slices.Equal(from.header, to.header) {
			c.same(of, e)
			return nil
		}
		if from.header == nil || to.header == nil {
			from.header, to.header = nil, nil
		}
		atOnce(
			func() { before = factsOf(&a.record, from) },
			func() { now = factsOf(&b.record, to) },
		)
	}
	c.summary.Compared++
	drafts := match(before, now)
	if ok(a.record.Status) != ok(b.record.Status) {
		drafts = append([]draft{{Detail: Detail{Field: Status, Old: statusInWords(a.record.Status), New: statusInWords(b.record.Status)}}}, drafts...)
		drafts[0].Sign = drafts[0].sign()
	}
	if of.sample.wants(b.record.URL) && (isTree(&b.record) || len(drafts) > 0) {
		of.sample.add(sightingOf(b.record.URL, before, now, drafts))
	}
	if len(drafts) == 0 {
		c.summary.Unchanged++
		return nil
	}
	p := &changedPage{Change: Change{Kind: Changed, URL: b.record.URL, Title: now.title, OldStatus: ok(a.record.Status), NewStatus: ok(b.record.Status)}, Drafts: drafts, Before: a.before}
	for i := range p.Drafts {
		p.Drafts[i].cut()
	}
	if len(p.Drafts) > MaxDetails {
		p.More = len(p.Drafts) - MaxDetails
		p.Drafts = p.Drafts[:MaxDetails]
	}
	return of.changed.add(p)
}

// sameHead reports whether the header fields of pages with the same body are the same, too.
func (c *joiner) sameHead(old, new *entry) (bool, error) {
	if c.old.Brief || c.new.Brief {
		return true, nil
	}
	b, err := new.capture()
	if err != nil || b.UnchangedBy == record.SameNotModified {
		return true, err
	}
	a, err := old.capture()
	if err != nil {
		return true, err
	}
	from, to := c.old.header(a), c.new.header(b)
	if from == nil || to == nil {
		return true, nil
	}
	before, now := &facts{}, &facts{}
	before.headers(a, from)
	now.headers(b, to)
	return len(match(before, now)) == 0, nil
}

// brief returns the facts that records have, or would have. Without the hashes of both texts, the
// crawl that made the new record may have said that they differ.
func (c *joiner) brief(a, b *page) (before, now *facts) {
	old, new := c.old.briefly(a), c.new.briefly(b)
	if old.TextHash == "" || new.TextHash == "" {
		old.TextHash, new.TextHash = "", ""
	}
	before, now = factsOfRecord(&old), factsOfRecord(&new)
	same := old.TextHash == "" && old.Words == new.Words && old.Title == new.Title
	if same && new.Change == record.ChangeChanged && old.SHA256 != new.SHA256 && c.old.Visit+1 == c.new.Visit {
		now.all = slices.DeleteFunc(now.all, func(f fact) bool { return f.field == Body })
		now.add(Body, "", wordsInWords(new.Words)+", not the same")
	}
	return before, now
}

// briefly returns the record of a page, or one that is made from its body.
func (s *side) briefly(p *page) record.Record {
	if s.Brief {
		return p.record
	}
	from, err := s.read(&p.record)
	if err != nil {
		return p.record
	}
	return briefRecord(&p.record, from)
}

// unread tells that a body cannot be read.
func (c *joiner) unread(a, b *page, side string, err error) error {
	return c.tell(&Change{Kind: NotCompared, URL: b.record.URL, Title: b.record.Title, OldStatus: a.record.Status, NewStatus: b.record.Status, Reason: fmt.Sprintf("%s: %s", side, brief(err.Error()))})
}

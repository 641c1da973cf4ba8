package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/record"
)

// changedPage is a page that may have changed, until its site has been read.
type changedPage struct {
	Change
	Drafts []draft        `json:"drafts"`
	Before *record.Record `json:"before,omitempty"`
}

// site is the pages of a host, as they are compared.
type site struct {
	host      string
	changed   *spool[changedPage]
	sample    sample
	same      int                 // pages that are the same
	witnesses map[uint64][]*entry // some of these, by folder
}

// Bounds of the witnesses of a site: pages that are the same on both sides, and so know what does
// not churn.
const (
	maxFolders   = 1000
	perFolder    = 4
	maxWitnesses = 32
)

// unchanged takes in a page that is the same.
func (s *site) unchanged(p *entry) {
	s.same++
	folder := folderOf(p.url)
	if few := s.witnesses[folder]; len(few) < perFolder && (len(few) > 0 || len(s.witnesses) < maxFolders) {
		s.witnesses[folder] = append(few, p)
	}
}

// chosen returns witnesses, first those in the folders of pages that have changed.
func (s *site) chosen() (all []*entry) {
	folders := make(map[uint64]bool)
	for _, one := range s.sample.all {
		if len(one.marks) > 0 {
			folders[one.folder] = true
		}
	}
	for _, near := range []bool{true, false} {
		for folder, pages := range s.witnesses {
			if folders[folder] == near {
				all = append(all, pages...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *entry) int {
		if near := folders[folderOf(a.url)]; near != folders[folderOf(b.url)] {
			if near {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.url, b.url)
	})
	return all[:min(len(all), maxWitnesses)]
}

// finish judges the pages of the site, and hands on what has changed.
func (c *comparison) finish(s *site) error {
	if s.changed.n == 0 {
		return nil
	}
	l := learn(&s.sample)
	if !l.isSure() {
		witnesses := s.chosen()
		for _, e := range witnesses {
			p, err := e.page()
			if err != nil {
				return err
			}
			if from, err := c.new.read(&p.record); err == nil && isTree(&p.record) {
				l.see(sightingOf(e.url, nil, factsOf(&p.record, from), nil), (s.same+len(witnesses)-1)/len(witnesses))
			}
		}
	}
	l.judge(&s.sample)
	l.share(&s.sample)
	shared := sharing{host: s.host, all: make(map[uint64]*Change)}
	for p, err := range s.changed.each() {
		if err != nil {
			return err
		}
		c.judged(p, l)
		met := make(map[uint64]bool)
		var own []Detail
		for i := range p.Drafts {
			if d := &p.Drafts[i]; l.allShared(d) {
				shared.add(p.URL, d, met)
			} else {
				own = append(own, d.Detail)
			}
		}
		if err := c.changed(&p.Change, own, len(p.Drafts) > 0); err != nil {
			return err
		}
	}
	for _, sign := range shared.order {
		if err := c.tell(shared.all[sign]); err != nil {
			return err
		}
	}
	return nil
}

// sharing collects the changes that several pages of a site share.
type sharing struct {
	host  string
	all   map[uint64]*Change // by sign
	order []uint64
}

// add takes in a detail of a page; met are the signs that the page has had.
func (s *sharing) add(url string, d *draft, met map[uint64]bool) {
	if len(d.Figures) == 0 {
		s.count(url, d.Sign, &d.Detail, met)
	}
	for i := range d.Figures {
		f := &d.Figures[i]
		detail := d.Detail
		if f.Around != "" {
			detail.Old, detail.New = strings.Replace(f.Around, blank, f.Old, 1), strings.Replace(f.Around, blank, f.New, 1)
			detail.Words = wordsOf(detail.Old, detail.New)
		}
		s.count(url, f.sign(), &detail, met)
	}
}

func (s *sharing) count(url string, sign uint64, d *Detail, met map[uint64]bool) {
	of := s.all[sign]
	if of == nil {
		of = &Change{Kind: Shared, URL: s.host, Details: []Detail{*d}}
		s.all[sign] = of
		s.order = append(s.order, sign)
	}
	if met[sign] {
		return
	}
	met[sign] = true
	if of.Pages++; of.Pages <= maxExamples {
		of.Examples = append(of.Examples, url)
	}
}

// maxExamples bounds the examples of pages that share a difference.
const maxExamples = 5

// judged leaves out of a page what churns and rotates.
func (c *comparison) judged(p *changedPage, l *lesson) {
	if c.Churn {
		return
	}
	left := p.Drafts[:0]
	maybe := false
	for i := range p.Drafts {
		d := &p.Drafts[i]
		was := *d
		switch {
		case len(d.Figures) > 0 && !d.leaveFigures(func(f *figure) bool { return l.churn[f.Context] != nil }):
			c.leaveOut(p.URL, &was, false)
		case l.isRotation(d):
			c.leaveOut(p.URL, d, true)
		default:
			left = append(left, *d)
			maybe = maybe || len(d.Figures) > 0 && !l.allShared(d)
		}
	}
	p.Drafts = left
	if maybe && p.Before != nil {
		c.earlier(p)
	}
}

// earlier leaves out the figures that differed at the visit before, too.
func (c *comparison) earlier(p *changedPage) {
	from, err := c.old.read(p.Before)
	if err != nil || !isTree(p.Before) {
		return
	}
	before := make(map[uint64]map[uint64]bool) // runs of figures, by context
	all := factsOf(p.Before, from)
	for i := range all.all {
		all.all[i].contexts(func(context, run uint64) {
			if before[context] == nil {
				before[context] = make(map[uint64]bool)
			}
			before[context][run] = true
		})
	}
	left := p.Drafts[:0]
	for i := range p.Drafts {
		d := &p.Drafts[i]
		was := *d
		differed := func(f *figure) bool {
			return before[f.Context] != nil && !before[f.Context][xxhash.Sum64String(f.Old)]
		}
		if len(d.Figures) > 0 && !d.leaveFigures(differed) {
			c.leaveOut(p.URL, &was, false)
			continue
		}
		left = append(left, *d)
	}
	p.Drafts = left
}

// changed reports a page with the details that no other page shares, if it has any.
func (c *comparison) changed(p *Change, own []Detail, some bool) error {
	switch {
	case len(own) > 0:
		p.Details = own
		return c.tell(p)
	case !some:
		c.summary.Unchanged++
	}
	return nil
}

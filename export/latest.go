package export

import (
	"errors"
	"slices"

	"github.com/weftcrawl/weft/record"
)

// Roles of lines under the URL of a page.
const (
	roleRecord uint32 = iota // of pages.jsonl
	roleLink                 // of links.jsonl, under a page
	rolePair                 // under both
)

// mark finds the records that later ones of the same URLs replace.
func (s *source) mark() error {
	if s.marked {
		return nil
	}
	s.marked = true
	return s.onShelves(func(sh *shelves) error {
		return s.eachRecord(func(e entry, _ line) error {
			s.visits = s.visits || e.visit > 1
			if s.o.Visit != 0 && int(e.visit) != s.o.Visit {
				return nil
			}
			return sh.add(e)
		})
	}, func(group []entry) {
		for _, e := range group[:len(group)-1] {
			s.old.set(e.line)
		}
	})
}

// onShelves puts entries on shelves, and judges those of each key.
func (s *source) onShelves(put func(*shelves) error, judge func([]entry)) error {
	sh := &shelves{dir: s.o.Temp}
	err := put(sh)
	if err == nil {
		err = sh.groups(judge)
	}
	return errors.Join(err, sh.close())
}

// eachRecord reads the URL and the visit of each record.
func (s *source) eachRecord(do func(entry, line) error) error {
	f, err := openFile(s.dir, "pages.jsonl")
	if err != nil {
		return err
	}
	defer f.Close()
	for l := range f.lines() {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		e := entry{line: l.n, role: roleRecord}
		if url, ok := l.plain("url"); ok {
			e.key, e.visit = keyOf(string(url)), l.visit()
		} else {
			var r record.Record
			if err := l.into(&r); err != nil {
				return err
			}
			e.key, e.visit = keyOf(r.URL), uint32(max(r.Visit, 1))
		}
		if err := do(e, l); err != nil {
			return err
		}
	}
	return nil
}

// eachLink reads each link that is not in old, with the number of its line and its visit.
func (s *source) eachLink(old bitmap, do func(*record.Link, entry) error) error {
	for l, err := range s.currentLinks(old) {
		if err == nil {
			err = s.ctx.Err()
		}
		var link record.Link
		if err == nil {
			err = l.into(&link)
		}
		if err == nil {
			err = do(&link, entry{line: l.n, visit: uint32(max(link.Visit, 1))})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oldLinks finds the links that pages no longer have: those of an earlier visit than the one that
// found the page changed, new or gone last.
func (s *source) oldLinks() (old bitmap, err error) {
	if err := s.mark(); err != nil {
		return nil, err
	}
	if !s.visits {
		return nil, nil
	}
	if s.o.Visit != 0 {
		return old, s.eachLink(nil, func(_ *record.Link, e entry) error {
			if int(e.visit) != s.o.Visit {
				old.set(e.line)
			}
			return nil
		})
	}
	return old, s.onShelves(func(sh *shelves) error {
		err := s.eachRecord(func(e entry, l line) error {
			var r struct {
				Change record.Change `json:"change"`
			}
			if err := l.into(&r); err != nil {
				return err
			}
			if e.visit > 1 && (r.Change == "" || r.Change == record.ChangeUnchanged) {
				return nil
			}
			return sh.add(e)
		})
		if err != nil {
			return err
		}
		return s.eachLink(nil, func(l *record.Link, e entry) error {
			e.key, e.role = keyOf(l.From), roleLink
			return sh.add(e)
		})
	}, func(group []entry) {
		current := uint32(0) // the visit whose links the page has
		for _, e := range group {
			switch {
			case e.role == roleRecord:
				current = e.visit
			case e.visit < current:
				old.set(e.line)
			}
		}
	})
}

// eachEdge calls do with each edge of the link graph: with each pair of pages once, the first of the
// links for which the condition holds; unless nodes is nil, only pages that it names.
func (s *source) eachEdge(condition string, nodes func(add func(url string) error) error, do func(*record.Link) error) error {
	filter, err := compile[record.Link](condition)
	if err != nil {
		return err
	}
	old, err := s.oldLinks()
	if err != nil {
		return err
	}
	others := slices.Clone(old)
	err = s.onShelves(func(sh *shelves) error {
		if nodes != nil {
			err := nodes(func(url string) error { return sh.add(entry{key: keyOf(url), role: roleRecord}) })
			if err != nil {
				return err
			}
		}
		return s.eachLink(old, func(l *record.Link, e entry) error {
			if holds, err := filter.Matches(l); err != nil || !holds {
				others.set(e.line)
				return err
			}
			return addEdge(sh, l, e, nodes != nil)
		})
	}, func(group []entry) {
		switch group[0].role {
		case roleRecord:
			return
		case rolePair:
			group = group[1:]
		}
		for _, e := range group {
			others.set(e.line)
		}
	})
	if err != nil {
		return err
	}
	return s.eachLink(others, func(l *record.Link, _ entry) error { return do(l) })
}

// addEdge puts a link under its pair of pages, and under both of its pages.
func addEdge(sh *shelves, l *record.Link, e entry, ends bool) error {
	e.key, e.role = keyOf(l.From, l.To), rolePair
	err := sh.add(e)
	if err == nil && ends {
		e.key, e.role = keyOf(l.From), roleLink
		err = sh.add(e)
	}
	if err == nil && ends {
		e.key = keyOf(l.To)
		err = sh.add(e)
	}
	return err
}

package export

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// entry is a line of a file under a key: a hash of the URL, or of the URLs, that it speaks of.
type entry struct {
	key   [16]byte
	role  byte   // of the line for the URL
	line  uint64 // its number in the file
	visit uint32
}

// Roles of lines under a URL.
const (
	roleRecord byte = iota // of pages.jsonl
	roleLink               // of links.jsonl or items.jsonl, under a page
	rolePair               // under both of its pages
)

func keyOf(urls ...string) [16]byte {
	sum := sha256.Sum256([]byte(strings.Join(urls, "\x00")))
	return [16]byte(sum[:])
}

// entries brings together what belongs to the same key.
type entries struct{ sorter *extsort.Sorter }

const entrySize = 16 + 1 + 8 + 4

func (s entries) add(e entry) error {
	b := append(make([]byte, 0, entrySize), e.key[:]...)
	b = binary.BigEndian.AppendUint64(append(b, e.role), e.line)
	return s.sorter.Add(binary.BigEndian.AppendUint32(b, e.visit))
}

// each calls judge with the entries by key, role and line. With same, the one before has the key,
// too.
func (s entries) each(ctx context.Context, judge func(e entry, same bool)) error {
	var last entry
	first := true
	return s.sorter.Each(func(b []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := entry{key: [16]byte(b), role: b[16], line: binary.BigEndian.Uint64(b[17:]), visit: binary.BigEndian.Uint32(b[25:])}
		judge(e, !first && e.key == last.key)
		last, first = e, false
		return nil
	})
}

// sorted calls judge with the entries that put adds, in order.
func (s *source) sorted(put func(entries) error, judge func(e entry, same bool)) error {
	all := entries{extsort.New(s.o.Temp)}
	err := put(all)
	if err == nil {
		err = all.each(s.ctx, judge)
	}
	return errors.Join(err, all.sorter.Close())
}

// mark finds the records that later ones of the same URLs replace.
func (s *source) mark() (err error) {
	if s.marked {
		return nil
	}
	s.marked = true
	s.old, s.visits, err = results.Superseded(s.ctx, s.dir, s.o.Visit, s.o.Temp)
	return err
}

// eachRecord reads the URL and the visit of each record.
func (s *source) eachRecord(do func(entry, results.Line) error) error {
	for l, err := range results.Lines(s.ctx, s.dir, results.Pages, nil) {
		if err != nil {
			return err
		}
		url, visit, err := l.URL()
		if err == nil {
			err = do(entry{key: keyOf(string(url)), line: l.N, visit: visit, role: roleRecord}, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachLink reads each link that is not in old, with the number of its line and its visit.
func (s *source) eachLink(old results.Set, do func(*record.Link, entry) error) error {
	for l, err := range s.currentLinks(old) {
		var link record.Link
		if err == nil {
			err = l.Into(&link)
		}
		if err == nil {
			err = do(&link, entry{line: l.N, visit: uint32(max(link.Visit, 1))})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oldLinks finds the links that pages no longer have.
func (s *source) oldLinks() (results.Set, error) {
	return s.superseded(func(do func(string, entry) error) error {
		return s.eachLink(nil, func(l *record.Link, e entry) error { return do(l.From, e) })
	})
}

// superseded finds the lines about a page, of which each calls its function with all, that hold no
// longer: those of an earlier visit than the one that found the page changed, new or gone last.
func (s *source) superseded(each func(func(url string, e entry) error) error) (old results.Set, err error) {
	if err := s.mark(); err != nil {
		return nil, err
	}
	if !s.visits {
		return nil, nil
	}
	if s.o.Visit != 0 {
		return old, each(func(_ string, e entry) error {
			if int(e.visit) != s.o.Visit {
				old.Add(e.line)
			}
			return nil
		})
	}
	current := uint32(0) // the visit whose lines the page has
	return old, s.sorted(func(all entries) error {
		err := s.eachRecord(func(e entry, l results.Line) error {
			var r struct {
				Change record.Change `json:"change"`
			}
			if err := l.Into(&r); err != nil {
				return err
			}
			if e.visit > 1 && (r.Change == "" || r.Change == record.ChangeUnchanged) {
				return nil
			}
			return all.add(e)
		})
		if err != nil {
			return err
		}
		return each(func(url string, e entry) error {
			e.key, e.role = keyOf(url), roleLink
			return all.add(e)
		})
	}, func(e entry, same bool) {
		if !same {
			current = 0
		}
		switch {
		case e.role == roleRecord:
			current = e.visit
		case e.visit < current:
			old.Add(e.line)
		}
	})
}

// eachEdge calls do with each edge of the link graph: with each pair of pages once, the first of
// the links for which the condition holds; unless nodes is nil, only pages that it names.
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
	first := rolePair // of the key
	err = s.sorted(func(all entries) error {
		if nodes != nil {
			err := nodes(func(url string) error { return all.add(entry{key: keyOf(url), role: roleRecord}) })
			if err != nil {
				return err
			}
		}
		return s.eachLink(old, func(l *record.Link, e entry) error {
			if holds, err := matches(filter, condition, l); err != nil || !holds {
				others.Add(e.line)
				return err
			}
			return addEdge(all, l, e, nodes != nil)
		})
	}, func(e entry, same bool) {
		if !same {
			first = e.role
		}
		if first == roleLink || e.role == rolePair && same { // without a node, or repeated
			others.Add(e.line)
		}
	})
	if err != nil {
		return err
	}
	return s.eachLink(others, func(l *record.Link, _ entry) error { return do(l) })
}

// addEdge puts a link under its pair of pages, and under both of its pages.
func addEdge(all entries, l *record.Link, e entry, ends bool) error {
	e.key, e.role = keyOf(l.From, l.To), rolePair
	err := all.add(e)
	if err == nil && ends {
		e.key, e.role = keyOf(l.From), roleLink
		err = all.add(e)
	}
	if err == nil && ends {
		e.key = keyOf(l.To)
		err = all.add(e)
	}
	return err
}

// currentLinks yields the lines of links.jsonl that are not in old.
func (s *source) currentLinks(old results.Set) iter.Seq2[results.Line, error] {
	return orNone(results.Lines(s.ctx, s.dir, linksFile, old), ErrNoLinks)
}

// orNone yields values, and none in place of the error that there is no file of them.
func orNone[T any](values iter.Seq2[T, error], none error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range values {
			if errors.Is(err, fs.ErrNotExist) {
				err = none
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

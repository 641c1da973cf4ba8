package check

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/internal/extsort"
)

// Problem is the findings of one rule that have one subject: the target of links, the title that
// pages share, a sitemap. To mend it is one task, however many pages have it.
type Problem struct {
	Rule      string  `json:"rule"`
	Level     Level   `json:"level"`
	Message   string  `json:"message"`             // of the first finding, or what all of them mean
	URL       string  `json:"url,omitempty"`       // the target, or the sitemap; "": it is of pages
	Error     string  `json:"error,omitempty"`     // of the target, as the fields of a Finding
	Redirects []Hop   `json:"redirects,omitempty"` //
	Pages     int     `json:"pages"`               // that have it; of a sitemap, URLs that it lists
	Findings  int     `json:"findings"`            // links or elements, some on one page
	OnMost    bool    `json:"on_most,omitempty"`   // most pages have it, by a template
	Places    []Place `json:"places"`              // on the first pages, three at most
}

// Place is a place on a page that has a problem.
type Place struct {
	Page    string `json:"page"` // of a problem of a sitemap: the URL that it lists
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Tag     string `json:"tag,omitempty"`
	Attr    string `json:"attr,omitempty"`
	Text    string `json:"text,omitempty"`
	Message string `json:"message,omitempty"` // if each page has its own
}

// mostPlaces bounds the places of a problem.
const mostPlaces = 3

// A problem is on most pages if it is on half of those that were read, and on ten: the pages of a
// small site may all have a fault that somebody wrote into each.
const (
	mostShare = 2
	leastMost = 10
)

// ofSitemap are the rules whose problem is a sitemap, and the places URLs that it lists.
var ofSitemap = []string{RedirectInSitemap, BrokenInSitemap}

// ofEach are the rules whose findings each say something else of their page: the problem is that
// pages are so.
var ofEach = []string{CanonicalElsewhere, NoindexLinked, NotRead, Deep, Slow, Huge}

// problem returns the problem that a finding belongs to, with its place, and the subject that other
// findings of the rule share with it.
func (f *Finding) problem() (p Problem, subject string) {
	at := Place{Page: f.Page, Line: f.Line, Column: f.Column, Tag: f.Tag, Attr: f.Attr, Text: f.Text}
	p = Problem{Rule: f.Rule, Level: f.Level, Message: f.Message, URL: f.target(), Error: f.Error, Redirects: f.Redirects, Pages: 1, Findings: 1}
	switch {
	case slices.Contains(ofSitemap, f.Rule):
		at = Place{Page: f.URL, Message: f.Message}
		p.Message, p.URL, p.Error, p.Redirects = ruleOf(f.Rule).Doc, f.Page, "", nil
		subject = f.Page
	case slices.Contains(ofEach, f.Rule):
		at.Message, p.Message = f.Message, ruleOf(f.Rule).Doc
	default:
		subject = cmp.Or(f.subject, p.URL, f.Message)
	}
	p.Places = []Place{at}
	return p, subject
}

// isOfSitemap reports whether the places are URLs of a sitemap.
func (p *Problem) isOfSitemap() bool { return slices.Contains(ofSitemap, p.Rule) }

// collected are findings of a problem: as many as came between two times that memory was emptied.
type collected struct {
	Problem
	First string `json:"first"` // page
	Last  string `json:"last"`
}

// add takes in what came later. That pages are told apart by the one before is enough, since the
// findings of a page come together.
func (c *collected) add(later *collected) {
	c.Findings += later.Findings
	if c.Pages += later.Pages; later.First == c.Last {
		c.Pages--
	}
	c.Last = later.Last
	for _, at := range later.Places {
		if i, ok := c.rank(&at); ok {
			c.Places = slices.Insert(c.Places, i, at)
			c.Places = c.Places[:min(len(c.Places), mostPlaces)]
		}
	}
}

// rank returns where a place belongs, unless it is none of the first, by their page. A crawl comes
// to pages in another order each time; a report is to be the same.
func (c *collected) rank(at *Place) (i int, ok bool) {
	i, found := slices.BinarySearchFunc(c.Places, at.Page, func(p Place, page string) int { return cmp.Compare(p.Page, page) })
	return i, !found && i < mostPlaces
}

// growth returns how many bytes longer the text gets by a place.
func (c *collected) growth(at *Place) int {
	if _, ok := c.rank(at); !ok {
		return 0
	}
	text, _ := json.Marshal(at) // a struct of strings and numbers
	n := len(text)
	if len(c.Places) == mostPlaces {
		text, _ = json.Marshal(&c.Places[mostPlaces-1])
		n -= len(text)
	}
	return max(0, n)
}

// text returns the findings as JSON, which fits into a line of a sorter behind a key.
func (c *collected) text() []byte {
	for {
		text, _ := json.Marshal(c) // a struct of strings and numbers
		if len(text) < extsort.MaxLine-longestURL-1<<10 || len(c.Places) < 2 {
			return text
		}
		c.Places = c.Places[:len(c.Places)-1]
	}
}

type problemKey [16]byte

// problems brings findings together. Those of one problem that come near one another meet in
// memory. When that is full it goes to disk, in lines that begin with the problem, and what is left
// meets when these are sorted.
type problems struct {
	held    map[problemKey]*collected
	size    int // bytes that they take, about
	most    int // of these
	times   uint32
	lines   *extsort.Sorter
	room    room
	left    int             // findings for which there was no room
	ordered *extsort.Sorter // all problems, in their order; nil: not yet
	count   int             // of these
}

const (
	mostCollected = 8 << 20 // bytes
	costCollected = 300     // of one in memory, beside its text
	sorterMemory  = 4 << 20
)

func newProblems(dir string, bytes int) *problems {
	return &problems{
		held: make(map[problemKey]*collected), most: mostCollected, lines: extsort.NewWithin(dir, sorterMemory),
		room: roomOf(bytes),
	}
}

// add takes in a finding.
func (s *problems) add(f *Finding) error {
	p, subject := f.problem()
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + subject))
	key := problemKey(sum[:16])
	c := s.held[key]
	one := &collected{p, p.Places[0].Page, p.Places[0].Page}
	if c == nil {
		n := len(one.text())
		if !s.room.take(n) {
			s.left++
			return nil
		}
		s.held[key] = one
		s.size += n + costCollected
	} else {
		more := c.growth(&one.Places[0])
		if !s.room.take(more) {
			one.Places, more = nil, 0
		}
		c.add(one)
		s.size += more
	}
	if s.size < s.most {
		return nil
	}
	return s.empty()
}

// empty brings what memory holds to disk.
func (s *problems) empty() error {
	for key, c := range s.held {
		line := binary.BigEndian.AppendUint32(key[:], s.times)
		if err := s.lines.Add(append(line, c.text()...)); err != nil {
			return err
		}
	}
	clear(s.held)
	s.times++
	s.size = 0
	return nil
}

// each calls use for the problems in their order: what is on most of the pages first, then by
// level, number of pages, and URL.
func (s *problems) each(dir string, pages int, use func(*Problem) error) error {
	if err := s.order(dir, pages); err != nil {
		return err
	}
	return s.ordered.Each(func(line []byte) error {
		var p Problem
		_, text, _ := bytes.Cut(line, keyEnd)
		if err := json.Unmarshal(text, &p); err != nil {
			return err
		}
		return use(&p)
	})
}

// order makes findings problems, and sorts these, if that is not done.
func (s *problems) order(dir string, pages int) error {
	if s.ordered != nil {
		return nil
	}
	if err := s.empty(); err != nil {
		return err
	}
	ordered := extsort.NewWithin(dir, sorterMemory)
	var c *collected
	var key problemKey
	count := 0
	whole := func() error {
		if c == nil {
			return nil
		}
		c.OnMost = !c.isOfSitemap() && c.Pages >= leastMost && c.Pages*mostShare >= pages
		line := fmt.Sprintf("%t %d %010d %s\x00%x", !c.OnMost, slices.Index(levels, c.Level), 1_000_000_000-c.Pages, oneLine(cmp.Or(c.URL, c.Places[0].Page)), key)
		count++
		c.text() // leaves out places that do not fit into a line
		text, _ := json.Marshal(&c.Problem)
		return ordered.Add(append(append([]byte(line), keyEnd...), text...))
	}
	err := s.lines.Each(func(line []byte) error {
		next := new(collected)
		if err := json.Unmarshal(line[len(key)+4:], next); err != nil {
			return err
		}
		if c != nil && bytes.HasPrefix(line, key[:]) {
			c.add(next)
			return nil
		}
		if err := whole(); err != nil {
			return err
		}
		c = next
		copy(key[:], line)
		return nil
	})
	if err == nil {
		err = whole()
	}
	if err != nil {
		return errors.Join(err, ordered.Close())
	}
	s.ordered, s.count = ordered, count
	return nil
}

func (s *problems) close() error {
	err := s.lines.Close()
	if s.ordered != nil {
		err = errors.Join(err, s.ordered.Close())
	}
	return err
}

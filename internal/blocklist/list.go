package blocklist

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// The bounds of a list: twice those of the largest lists in common use.
const (
	MaxSize  = 64 << 20  // bytes
	MaxLine  = 64 << 10  // bytes: a rule can name a thousand domains
	MaxRules = 1_000_000 // those that are kept
)

var (
	// ErrLimit is returned when a list is beyond one of the bounds.
	ErrLimit = errors.New("beyond the limit")
	// ErrNoList is returned when a text is no list: no line of it is a rule that can be judged.
	ErrNoList = errors.New("not a list of block rules")
)

// List holds block rules.
type List struct {
	important  table // blocks whatever the exceptions say
	blocking   table
	exceptions table
	pages      table // exceptions for all that a page requests
	skipped    Skipped
}

// Skipped counts rules that a list has and that cannot be judged.
type Skipped struct {
	Rules int
	Line  int    // the first, from 1
	Why   string // of the first
}

// Skipped returns the rules that are not in the list.
func (l *List) Skipped() Skipped { return l.skipped }

// Len returns the number of rules.
func (l *List) Len() int {
	n := len(l.important.rules) + len(l.blocking.rules) + len(l.exceptions.rules)
	for i := range l.pages.rules {
		if l.pages.rules[i].types == typeDocument {
			n++ // not among the exceptions as well
		}
	}
	return n
}

// Read reads a list. Its errors wrap those of r, [ErrLimit] or [ErrNoList].
func Read(r io.Reader) (*List, error) {
	var text strings.Builder // rules are parts of this one text
	if _, err := io.Copy(&text, io.LimitReader(r, MaxSize+1)); err != nil {
		return nil, err
	}
	if text.Len() > MaxSize {
		line := 1 + strings.Count(text.String(), "\n")
		return nil, fmt.Errorf("line %d: %w of %d MiB for a list", line, ErrLimit, MaxSize>>20)
	}
	return parse(strings.TrimPrefix(text.String(), "\ufeff"))
}

func parse(text string) (*List, error) {
	p := parser{}
	for line := range strings.Lines(text) {
		p.number++
		if len(line) > MaxLine {
			return nil, fmt.Errorf("line %d: %w of %d KiB for a line", p.number, ErrLimit, MaxLine>>10)
		}
		if strings.IndexByte(line, 0) >= 0 {
			return nil, fmt.Errorf("line %d: %w: not text", p.number, ErrNoList)
		}
		p.line(line)
		if p.kept > MaxRules {
			return nil, fmt.Errorf("line %d: %w of %d rules", p.number, ErrLimit, MaxRules)
		}
	}
	if s := p.skipped; p.kept == 0 && s.Rules > 0 {
		return nil, fmt.Errorf("line %d: %w: %s", s.Line, ErrNoList, s.Why)
	}
	return &List{
		important:  newTable(p.important),
		blocking:   newTable(p.blocking),
		exceptions: newTable(p.exceptions),
		pages:      newTable(p.pages),
		skipped:    p.skipped,
	}, nil
}

// Request is a request of a page.
type Request struct {
	URL  weburl.URL
	Page weburl.URL // the document in the tab, also for requests of frames in it
	Type string     // as the DevTools protocol names it: Script, Image, ...; Document for a frame
}

// Blocks returns the rule that blocks a request, as it stands in the list, or "". It is not for
// the document of the page itself: lists block what a page requests.
func (l *List) Blocks(r Request) (rule string) {
	q := newQuery(r.URL, r.Page, typeOf(r.Type))
	if by := l.important.find(&q); by != nil {
		return by.line
	}
	by := l.blocking.find(&q)
	if by == nil || l.exceptions.find(&q) != nil || l.passes(r.Page) {
		return ""
	}
	return by.line
}

// Lists are several lists, each with exceptions of its own.
type Lists []*List

// Blocks returns the first rule that blocks a request, or "": see List.Blocks.
func (all Lists) Blocks(r Request) (rule string) {
	for _, l := range all {
		if rule := l.Blocks(r); rule != "" {
			return rule
		}
	}
	return ""
}

// passes reports whether an exception is for all that a page requests.
func (l *List) passes(page weburl.URL) bool {
	if len(l.pages.rules) == 0 {
		return false
	}
	q := newQuery(page, page, typeDocument)
	return l.pages.find(&q) != nil
}

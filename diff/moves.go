package diff

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
)

// fewestWords is the length of a text by which a page is known again.
const fewestWords = 20

// moves are the pages that are on one side alone, or lead elsewhere now, until all URLs are known.
// One that leads to a new page has moved there, and so has one that is gone whose text a new one
// has, and no other.
type moves struct {
	byURL  *extsort.Sorter // new pages by their URL; those that lead elsewhere by their target
	byText *extsort.Sorter // pages that are gone, and new ones
}

// single is such a page.
type single struct {
	Change
	To   string `json:"to,omitempty"`   // its target
	Text uint64 `json:"text,omitempty"` // hash; 0: too short
}

func newMoves(temp string) *moves {
	const held = 4 << 20
	return &moves{extsort.NewWithin(temp, held), extsort.NewWithin(temp, held)}
}

func (m *moves) close() {
	m.byURL.Close()
	m.byText.Close()
}

// gone takes in a page that is on the old side alone.
func (m *moves) gone(c *comparison, r *record.Record, status int, reason string) error {
	one := single{Change: Change{Kind: Gone, URL: r.URL, Title: r.Title, OldStatus: ok(r.Status), NewStatus: status, Reason: reason}}
	one.Text = c.textOf(c.old, r)
	return m.addText(&one)
}

// appeared takes in a page that is on the new side alone.
func (m *moves) appeared(c *comparison, r *record.Record, status int) error {
	one := single{Change: Change{Kind: New, URL: r.URL, Title: r.Title, OldStatus: status, NewStatus: ok(r.Status)}}
	one.Text = c.textOf(c.new, r)
	return add(m.byURL, []byte(one.URL+"\x00n"), &one)
}

// redirected takes in a page that leads elsewhere now.
func (m *moves) redirected(c *comparison, old, new *record.Record) error {
	one := single{Change: Change{Kind: Changed, URL: old.URL, Title: old.Title, OldStatus: ok(old.Status), NewStatus: new.Status, Details: statusDetails(old, new)}, To: new.Redirect}
	return add(m.byURL, []byte(one.To+"\x00r"), &one)
}

func add(to *extsort.Sorter, key []byte, one *single) error {
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	return to.Add(append(append(key, 0), text...))
}

func (m *moves) addText(one *single) error {
	key := binary.BigEndian.AppendUint64(nil, one.Text)
	return add(m.byText, append(key, one.Kind[0]), one)
}

// settle tells all of them.
func (m *moves) settle(c *comparison) error {
	var target *single // the new page at the URL, if there is one
	taken := false     // and a page has moved there
	flush := func() error {
		if target == nil || taken {
			return nil
		}
		return m.addText(target)
	}
	err := each(m.byURL, func(key string, one *single) error {
		if one.Kind == New {
			if err := flush(); err != nil {
				return err
			}
			target, taken = one, false
			return nil
		}
		if target == nil || target.URL != one.To {
			return c.tell(&one.Change)
		}
		taken = true
		return c.tell(moved(&one.Change, &target.Change, "redirect: "+strconv.Itoa(one.NewStatus)))
	})
	if err = errors.Join(err, flush()); err != nil {
		return err
	}
	var g group
	if err := each(m.byText, func(_ string, one *single) error { return g.add(c, one) }); err != nil {
		return err
	}
	return g.end(c)
}

// each calls use for the pages in a sorter.
func each(from *extsort.Sorter, use func(key string, one *single) error) error {
	return from.Each(func(line []byte) error {
		at := len(line)
		for i := range line {
			if line[i] == '{' && i > 0 && line[i-1] == 0 {
				at = i
				break
			}
		}
		one := new(single)
		if err := json.Unmarshal(line[at:], one); err != nil {
			return err
		}
		return use(string(line[:max(0, at-1)]), one)
	})
}

// moved is a page at its new URL.
func moved(old, new *Change, reason string) *Change {
	c := &Change{Kind: Moved, URL: new.URL, From: old.URL, Title: new.Title, OldStatus: old.OldStatus, NewStatus: new.NewStatus, Reason: reason}
	if old.Title != new.Title && old.Title != "" {
		c.Details = []Detail{{Field: Title, Old: old.Title, New: new.Title, Words: wordsOf(old.Title, new.Title)}}
	}
	return c
}

// group is the pages with the same text: the first that is gone and the first new one.
type group struct {
	text      uint64
	gone, new *single
	many      bool
}

func (g *group) add(c *comparison, one *single) error {
	if one.Text == 0 {
		return c.tell(&one.Change)
	}
	if g.text != one.Text {
		if err := g.end(c); err != nil {
			return err
		}
		*g = group{text: one.Text}
	}
	held := &g.gone
	if one.Kind == New {
		held = &g.new
	}
	if *held == nil {
		*held = one
		return nil
	}
	g.many = true
	return c.tell(&one.Change)
}

func (g *group) end(c *comparison) error {
	if g.gone != nil && g.new != nil && !g.many {
		return c.tell(moved(&g.gone.Change, &g.new.Change, "same text"))
	}
	for _, one := range []*single{g.gone, g.new} {
		if one != nil {
			if err := c.tell(&one.Change); err != nil {
				return err
			}
		}
	}
	return nil
}

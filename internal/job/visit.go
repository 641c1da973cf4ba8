package job

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/weburl"
)

// StartVisit makes URLs of the job pending again, if a visit starts, or if one was killed while it
// started: all but those that are gone for long, or those that are chosen.
func (j *Job) StartVisit(ctx context.Context) error {
	if !j.History.Turning {
		return nil
	}
	visit := j.History.Summary.Visit
	stays := func(e *store.Entry) (bool, error) { return rests(e, visit), nil }
	if j.narrowing.only != nil {
		chosen, err := j.chosen(ctx)
		if err != nil {
			return err
		}
		defer chosen.close()
		stays = func(e *store.Entry) (bool, error) {
			has, err := chosen.has(e)
			return !has, err
		}
	}
	if d := j.narrowing.olderThan; d > 0 {
		before, other := time.Now().Add(-d), stays
		stays = func(e *store.Entry) (bool, error) {
			stay, err := other(e) // which counts on every entry
			return stay || asked(e).After(before), err
		}
	}
	if err := j.Store.Recrawl(ctx, j.knownFirst, j.Plan.Depth > 0, stays); err != nil {
		return err
	}
	left, err := j.Store.Counts()
	if err != nil {
		return err
	}
	j.History.Turning, j.History.Kept = false, Kept{left.Done, left.Refused}
	j.History.Summary.Skipped = left.Done + left.Refused
	b := j.Store.Begin()
	j.SetHistory(b, j.History)
	return j.Store.Commit(b)
}

// rests reports whether a visit does not ask a URL, as it is gone for long: see
// docs/adr/0047-what-is-gone-is-asked-ever-more-rarely.md.
func rests(e *store.Entry, visit int) bool {
	k := e.URL.Known
	return e.State == store.Done && e.URL.From != "" && k != nil && k.Gone > 0 && visit < NextAsked(k.Gone, k.Number)
}

// Bounds on Resting: entries, and bytes of their URLs.
const (
	mostResting     = 1 << 14
	mostRestingText = 1 << 20
)

// Resting returns the first of the URLs that the visit does not ask, as they are gone for long. If
// it asks chosen URLs only, there are none.
func (j *Job) Resting(ctx context.Context) (map[refs.Key]weburl.URL, error) {
	if j.History.Narrowed || j.History.Kept.Done == 0 {
		return nil, nil
	}
	all, text := make(map[refs.Key]weburl.URL), 0
	for e, err := range j.Store.URLs(store.Done, "") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if !rests(&e, j.History.Summary.Visit) || e.URL.Role.Beyond() {
			continue
		}
		if text += len(e.URL.URL.String()); len(all) == mostResting || text > mostRestingText {
			break
		}
		all[refs.KeyOf(e.URL.URL)] = e.URL.URL
	}
	return all, nil
}

// NextAsked returns the number of the visit that asks a URL again which is gone since one visit,
// and was asked last by another: the first one that is twice as long after that as the last was.
func NextAsked(gone, last int) int { return gone + max(1, 2*(last-gone)) }

// asked returns when a finished URL was asked last, or refused.
func asked(e *store.Entry) time.Time {
	if n := len(e.URL.Past); e.State == store.Done && n > 0 {
		return e.URL.Past[n-1].At
	}
	return e.At
}

// choice is the URLs whose last records are selected, in the order of the store's entries.
type choice struct {
	next func() ([]byte, error, bool)
	stop func()

	key  string // of the URL that was read last: see keyOf
	is   bool   // it is selected
	line []byte // read before its turn; nil: the end
}

// Parts of a line of choices, behind the key of the URL: its number, and whether it is selected. A
// later line of the same URL counts.
const choiceTail = 1 + 8 + 1

// chosen reads the records of the job.
func (j *Job) chosen(ctx context.Context) (*choice, error) {
	f, err := j.Files.Open(j.Files.PathJoin(j.Dir, PagesFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sorter := extsort.New(j.temp())
	in := bufio.NewReader(io.NewSectionReader(f, 0, 1<<62))
	var line []byte
	for n := uint64(0); ; n++ {
		r, _, err := readRecord(in)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = ctx.Err()
		} else {
			err = Damaged("records", err)
		}
		if err == nil && len(r.URL) < extsort.MaxLine/2 { // a longer one stays as it is
			line = append(append(line[:0], keyOf(r.URL, r.Role != "")...), 0)
			line = binary.BigEndian.AppendUint64(line, n)
			selected := byte(0)
			if j.narrowing.only(&r) {
				selected = 1
			}
			err = sorter.Add(append(line, selected))
		}
		if err != nil {
			sorter.Close()
			return nil, err
		}
	}
	c := &choice{}
	next, stop := iter.Pull2(func(yield func([]byte, error) bool) {
		err := sorter.Each(func(line []byte) error {
			if !yield(line, nil) {
				return io.EOF
			}
			return nil
		})
		if err != nil && err != io.EOF {
			yield(nil, err)
		}
	})
	c.next = next
	c.stop = func() {
		stop()
		sorter.Close()
	}
	return c, c.read()
}

// temp is the folder for files that do not outlive the run.
func (j *Job) temp() string {
	if j.Files == store.Disk {
		return j.Dir
	}
	return ""
}

// keyOf returns what the entry of a URL is under in the store.
func keyOf(url string, beyond bool) string {
	if beyond {
		url += "#"
	}
	return url
}

func (c *choice) close() { c.stop() }

// read reads a line.
func (c *choice) read() error {
	line, err, ok := c.next()
	if c.line = line; !ok {
		c.line = nil
	}
	return err
}

// has reports whether the URL of an entry is selected.
func (c *choice) has(e *store.Entry) (bool, error) {
	key := keyOf(e.URL.URL.String(), e.URL.Role.Beyond())
	for c.line != nil {
		at := len(c.line) - choiceTail
		switch order := strings.Compare(string(c.line[:at]), key); {
		case order > 0:
			return c.key == key && c.is, nil
		case order == 0:
			c.key, c.is = key, c.line[len(c.line)-1] == 1
		}
		if err := c.read(); err != nil {
			return false, err
		}
	}
	return c.key == key && c.is, nil
}

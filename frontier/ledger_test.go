package frontier_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// ledger is a ledger in memory: what it is told is a note until it is committed, in
// order, to what outlives the process. Notes that cannot be right are errors.
type ledger struct {
	t     *testing.T
	notes []func(*durable)
	durable
}

// durable is what outlives the process.
type durable struct {
	t       *testing.T
	seq     uint64 // the largest
	seen    map[weburl.URL]bool
	pending map[string][]frontier.URL // by host, in order
	done    map[weburl.URL]frontier.URL
	refused map[weburl.URL]frontier.Refusal
	dropped map[weburl.URL]bool
	hosts   map[string]frontier.HostState
	rules   map[string]robots.Rules
	hops    map[[16]byte]redirected
	counts  frontier.Stats
}

type redirected struct {
	fewest int
	target *frontier.URL
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, durable: durable{
		t:       t,
		seen:    make(map[weburl.URL]bool),
		pending: make(map[string][]frontier.URL),
		done:    make(map[weburl.URL]frontier.URL),
		refused: make(map[weburl.URL]frontier.Refusal),
		dropped: make(map[weburl.URL]bool),
		hosts:   make(map[string]frontier.HostState),
		rules:   make(map[string]robots.Rules),
		hops:    make(map[[16]byte]redirected),
	}}
}

func (l *ledger) note(note func(*durable)) { l.notes = append(l.notes, note) }

func (l *ledger) Pending(u frontier.URL) {
	l.note(func(d *durable) {
		if _, done := d.done[u.URL]; done || d.refused[u.URL].Kind != "" {
			d.t.Errorf("%s is pending, and was done or refused", u.URL)
		}
		if !d.seen[u.URL] && u.Seq <= d.seq {
			d.t.Errorf("%s has Seq %d, and there was %d", u.URL, u.Seq, d.seq)
		}
		d.seen[u.URL] = true
		delete(d.dropped, u.URL)
		d.put(u)
	})
}

func (l *ledger) Retried(u frontier.URL, was frontier.Place) {
	l.note(func(d *durable) {
		d.take(u.URL, was)
		d.put(u)
	})
}

func (l *ledger) Done(u frontier.URL) {
	l.note(func(d *durable) {
		if _, done := d.done[u.URL]; done {
			d.t.Errorf("%s is done twice", u.URL)
		}
		d.take(u.URL, u.Place())
		d.done[u.URL] = u
	})
}

func (l *ledger) Refused(r frontier.Refusal, at time.Time) {
	l.note(func(d *durable) {
		d.take(r.URL.URL, r.URL.Place())
		d.refused[r.URL.URL] = r
	})
}

func (l *ledger) Dropped(u frontier.URL) {
	l.note(func(d *durable) {
		if d.seen[u.URL] {
			d.t.Errorf("%s is dropped as new, and was seen", u.URL)
		}
		d.seen[u.URL], d.dropped[u.URL] = true, true
	})
}

func (l *ledger) OverLimit(host string) {
	l.note(func(d *durable) {
		d.pending[host] = slices.DeleteFunc(d.pending[host], func(u frontier.URL) bool {
			if u.Place().Tried {
				return false
			}
			d.dropped[u.URL] = true
			return true
		})
	})
}

func (l *ledger) Rules(host string, r robots.Rules) {
	l.note(func(d *durable) { d.rules[host] = r })
}

func (l *ledger) Redirected(fp [16]byte, fewest int, target *frontier.URL) {
	l.note(func(d *durable) { d.hops[fp] = redirected{fewest, target} })
}

func (l *ledger) Host(h frontier.HostState) {
	l.note(func(d *durable) { d.hosts[h.Name] = h })
}

func (l *ledger) Counts(s frontier.Stats) {
	l.note(func(d *durable) { d.counts = s })
}

// commit makes the notes outlive the process, and checks the counts.
func (l *ledger) commit() {
	for _, note := range l.notes {
		note(&l.durable)
	}
	l.notes = nil
	for host, urls := range l.pending {
		tried := 0
		for _, u := range urls {
			if u.Tries > 0 {
				tried++
			}
		}
		if h := l.hosts[host]; h.Pending != len(urls) || h.Tried != tried {
			l.t.Errorf("%s has %d pending, %d of them tried; in the ledger are %d and %d", host, h.Pending, h.Tried, len(urls), tried)
		}
	}
	if c := l.counts; c.Done != len(l.done) || c.Refused != len(l.refused) || c.OverLimit != len(l.dropped) {
		l.t.Errorf("%d done, %d refused, %d over the limit; in the ledger are %d, %d, %d", c.Done, c.Refused, c.OverLimit, len(l.done), len(l.refused), len(l.dropped))
	}
	if l.t.Failed() {
		l.t.FailNow()
	}
}

// restore returns a frontier that begins where the ledger was committed last.
func (l *ledger) restore(cfg frontier.Config, now time.Time) *frontier.Frontier {
	l.notes = nil
	f := frontier.New(cfg)
	f.Grow(len(l.seen))
	f.RestoreStats(l.counts)
	for u := range l.seen {
		f.RestoreSeen(u.Fingerprint())
	}
	for _, name := range slices.Sorted(maps.Keys(l.hosts)) {
		f.RestoreHost(now, l.hosts[name], l.rules[name])
	}
	for fp, h := range l.hops {
		f.RestoreRedirected(fp, h.fewest, h.target)
	}
	f.RestoreSeq(l.seq + 1)
	f.Tell(l)
	return f
}

// read returns what a Want asks for.
func (d *durable) read(w frontier.Want) (urls []frontier.URL, more bool) {
	for _, u := range d.pending[w.Host] {
		switch {
		case u.Place().Compare(w.After) <= 0:
		case len(urls) == w.N:
			return urls, true
		default:
			urls = append(urls, u)
		}
	}
	return urls, false
}

// put puts a URL where it stands.
func (d *durable) put(u frontier.URL) {
	d.seq = max(d.seq, u.Seq)
	host := u.URL.Origin()
	i, found := slices.BinarySearchFunc(d.pending[host], u.Place(), byPlace)
	if found {
		d.t.Errorf("%s is pending at %+v, where another is", u.URL, u.Place())
	}
	d.pending[host] = slices.Insert(d.pending[host], i, u)
}

// take takes a URL from where it stands.
func (d *durable) take(u weburl.URL, place frontier.Place) {
	urls := d.pending[u.Origin()]
	i, found := slices.BinarySearchFunc(urls, place, byPlace)
	if !found || urls[i].URL != u {
		d.t.Errorf("%s is not pending at %+v", u, place)
		return
	}
	d.pending[u.Origin()] = slices.Delete(urls, i, i+1)
}

func byPlace(u frontier.URL, p frontier.Place) int { return u.Place().Compare(p) }

func (d *durable) String() string {
	return fmt.Sprintf("%d seen, %d done, %d refused, %d dropped", len(d.seen), len(d.done), len(d.refused), len(d.dropped))
}

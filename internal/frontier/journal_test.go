package frontier_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// journal is a journal in memory: what it records is a note until it is committed, in order, to
// what outlives the process. Impossible notes are errors.
type journal struct {
	t     *testing.T
	notes []note
	durable
}

type note struct {
	text  func() string // formatted on demand: few tests print their notes
	apply func(*durable)
}

// durable is the state that outlives the process.
type durable struct {
	t       *testing.T
	seq     uint64 // the largest
	seen    map[weburl.URL]bool
	pending map[string][]frontier.URL // by origin, in order
	done    map[weburl.URL]frontier.URL
	refused map[weburl.URL]frontier.Refusal
	dropped map[weburl.URL]frontier.Drop
	origins map[string]frontier.OriginState
	rules   map[string]robots.Rules
	hops    map[[16]byte]redirected
	paths   map[[16]byte]int // variants
	nearer  map[weburl.URL]frontier.URL
	names   []string // of origins, sorted; see originNames
	counts  frontier.Stats
}

type redirected struct {
	fewest int
	target *frontier.URL
}

func newJournal(t *testing.T) *journal {
	return &journal{t: t, durable: durable{
		t:       t,
		seen:    make(map[weburl.URL]bool),
		pending: make(map[string][]frontier.URL),
		done:    make(map[weburl.URL]frontier.URL),
		refused: make(map[weburl.URL]frontier.Refusal),
		dropped: make(map[weburl.URL]frontier.Drop),
		origins: make(map[string]frontier.OriginState),
		rules:   make(map[string]robots.Rules),
		hops:    make(map[[16]byte]redirected),
		paths:   make(map[[16]byte]int),
		nearer:  make(map[weburl.URL]frontier.URL),
	}}
}

func (l *journal) note(text func() string, apply func(*durable)) {
	l.notes = append(l.notes, note{text, apply})
}

func (l *journal) Pending(u frontier.URL) {
	l.note(func() string {
		return fmt.Sprintf("pending %s at %s", short(u), key(u.QueueKey()))
	}, func(d *durable) {
		if _, done := d.done[u.URL]; done != (u.Tries > 0) || d.refused[u.URL].Kind != "" {
			d.t.Errorf("%s is pending after %d tries, and done is %t", u.URL, u.Tries, done)
		}
		delete(d.done, u.URL)
		if !d.seen[u.URL] && u.Seq <= d.seq {
			d.t.Errorf("%s has Seq %d, and there was %d", u.URL, u.Seq, d.seq)
		}
		d.seen[u.URL] = true
		delete(d.dropped, u.URL)
		d.put(u)
	})
}

func (l *journal) Retried(u frontier.URL, was frontier.QueueKey) {
	l.note(func() string {
		return fmt.Sprintf("%s is pending at %s, was at %s, not before %v, after %s", short(u), key(u.QueueKey()), key(was), u.NotBefore.Sub(epoch), past(u))
	}, func(d *durable) {
		d.take(u.URL, was)
		d.put(u)
	})
}

func (l *journal) Moved(u frontier.URL, was frontier.QueueKey) {
	l.note(func() string {
		return fmt.Sprintf("%s is pending at %s, was at %s", short(u), key(u.QueueKey()), key(was))
	}, func(d *durable) {
		d.take(u.URL, was)
		d.put(u)
	})
}

func (l *journal) Nearer(u frontier.URL, open bool) {
	l.note(func() string {
		return fmt.Sprintf("another way to %s: %v", short(u), open)
	}, func(d *durable) {
		if d.nearer[u.URL] = u; !open {
			delete(d.nearer, u.URL)
		}
	})
}

func (l *journal) Done(u frontier.URL) {
	l.note(func() string {
		return fmt.Sprintf("done %s at %s", short(u), key(u.QueueKey()))
	}, func(d *durable) {
		if _, done := d.done[u.URL]; done {
			d.t.Errorf("%s is done twice", u.URL)
		}
		d.take(u.URL, u.QueueKey())
		d.done[u.URL] = u
	})
}

func (l *journal) Refused(r frontier.Refusal, at time.Time) {
	l.note(func() string {
		return fmt.Sprintf("refused %s at %s: %s: %s", short(r.URL), key(r.URL.QueueKey()), r.Kind, r.Reason)
	}, func(d *durable) {
		d.take(r.URL.URL, r.URL.QueueKey())
		d.refused[r.URL.URL] = r
	})
}

func (l *journal) Dropped(u frontier.URL, why frontier.Drop) {
	l.note(func() string {
		text := "dropped " + short(u)
		if why == frontier.DropVariants {
			text += ", a variant"
		}
		return text
	}, func(d *durable) {
		if d.seen[u.URL] {
			d.t.Errorf("%s is dropped as new, and was seen", u.URL)
		}
		d.seen[u.URL], d.dropped[u.URL] = true, why
	})
}

func (l *journal) Variants(_ string, key [16]byte, n int) {
	l.note(func() string {
		return fmt.Sprintf("%d variants", n)
	}, func(d *durable) {
		if d.paths[key] >= n {
			d.t.Errorf("%d variants of a path, and there were %d", n, d.paths[key])
		}
		d.paths[key] = n
	})
}

func (l *journal) OverLimit(origin string) {
	l.note(func() string {
		return "over limit: " + origin
	}, func(d *durable) {
		d.pending[origin] = slices.DeleteFunc(d.pending[origin], func(u frontier.URL) bool {
			if u.QueueKey().Tried {
				return false
			}
			d.dropped[u.URL] = frontier.DropHost
			return true
		})
	})
}

func (l *journal) Rules(origin string, r robots.Rules) {
	l.note(func() string {
		return "rules of " + origin
	}, func(d *durable) { d.rules[origin] = r })
}

func (l *journal) Redirected(fp [16]byte, fewest int, target *frontier.URL) {
	var to frontier.URL // now: it may change
	if target != nil {
		to = *target
	}
	l.note(func() string {
		switch {
		case fewest == 0:
			return "how many redirects lead there is forgotten"
		case target == nil:
			return fmt.Sprintf("led to by %d redirects", fewest)
		}
		return fmt.Sprintf("led to by %d redirects, target %s", fewest, short(to))
	}, func(d *durable) {
		d.hops[fp] = redirected{fewest, target}
		if fewest == 0 {
			delete(d.hops, fp)
		}
	})
}

func (l *journal) Origin(o frontier.OriginState) {
	l.note(func() string {
		return originText(o)
	}, func(d *durable) { d.origins[o.Name] = o })
}

func (l *journal) Counts(s frontier.Stats) {
	l.note(func() string {
		text := fmt.Sprintf("counts: %d done, %d refused, %d over limit, %d duplicates", s.Done, s.Refused, s.OverLimit, s.Duplicates)
		if s.OverVariants > 0 {
			text += fmt.Sprintf(", %d over variants", s.OverVariants)
		}
		return text
	}, func(d *durable) { d.counts = s })
}

// commit makes the notes outlive the process, and checks the counts.
func (l *journal) commit() { l.commitFirst(len(l.notes)) }

// commitFirst commits a number of notes, the last of which are those of NoteOrigins.
func (l *journal) commitFirst(n int) {
	for _, note := range l.notes[:n] {
		note.apply(&l.durable)
	}
	l.notes = slices.Clone(l.notes[n:])
	for origin, urls := range l.pending {
		tried := 0
		for i := range urls {
			if urls[i].Tries > 0 {
				tried++
			}
		}
		if o := l.origins[origin]; o.Pending != len(urls) || o.Tried != tried {
			l.t.Errorf("%s has %d pending, %d of them tried; in the journal are %d and %d", origin, o.Pending, o.Tried, len(urls), tried)
		}
	}
	if c := l.counts; c.Done != len(l.done) || c.Refused != len(l.refused) || c.OverLimit+c.OverVariants != len(l.dropped) {
		l.t.Errorf("%d done, %d refused, %d dropped; in the journal are %d, %d, %d", c.Done, c.Refused, c.OverLimit+c.OverVariants, len(l.done), len(l.refused), len(l.dropped))
	}
	if l.t.Failed() {
		l.t.FailNow()
	}
}

// restore returns a frontier that starts from the last commit.
func (l *journal) restore(cfg frontier.Config, now time.Time) *frontier.Frontier {
	l.notes = nil
	r := frontier.Restore(cfg)
	r.Stats(l.counts)
	for u := range l.seen {
		r.Seen(u.Fingerprint())
	}
	names := l.originNames()
	whole := true
	for _, name := range names {
		whole = r.Origin(now, l.origins[name], l.rules[name]) && whole
	}
	for _, name := range names {
		if !whole {
			r.Beside(l.origins[name], l.rules[name])
		}
	}
	for fp, h := range l.hops {
		r.Redirected(fp, h.fewest, h.target)
	}
	for key, n := range l.paths {
		r.Variants(key, n)
	}
	for _, u := range l.nearer {
		r.Nearer(u)
	}
	r.Seq(l.seq + 1)
	f := r.Frontier()
	f.SetJournal(l)
	return f
}

// lookup answers a request of Prepare.
func (d *durable) lookup(r frontier.Request) frontier.Page {
	p := frontier.Page{Request: r, Seen: make([]bool, len(r.Fingerprints))}
	if len(r.Fingerprints) > 0 {
		for u := range d.seen {
			if i, ok := slices.BinarySearchFunc(r.Fingerprints, u.Fingerprint(), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }); ok {
				p.Seen[i] = true
			}
		}
	}
	for _, origin := range d.originNames() {
		if slices.Contains(r.Names, nameOf(origin)) {
			p.Origins = append(p.Origins, frontier.StoredOrigin{OriginState: d.origins[origin], Rules: d.rules[origin]})
		}
	}
	return p
}

// dormant answers a Revive, after a look at a number of origins at most.
func (d *durable) dormant(r frontier.Request, most int) frontier.Page {
	last := ""
	names := make(map[string]bool)
	for _, origin := range d.originNames() {
		if origin <= r.Cursor {
			continue
		}
		if len(names) == r.N || most == 0 {
			break
		}
		most--
		if o := d.origins[origin]; o.Pending > 0 && (o.Tried > 0 || !r.Tried) {
			names[nameOf(origin)] = true
		}
		last = origin
	}
	if all := d.originNames(); len(all) > 0 && last == all[len(all)-1] {
		last = ""
	}
	p := frontier.Page{Request: r, Last: last}
	for _, origin := range d.originNames() {
		if names[nameOf(origin)] {
			p.Origins = append(p.Origins, frontier.StoredOrigin{OriginState: d.origins[origin], Rules: d.rules[origin]})
		}
	}
	return p
}

// originNames returns the names of all origins, sorted. Origins are never removed.
func (d *durable) originNames() []string {
	if len(d.names) < len(d.origins) {
		d.names = slices.Sorted(maps.Keys(d.origins))
	}
	return d.names
}

// nameOf returns the host name of an origin.
func nameOf(origin string) string {
	_, name, _ := strings.Cut(origin, "://")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// read answers a Refill.
func (d *durable) read(r frontier.Request) frontier.Page {
	p := frontier.Page{Request: r}
	i, found := d.search(r.Origin, r.After)
	if found {
		i++
	}
	after := d.pending[r.Origin][i:]
	p.URLs, p.More = slices.Clone(after[:min(r.N, len(after))]), len(after) > r.N
	return p
}

// find answers a Find.
func (d *durable) find(r frontier.Request) frontier.Page {
	p := frontier.Page{Request: r}
	names := make(map[string]bool)
	for _, urls := range d.pending {
		for _, u := range urls {
			if slices.Contains(r.URLs, u.URL) {
				p.URLs = append(p.URLs, u)
				names[u.URL.Hostname()] = true
			}
		}
	}
	for _, origin := range d.originNames() {
		if names[nameOf(origin)] {
			p.Origins = append(p.Origins, frontier.StoredOrigin{OriginState: d.origins[origin], Rules: d.rules[origin]})
		}
	}
	return p
}

// put adds a pending URL under its queue key.
func (d *durable) put(u frontier.URL) {
	d.seq = max(d.seq, u.Seq)
	origin := u.URL.Origin()
	i, found := d.search(origin, u.QueueKey())
	if found {
		d.t.Errorf("%s is pending at %+v, where another is", u.URL, u.QueueKey())
	}
	d.pending[origin] = slices.Insert(d.pending[origin], i, u)
}

// take removes a pending URL from under its queue key.
func (d *durable) take(u weburl.URL, key frontier.QueueKey) {
	urls := d.pending[u.Origin()]
	i, found := d.search(u.Origin(), key)
	switch {
	case !found || urls[i].URL != u:
		d.t.Errorf("%s is not pending at %+v", u, key)
	case i == 0: // mostly; to move the others would take most of a test's time
		d.pending[u.Origin()] = urls[1:]
	default:
		d.pending[u.Origin()] = slices.Delete(urls, i, i+1)
	}
}

// search returns where a queue key is, or belongs, among the pending URLs of an origin.
func (d *durable) search(origin string, key frontier.QueueKey) (i int, found bool) {
	urls := d.pending[origin]
	return sort.Find(len(urls), func(i int) int { return key.Compare(urls[i].QueueKey()) })
}

// key is a QueueKey in words: "d2 #7", with priority "p1 d2 #7".
func key(p frontier.QueueKey) string {
	text := fmt.Sprintf("d%d #%d", p.Depth, p.Seq)
	if p.Priority != 0 {
		text = fmt.Sprintf("p%d %s", p.Priority, text)
	}
	if p.Tried {
		text = "tried " + text
	}
	return text
}

// past says how the tries of a URL ended.
func past(u frontier.URL) string {
	var all []string
	for _, try := range u.Past {
		all = append(all, try.Kind)
	}
	return strings.Join(all, ", ")
}

// originText describes what is not zero of an OriginState.
func originText(o frontier.OriginState) string {
	text := fmt.Sprintf("%s: %d pending, %d tried, %d answered", o.Name, o.Pending, o.Tried, o.Answered)
	if o.Capped {
		text += ", capped"
	}
	if !o.Asked.IsZero() {
		text += fmt.Sprintf(", asked at %v", o.Asked.Sub(epoch))
	}
	if o.Took > 0 {
		text += fmt.Sprintf(", took %v at best %v", o.Took, o.Best)
	}
	if o.Most > 0 {
		text += fmt.Sprintf(", %d at once", o.Most)
	}
	if o.Overload {
		text += fmt.Sprintf(", overload %d, backs off until %v", o.Strikes, o.BackOffEnd.Sub(epoch))
	}
	r := o.Robots
	if r.Have {
		text += ", has rules"
	}
	if r.Shut {
		text += fmt.Sprintf(", shut: %s: %s", r.Kind, r.Reason)
	}
	if !r.Until.IsZero() {
		text += fmt.Sprintf(", until %v", r.Until.Sub(epoch))
	}
	if r.Tries > 0 {
		text += fmt.Sprintf(", failed %d times", r.Tries)
	}
	return text
}

// TestRedirectsAreForgotten checks that the hops of a redirect's target are forgotten when it ends,
// is dropped or is linked to, unless it redirects itself.
func TestRedirectsAreForgotten(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   frontier.Config
		after func(f *frontier.Frontier, target frontier.URL)
		kept  int
	}{
		{name: "pending", after: func(*frontier.Frontier, frontier.URL) {}, kept: 1},
		{name: "done", after: func(f *frontier.Frontier, target frontier.URL) {
			f.Done(at(0), f.Lease(at(0), 1)[0], frontier.Result{})
		}},
		{name: "redirects itself", after: func(f *frontier.Frontier, target frontier.URL) {
			lease := f.Lease(at(0), 1)[0]
			f.Redirect(lease, u(t, "a/seed"))
			f.Done(at(0), lease, frontier.Result{})
		}, kept: 1},
		{name: "linked to", after: func(f *frontier.Frontier, target frontier.URL) { f.Add(target) }},
		{name: "refused", after: func(f *frontier.Frontier, target frontier.URL) {
			f.RefuseBy(func(*frontier.URL) (kind, reason string) { return "scope", "" })
			f.Lease(at(0), 1)
		}},
		{name: "dropped", cfg: frontier.Config{LimitPerHost: 1}, after: func(*frontier.Frontier, frontier.URL) {}},
		{name: "dropped from the queue", cfg: frontier.Config{LimitPerHost: 2}, after: func(f *frontier.Frontier, target frontier.URL) {
			first := u(t, "a/first")
			first.Priority = 1
			f.Add(first)
			f.Lease(at(0), 1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.PerHost, c.cfg.MaxRedirects = 4, 3
			l := newJournal(t)
			f := frontier.New(c.cfg)
			f.SetJournal(l)
			f.Add(u(t, "a/seed"))
			lease := f.Lease(at(0), 1)[0]
			target := u(t, "a/target")
			target.From = "http://a.example/seed"
			f.Redirect(lease, target)
			f.Done(at(0), lease, frontier.Result{})
			c.after(f, target)
			f.NoteOrigins()
			l.commit()
			if len(l.hops) != c.kept {
				t.Errorf("%d are kept, expected %d", len(l.hops), c.kept)
			}
		})
	}
}

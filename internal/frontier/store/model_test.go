package store_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// model is the expected content of a store, kept in maps.
type model struct {
	seen      map[[16]byte]bool
	pending   map[string]frontier.URL // by URL
	ended     map[string]string       // by URL
	origins   map[string]frontier.OriginState
	rules     map[string]robots.Rules
	redirects map[[16]byte]string
	drops     map[string]frontier.Drop // by URL
	variants  map[[16]byte]int
	notes     map[string]string
	outputs   map[string]string
	counts    frontier.Stats
	next      uint64
}

func newModel() *model {
	return &model{
		seen: map[[16]byte]bool{}, pending: map[string]frontier.URL{}, ended: map[string]string{}, origins: map[string]frontier.OriginState{},
		rules: map[string]robots.Rules{}, redirects: map[[16]byte]string{}, drops: map[string]frontier.Drop{}, variants: map[[16]byte]int{}, notes: map[string]string{},
		outputs: map[string]string{"pages.jsonl": "", "links.jsonl": ""}, next: 1,
	}
}

var outputs = []string{"pages.jsonl", "links.jsonl"}

func (m *model) clone() *model {
	return &model{
		maps.Clone(m.seen), maps.Clone(m.pending), maps.Clone(m.ended), maps.Clone(m.origins), maps.Clone(m.rules),
		maps.Clone(m.redirects), maps.Clone(m.drops), maps.Clone(m.variants), maps.Clone(m.notes), maps.Clone(m.outputs), m.counts, m.next,
	}
}

// dump returns the whole model, one entry per line, including the order of each origin's queue.
func (m *model) dump() string {
	var b strings.Builder
	for fp := range m.seen {
		fmt.Fprintf(&b, "seen %x\n", fp)
	}
	queues := make(map[string][]frontier.URL)
	for _, u := range m.pending {
		queues[u.URL.Origin()] = append(queues[u.URL.Origin()], u)
	}
	for origin, q := range queues {
		slices.SortFunc(q, func(a, b frontier.URL) int { return a.QueueKey().Compare(b.QueueKey()) })
		for i, u := range q {
			fmt.Fprintf(&b, "pending %s %d: %s\n", origin, i, text(u))
		}
	}
	for _, line := range m.ended {
		b.WriteString(line)
	}
	for name, o := range m.origins {
		fmt.Fprintf(&b, "origin %v, rules %v\n", o, m.rules[name])
	}
	for fp, r := range m.redirects {
		fmt.Fprintf(&b, "redirect %x %s\n", fp, r)
	}
	for key, n := range m.variants {
		fmt.Fprintf(&b, "variants %x %d\n", key, n)
	}
	for name, note := range m.notes {
		fmt.Fprintf(&b, "note %s %q\n", name, note)
	}
	fmt.Fprintf(&b, "counts %v\nnext %d\n", m.counts, m.next)
	return sorted(b.String())
}

// dumped returns the whole store in the format of dump.
func dumped(s *store.Store) (string, error) {
	var b strings.Builder
	for fp, err := range s.Seen() {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "seen %x\n", fp)
	}
	origin, i := "", 0
	for e, err := range s.URLs(store.Pending, "") {
		if err != nil {
			return "", err
		}
		if h := e.URL.URL.Origin(); h != origin {
			origin, i = h, 0
		}
		fmt.Fprintf(&b, "pending %s %d: %s\n", origin, i, text(e.URL))
		i++
	}
	for _, state := range []store.State{store.Done, store.Refused} {
		for e, err := range s.URLs(state, "") {
			if err != nil {
				return "", err
			}
			b.WriteString(ended(e))
		}
	}
	for o, err := range s.Origins("") {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "origin %v, rules %v\n", o.OriginState, o.Rules)
	}
	for r, err := range s.Redirects() {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "redirect %x %s\n", r.Fingerprint, redirect(r.Fewest, r.Target))
	}
	for v, err := range s.Variants() {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "variants %x %d\n", v.Key, v.N)
	}
	for n, err := range s.Notes("") {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "note %s %q\n", n.Name, n.Value)
	}
	counts, err := s.Counts()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "counts %v\nnext %d\n", counts, s.NextSeq())
	return sorted(b.String()), nil
}

func sorted(s string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func text(u frontier.URL) string {
	return fmt.Sprintf("%s from %q depth %d hops %d tries %d priority %d seq %d not before %v past %v known %+v", u.URL, u.From, u.Depth, u.Hops, u.Tries,
		u.Priority, u.Seq, u.NotBefore.UnixMicro(), u.Past, u.Known)
}

func ended(e store.Entry) string {
	return fmt.Sprintf("%s %s at %d %s %q\n", e.State, text(e.URL), e.At.UnixMicro(), e.Kind, e.Reason)
}

func redirect(fewest int, target *frontier.URL) string {
	if target == nil {
		return fmt.Sprint(fewest)
	}
	return fmt.Sprintf("%d to %s", fewest, text(*target))
}

// player invents the changes of a frontier, and applies them to a batch and to its model.
type player struct {
	rng *rand.Rand
	*model
}

var epoch = time.UnixMicro(1_700_000_000_000_001)

func (p *player) url(host int) frontier.URL {
	seq := p.next
	p.next++
	u, err := weburl.Parse(fmt.Sprintf("http://h%d.test/%d", host, seq))
	if err != nil {
		panic(err)
	}
	return frontier.URL{
		URL: u.Canonical(), From: fmt.Sprintf("http://h%d.test/from", p.rng.IntN(3)), Data: strings.Repeat("d", p.rng.IntN(3)), Depth: p.rng.IntN(3), Priority: int8(p.rng.IntN(3) - 1), Rank: int8(p.rng.IntN(3) - 1),
		Hops: p.rng.IntN(2), Seq: seq,
	}
}

// pick returns a random pending URL, if any.
func (p *player) pick() (frontier.URL, bool) {
	if len(p.pending) == 0 {
		return frontier.URL{}, false
	}
	keys := slices.Sorted(maps.Keys(p.pending))
	return p.pending[keys[p.rng.IntN(len(keys))]], true
}

func (p *player) try(u *frontier.URL) {
	u.Past = append(slices.Clone(u.Past), frontier.Try{
		At: epoch.Add(time.Duration(p.rng.IntN(1e6)) * time.Millisecond), Status: 200 + p.rng.IntN(400), Kind: "k", Reason: "r\n",
	})
}

// step makes one random change.
func (p *player) step(g *store.Batch) {
	switch n := p.rng.IntN(100); {
	case n < 40:
		u := p.url(p.rng.IntN(4))
		g.Pending(u)
		p.seen[u.URL.Fingerprint()], p.pending[u.URL.String()] = true, u
	case n < 55:
		if u, ok := p.pick(); ok {
			was := u.QueueKey()
			u.Tries++
			u.NotBefore = epoch.Add(time.Duration(p.rng.IntN(100)) * time.Second)
			p.try(&u)
			g.Retried(u, was)
			p.pending[u.URL.String()] = u
		}
	case n < 70:
		if u, ok := p.pick(); ok {
			p.try(&u)
			g.Done(u)
			delete(p.pending, u.URL.String())
			p.ended[u.URL.String()] = ended(store.Entry{State: store.Done, URL: u})
		}
	case n < 74:
		if u, ok := p.pick(); ok {
			r := frontier.Refusal{URL: u, Kind: "robots", Reason: "line 1: Disallow: /"}
			g.Refused(r, epoch)
			delete(p.pending, u.URL.String())
			p.ended[u.URL.String()] = ended(store.Entry{State: store.Refused, URL: u, At: epoch, Kind: r.Kind, Reason: r.Reason})
		}
	case n < 76:
		u := p.url(p.rng.IntN(4))
		why := frontier.Drop(p.rng.IntN(2))
		g.Dropped(u, why)
		p.drops[u.URL.String()] = why
		p.seen[u.URL.Fingerprint()] = true
	case n < 78:
		origin := fmt.Sprintf("http://h%d.test", p.rng.IntN(4))
		g.OverLimit(origin)
		for _, u := range slices.SortedFunc(maps.Values(p.pending), func(a, b frontier.URL) int { return a.QueueKey().Compare(b.QueueKey()) }) {
			if u.URL.Origin() != origin || u.Tries > 0 {
				continue
			}
			if p.rng.IntN(4) == 0 { // leased
				g.Pending(u)
				continue
			}
			delete(p.pending, u.URL.String())
		}
	case n < 84:
		name := fmt.Sprintf("http://h%d.test", p.rng.IntN(4))
		r := robots.Parse(fmt.Appendf(nil, "User-agent: *\nDisallow: /%d # why\nCrawl-delay: %d\n", n, n)).Agent("weft")
		o := frontier.OriginState{Name: name, Pending: n, Most: n, Asked: epoch, Robots: frontier.RobotsState{Have: true}}
		g.Rules(name, r)
		g.Origin(o)
		p.rules[name], p.origins[name] = r, o
	case n < 88:
		u := p.url(5)
		var target *frontier.URL
		if n < 86 {
			target = &u
		}
		fp := [16]byte{byte(p.rng.IntN(4))}
		if n == 87 {
			g.Redirected(fp, 0, nil)
			delete(p.redirects, fp)
		} else {
			g.Redirected(fp, n, target)
			p.redirects[fp] = redirect(n, target)
		}
		p.next-- // the URL is only a redirect's target
	case n < 92:
		name, value := fmt.Sprintf("n%d", p.rng.IntN(4)), fmt.Sprint(n)
		g.Set(name, []byte(value))
		p.notes[name] = value
	case n < 93:
		name := fmt.Sprintf("n%d", p.rng.IntN(4))
		g.Delete(name)
		delete(p.notes, name)
	case n < 94:
		key := [16]byte{byte(p.rng.IntN(4))}
		g.Variants("http://h1.test", key, n)
		p.variants[key] = n
	case n < 95:
		p.counts = frontier.Stats{Pending: len(p.pending), Done: n, Refused: 2, OverLimit: 3, OverVariants: 5, Duplicates: 4}
		g.Counts(p.counts)
	default:
		name, line := outputs[p.rng.IntN(2)], fmt.Sprintf("{\"line\":%d}\n", p.rng.IntN(1000))
		g.Append(name, []byte(line))
		p.outputs[name] += line
	}
}

func (p *player) batch(s *store.Store, steps int) *store.Batch {
	g := s.Begin()
	for range steps {
		p.step(g)
	}
	return g
}

// checkOutputs compares the files with the committed lines.
func (m *model) checkOutputs(t testing.TB, fs *storetest.FS) {
	t.Helper()
	for name, want := range m.outputs {
		if got, err := fs.ReadFile("/job/" + name); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s: %d bytes, want %d; %v", name, len(got), len(want), err)
		}
	}
}

func (m *model) check(t testing.TB, s *store.Store) {
	t.Helper()
	if got, err := dumped(s); err != nil {
		t.Fatal(err)
	} else if want := m.dump(); got != want {
		t.Fatalf("the store and the model differ:\n%s", diff(got, want))
	}
}

// diff returns the lines that only one of the dumps has.
func diff(got, want string) string {
	var b strings.Builder
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for _, line := range g {
		if _, found := slices.BinarySearch(w, line); !found {
			b.WriteString("got  " + line)
		}
	}
	for _, line := range w {
		if _, found := slices.BinarySearch(g, line); !found {
			b.WriteString("want " + line)
		}
	}
	return b.String()
}

func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	o.Outputs = outputs
	s, err := store.Open("/job", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, s *store.Store, g *store.Batch) {
	t.Helper()
	if err := s.Commit(g); err != nil {
		t.Fatal(err)
	}
}

// newFS returns a disk with an empty folder for the job.
func newFS(t testing.TB) *storetest.FS {
	t.Helper()
	fs := storetest.New()
	if err := fs.MkdirAll("/job", 0o777); err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestModel checks that after a random history the store equals its model, with both engines, and
// after closing and opening it.
func TestModel(t *testing.T) {
	for _, memory := range []bool{false, true} {
		t.Run(fmt.Sprintf("memory=%t", memory), func(t *testing.T) {
			for seed := range long.Or[uint64](3, 20) {
				p := &player{rand.New(rand.NewPCG(seed, 1)), newModel()}
				fs := newFS(t)
				s := open(t, store.Options{FS: fs, Memory: memory})
				for range 20 {
					commit(t, s, p.batch(s, p.rng.IntN(40)))
					if p.rng.IntN(4) == 0 && !memory {
						shut(t, s)
						s = open(t, store.Options{FS: fs})
					}
				}
				p.check(t, s)
				p.checkPending(t, s)
				p.checkFind(t, s)
				p.checkParts(t, s)
				p.checkOutputs(t, fs)
				shut(t, s)
			}
		})
	}
}

// checkPending reads each queue piece by piece, as a frontier does.
func (p *player) checkPending(t *testing.T, s *store.Store) {
	t.Helper()
	queues := make(map[string][]frontier.URL)
	for _, u := range p.pending {
		queues[u.URL.Origin()] = append(queues[u.URL.Origin()], u)
	}
	queues["http://h.test"] = nil // a prefix of other names
	for origin, q := range queues {
		slices.SortFunc(q, func(a, b frontier.URL) int { return a.QueueKey().Compare(b.QueueKey()) })
		after := frontier.QueueKey{Tried: true, Priority: 127, Rank: 127} // before all
		for len(q) > 0 || origin == "http://h.test" {
			n := 1 + p.rng.IntN(5)
			got, more, err := s.Pending(origin, after, n)
			want := q[:min(n, len(q))]
			if err != nil || len(got) != len(want) || more != (len(q) > n) {
				t.Fatalf("%s after %v: %d URLs, more %t, %v; want %d of %d", origin, after, len(got), more, err, len(want), len(q))
			}
			for i := range got {
				if text(got[i]) != text(want[i]) {
					t.Fatalf("%s after %v, %d:\n got %s\nwant %s", origin, after, i, text(got[i]), text(want[i]))
				}
				after = got[i].QueueKey()
			}
			q = q[len(want):]
			if origin == "http://h.test" {
				break
			}
		}
	}
}

// checkParts reads URLs and origins from the middle on: behind one comes the next.
func (p *player) checkParts(t *testing.T, s *store.Store) {
	t.Helper()
	cursors := func(state store.State, after string) (all []string) {
		for e, err := range s.URLs(state, after) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Cursor())
		}
		return all
	}
	for state := range store.Dropped {
		all := cursors(state, "")
		for _, i := range append(p.rng.Perm(len(all))[:len(all)/8], len(all)-1) {
			if got := cursors(state, all[i]); !slices.Equal(got, all[i+1:]) {
				t.Fatalf("state %d: behind %q are %d of %d: %q", state, all[i], len(got), len(all)-i-1, got)
			}
		}
	}
	if got := cursors(store.Pending, "u"); len(got) > 0 {
		t.Errorf("behind all pending URLs are %q", got)
	}
	before := ""
	for o, err := range s.Origins("") {
		for next, err := range s.Origins(before) {
			if err != nil || next.Name != o.Name {
				t.Fatalf("%q follows %q, expected %q: %v", next.Name, before, o.Name, err)
			}
			break
		}
		if before = o.Name; err != nil {
			t.Fatal(err)
		}
	}
}

func (p *player) checkFind(t *testing.T, s *store.Store) {
	t.Helper()
	found := 0
	for seq := range p.next + 1 {
		for h := range 4 {
			u, err := weburl.Parse(fmt.Sprintf("http://H%d.test:80/%d#fragment", h, seq))
			if err != nil {
				t.Fatal(err)
			}
			name := u.Canonical().String()
			e, ok, err := s.Find(u)
			if err != nil || ok != p.seen[u.Fingerprint()] {
				t.Fatalf("%s: found %t, %v", name, ok, err)
			}
			if !ok {
				continue
			}
			found++
			got, want := "", ""
			switch e.State {
			case store.Pending:
				got, want = text(e.URL), text(p.pending[name])
			case store.Dropped:
				got, want = fmt.Sprintln(e.URL.URL, e.Drop), fmt.Sprintln(name, p.drops[name])
				if _, ok := p.pending[name]; ok || p.ended[name] != "" {
					t.Fatalf("%s is dropped", name)
				}
			default:
				got, want = ended(e), p.ended[name]
			}
			if got != want {
				t.Fatalf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
	}
	if found != len(p.seen) {
		t.Fatalf("found %d URLs of %d", found, len(p.seen))
	}
}

package changelog_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

var (
	epoch    = time.UnixMicro(1_700_000_000_000_001)
	calendar = time.UnixMicro(1_790_000_000_000_000)
)

// TestHalves: links that are too many for a message go in two.
func TestHalves(t *testing.T) {
	block := func(urls ...frontier.URL) []byte {
		e := changelog.NewEncoder(epoch, calendar)
		for _, u := range urls {
			e.Pending(u)
		}
		return e.Block()
	}
	var all []frontier.URL
	for i := range 3 {
		u, err := weburl.Parse(fmt.Sprintf("https://h.test/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, frontier.URL{URL: u, From: "https://from.test/", Depth: i})
	}
	halves, err := changelog.Halves(block(all...), calendar)
	if err != nil || len(halves) != 2 {
		t.Fatal(halves, err)
	}
	var read []frontier.URL
	for _, h := range halves {
		urls, err := changelog.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, urls...)
	}
	if !reflect.DeepEqual(read, all) {
		t.Errorf("%+v, expected %+v", read, all)
	}
	if halves, err := changelog.Halves(block(all[0]), calendar); halves != nil || err != nil {
		t.Errorf("one URL: %q, %v", halves, err)
	}
}

// recorder is a journal that records its calls.
type recorder struct{ changes []any }

type (
	pending   struct{ u frontier.URL }
	done      struct{ u frontier.URL }
	overLimit struct{ origin string }
	retried   struct {
		u   frontier.URL
		was frontier.QueueKey
	}
	refused struct {
		r  frontier.Refusal
		at time.Time
	}
	variants struct {
		origin string
		key    [16]byte
		n      int
	}
	rules struct{ origin, text string }
)

func (r *recorder) tell(v any)                                  { r.changes = append(r.changes, v) }
func (r *recorder) Pending(u frontier.URL)                      { r.tell(pending{u}) }
func (r *recorder) Retried(u frontier.URL, w frontier.QueueKey) { r.tell(retried{u, w}) }
func (r *recorder) Moved(u frontier.URL, w frontier.QueueKey)   { r.tell(retried{u, w}) }
func (r *recorder) Nearer(frontier.URL, bool)                   {}
func (r *recorder) Done(u frontier.URL)                         { r.tell(done{u}) }
func (r *recorder) Refused(x frontier.Refusal, at time.Time)    { r.tell(refused{x, at}) }
func (r *recorder) Dropped(frontier.URL, frontier.Drop)         {}
func (r *recorder) Variants(o string, k [16]byte, n int)        { r.tell(variants{o, k, n}) }
func (r *recorder) OverLimit(o string)                          { r.tell(overLimit{o}) }
func (r *recorder) Redirected([16]byte, int, *frontier.URL)     {}
func (r *recorder) Origin(o frontier.OriginState)               { r.tell(o) }
func (r *recorder) Counts(frontier.Stats)                       {}
func (r *recorder) Rules(o string, x robots.Rules) {
	b, _ := x.AppendBinary(nil)
	r.tell(rules{o, string(b)})
}

// change makes a random change of a journal.
func change(r *rand.Rand, to frontier.Journal) {
	switch r.IntN(8) {
	case 0, 1:
		to.Pending(randomURL(r))
	case 2:
		u := randomURL(r)
		to.Retried(u, frontier.QueueKey{Tried: r.IntN(2) == 0, Priority: int8(r.IntN(256) - 128), Depth: r.IntN(9), Rank: -1, Seq: u.Seq})
	case 3:
		to.Done(randomURL(r))
	case 4:
		to.Refused(frontier.Refusal{URL: randomURL(r), Kind: "robots", Reason: "line 1"}, calendar.Add(time.Second))
	case 5:
		to.Variants("http://a.test", [16]byte{1, 2, byte(r.IntN(9))}, 64)
		to.OverLimit("https://b.test:81")
	case 6:
		to.Rules("http://a.test", robots.Parse([]byte("User-agent: *\nDisallow: /x\nCrawl-delay: 2")).Agent("weft"))
	case 7:
		o := frontier.OriginState{Name: fmt.Sprintf("http://h%d.test", r.IntN(3))}
		fill(r, reflect.ValueOf(&o).Elem())
		to.Origin(o)
	}
}

func randomURL(r *rand.Rand) (u frontier.URL) {
	u.URL, _ = weburl.Parse(fmt.Sprintf("http://h%d.test/%d", r.IntN(3), r.IntN(100)))
	u.From, u.Data = fmt.Sprintf("http://h%d.test/", r.IntN(2)), strings.Repeat("d", r.IntN(2))
	u.Seq = r.Uint64N(1 << 40)
	u.Depth, u.Hops, u.Tries = r.IntN(3), r.IntN(2), r.IntN(3)
	u.Priority, u.Rank, u.Role = int8(r.IntN(3)-1), int8(r.IntN(3)-1), frontier.Role(r.IntN(4))
	u.Kept, u.ByDepth = r.IntN(2) == 0, r.IntN(2) == 0
	if r.IntN(2) == 0 {
		u.NotBefore = epoch.Add(time.Second)
		u.Past = []frontier.Try{{At: calendar.Add(-time.Hour), Status: 503}, {At: calendar, Kind: "timeout", Reason: "x\ny"}}
	}
	if r.IntN(2) == 0 {
		u.Known = new(frontier.Snapshot)
		fill(r, reflect.ValueOf(u.Known).Elem())
	}
	return u
}

// fill gives random values to the fields of a struct, some of them zero, but to Name.
func fill(r *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		zero := r.IntN(3) == 0 || v.Type().Field(i).Name == "Name"
		switch p := f.Addr().Interface().(type) {
		case *time.Time:
			if *p = (time.Time{}); !zero {
				*p = calendar.Add(time.Duration(r.IntN(1e9)) * time.Microsecond)
			}
		default:
			switch {
			case f.Kind() == reflect.Struct:
				fill(r, f)
			case zero:
			case f.Kind() == reflect.String:
				f.SetString(fmt.Sprint(r.IntN(1000)))
			case f.Kind() == reflect.Bool:
				f.SetBool(true)
			case f.CanInt():
				f.SetInt(1 + r.Int64N(1000))
			case f.CanUint():
				f.SetUint(1 + r.Uint64N(1<<31))
			case f.Kind() == reflect.Array:
				f.Index(r.IntN(f.Len())).SetUint(7)
			default:
				panic(f.Type())
			}
		}
	}
}

// same compares the calls of two journals. Times may differ in their zones.
func same(a, b any) bool { return fmt.Sprintf("%+v", utc(a)) == fmt.Sprintf("%+v", utc(b)) }

// utc returns a text of a value with its times in UTC, and what its pointers lead to.
func utc(v any) string {
	var b strings.Builder
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch {
		case v.Type() == reflect.TypeFor[time.Time]():
			at := reflect.New(v.Type()).Elem()
			if v.CanInterface() {
				at = v
			}
			fmt.Fprintf(&b, "%d ", at.Interface().(time.Time).UnixMicro())
		case v.Type() == reflect.TypeFor[weburl.URL]():
			fmt.Fprintf(&b, "%v ", v.Field(0))
		case v.Kind() == reflect.Pointer && !v.IsNil():
			walk(v.Elem())
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		default:
			fmt.Fprintf(&b, "%v ", v)
		}
	}
	walk(reflect.ValueOf(v))
	return b.String()
}

// TestReplay: Replay repeats the calls that an Encoder got.
func TestReplay(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var want, got recorder
		e := changelog.NewEncoder(epoch, calendar)
		for range 1 + r.IntN(20) {
			n := len(want.changes)
			change(r, &want)
			for _, v := range want.changes[n:] {
				tell(v, e)
			}
		}
		if err := changelog.Replay(e.Block(), epoch, &got); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(got.changes) != len(want.changes) {
			t.Fatalf("seed %d: %d changes, want %d", seed, len(got.changes), len(want.changes))
		}
		for i := range got.changes {
			if !same(got.changes[i], want.changes[i]) {
				t.Fatalf("seed %d, change %d:\n%s\nwant\n%s", seed, i, utc(got.changes[i]), utc(want.changes[i]))
			}
		}
	}
}

// tell repeats the calls of one journal to another.
func tell(v any, to frontier.Journal) {
	switch v := v.(type) {
	case pending:
		to.Pending(v.u)
	case done:
		to.Done(v.u)
	case retried:
		to.Retried(v.u, v.was)
	case refused:
		to.Refused(v.r, v.at)
	case variants:
		to.Variants(v.origin, v.key, v.n)
	case overLimit:
		to.OverLimit(v.origin)
	case rules:
		var r robots.Rules
		_ = r.UnmarshalBinary([]byte(v.text))
		to.Rules(v.origin, r)
	case frontier.OriginState:
		to.Origin(v)
	}
}

// TestOtherClock: who replays a block an hour later, by another clock, waits as long from then on.
func TestOtherClock(t *testing.T) {
	e := changelog.NewEncoder(epoch, calendar)
	e.Origin(frontier.OriginState{Name: "http://a.test", Asked: epoch.Add(-time.Second), BackOffEnd: epoch.Add(time.Minute)})
	var got recorder
	later := epoch.Add(1000 * time.Hour)
	if err := changelog.Replay(e.Block(), later, &got); err != nil {
		t.Fatal(err)
	}
	o := got.changes[0].(frontier.OriginState)
	if !o.Asked.Equal(later.Add(-time.Second)) || !o.BackOffEnd.Equal(later.Add(time.Minute)) || !o.Trouble.Since.IsZero() {
		t.Errorf("%+v", o)
	}
}

// TestMalformed: a block that is cut off, or has bytes that no encoder writes, is an error.
func TestMalformed(t *testing.T) {
	e := changelog.NewEncoder(epoch, calendar)
	r := rand.New(rand.NewPCG(1, 1))
	e.Pending(randomURL(r))
	block := e.Block()
	for n := range block {
		if n == 9 { // the head alone: a block without changes
			continue
		}
		if err := changelog.Replay(block[:n], epoch, new(recorder)); !errors.Is(err, changelog.ErrMalformed) {
			t.Errorf("%d bytes of %d: %v", n, len(block), err)
		}
	}
	other := slices.Clone(block)
	other[0] = 9
	var version *changelog.VersionError
	if err := changelog.Replay(other, epoch, new(recorder)); !errors.As(err, &version) || err.Error() != "changes of format 9, expected 2" {
		t.Errorf("%v", err)
	}
	e.Done(randomURL(r))
	if _, err := changelog.Read(e.Block()); !errors.Is(err, changelog.ErrMalformed) {
		t.Errorf("links with another change: %v", err)
	}
}

// FuzzReplay: any bytes give an error, or changes that come out the same when they are written
// again.
func FuzzReplay(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := changelog.NewEncoder(epoch, calendar)
		for range 5 {
			change(r, e)
		}
		f.Add(e.Block())
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		var first, second recorder
		if changelog.Replay(block, epoch, &first) != nil {
			return
		}
		e := changelog.NewEncoder(epoch, calendar)
		for _, v := range first.changes {
			tell(v, e)
		}
		if err := changelog.Replay(e.Block(), epoch, &second); err != nil {
			t.Fatalf("%v", err)
		}
		if len(first.changes) != len(second.changes) {
			t.Fatalf("%d changes, and then %d", len(first.changes), len(second.changes))
		}
		for i := range first.changes {
			if !same(first.changes[i], second.changes[i]) {
				t.Fatalf("change %d:\n%s\nand then\n%s", i, utc(first.changes[i]), utc(second.changes[i]))
			}
		}
	})
}

// posts is a batch that keeps what is posted.
type posts struct {
	recorder
	kinds  []byte
	blocks [][]byte
}

func (p *posts) Post(_ int, kind byte, data []byte) {
	p.kinds, p.blocks = append(p.kinds, kind), append(p.blocks, data)
}

// TestAskedAgain: a URL that ended and is asked again in the same batch is pending for whoever
// reads the log, and lost only together with its end.
func TestAskedAgain(t *testing.T) {
	var b posts
	l := changelog.Log{Partition: func(string) int { return 0 }, Clock: func() (time.Time, time.Time) { return epoch, calendar }}
	l.Begin(&b)
	to, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	u := frontier.URL{URL: to, Seq: 1}
	l.Pending(u)
	l.Done(u)
	u.Tries = 1
	l.Pending(u)
	l.Seal()
	if string(b.kinds) != string([]byte{changelog.Found, changelog.Ended}) {
		t.Fatalf("kinds %q", b.kinds)
	}
	var read recorder
	if err := changelog.Replay(b.blocks[1], epoch, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.changes) != 2 || reflect.TypeOf(read.changes[0]) != reflect.TypeFor[done]() || reflect.TypeOf(read.changes[1]) != reflect.TypeFor[pending]() {
		t.Errorf("%+v, expected that it is done, then pending", read.changes)
	}
}

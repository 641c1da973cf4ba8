package sending_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/sending"
)

const (
	gather     = time.Second
	partitions = 1024
)

var began = time.Unix(1_000_000_000, 0)

// outbox fills a queue.
type outbox struct {
	*sending.Queue
	last uint64
}

func newOutbox() *outbox { return &outbox{Queue: sending.New(gather, partitions)} }

// commit adds a commit of some kinds, with messages for the partitions up to a number, at a time
// after began. Its first change was made a second before.
func (o *outbox) commit(kinds string, partitions int, at time.Duration) {
	for _, kind := range []byte(kinds) {
		for p := range partitions {
			o.last++
			o.Add(store.Message{ID: o.last, Partition: p, Kind: kind, Data: []byte{kind}})
		}
	}
	o.Committed(o.last, began.Add(at-gather))
}

// next returns the kinds of the next phase with the IDs of their first messages, or how long to
// wait for it.
func (o *outbox) next(at time.Duration, wanted uint64) string {
	phase, wait := o.Next(began.Add(at), wanted)
	if phase == nil {
		return wait.String()
	}
	var text strings.Builder
	var before byte
	for _, m := range phase {
		if m.Kind != before {
			fmt.Fprintf(&text, "%c%d ", m.Kind, m.ID)
		}
		before = m.Kind
	}
	return strings.TrimSpace(text.String())
}

// sent ends a phase, and returns the last message that is acknowledged with all before it.
func (o *outbox) sent(at time.Duration) uint64 {
	gone := o.Sent(began.Add(at))
	if len(gone) == 0 {
		return 0
	}
	return gone[len(gone)-1].ID
}

// TestMerged: commits that wait together go out as one, in order: what is done follows what all of
// them have found.
func TestMerged(t *testing.T) {
	o := newOutbox()
	expect := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, expected %v", what, got, want)
		}
	}
	expect("nothing", o.next(0, 0), "0s")
	o.commit("lfe", 1024, 0)
	expect("the first commit", o.next(0, 0), "l1 f1025")
	expect("up to", o.sent(0), uint64(2048))
	o.commit("lfe", 1024, 300*time.Millisecond)
	expect("the second", o.next(300*time.Millisecond, 0), "500ms") // it is 1.5 s old then
	o.commit("lfe", 1024, 400*time.Millisecond)
	expect("both", o.next(800*time.Millisecond, 0), "e2049 l3073 f4097 l6145 f7169")
	expect("up to", o.sent(900*time.Millisecond), uint64(5120))
	expect("what they have done", o.next(900*time.Millisecond, 0), "900ms") // it is 2.5 s old then
	expect("at last", o.next(1800*time.Millisecond, 0), "e5121")
	expect("up to", o.sent(1800*time.Millisecond), o.last)
	expect("then", o.next(1800*time.Millisecond, 0), "0s")
}

// TestSoon: some phases wait for no others.
func TestSoon(t *testing.T) {
	after := func(messages int) func() *outbox { // it has just sent so many
		return func() *outbox {
			o := newOutbox()
			o.commit("f", messages, 0)
			o.next(0, 0)
			o.sent(0)
			return o
		}
	}
	idle, busy := after(1), after(partitions)
	at := 10 * time.Millisecond
	for name, c := range map[string]struct {
		before  func() *outbox
		commit  string
		numbers int
		took    time.Duration // by an earlier phase
		wanted  uint64
		want    string
	}{
		"after many":                     {busy, "fe", 100, 0, 0, "500ms"},
		"after few":                      {idle, "fe", 100, 0, 0, "f2"},
		"somebody waits for it":          {busy, "fe", 100, 0, 1025, "f1025"},
		"somebody waited":                {busy, "fe", 100, 0, 1024, "500ms"},
		"done, of many":                  {idle, "e", 17, 0, 0, "1.5s"},
		"done, of few":                   {idle, "e", 16, 0, 0, "e2"},
		"done, of few, after many":       {busy, "e", 16, 0, 0, "990ms"},
		"done, and somebody waits":       {idle, "e", 17, 0, 2, "e2"},
		"done, and the servers are slow": {idle, "e", 17, 600 * time.Millisecond, 0, "800ms"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.before()
			if c.took > 0 {
				o.commit("f", 1, at-c.took)
				o.next(at-c.took, o.last)
				o.sent(at)
			}
			o.commit(c.commit, c.numbers, at)
			if got := o.next(at, c.wanted); got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
		})
	}
}

// TestFull: what waits is bounded.
func TestFull(t *testing.T) {
	o := newOutbox()
	o.commit("f", 1024, 0)
	o.next(0, 0)
	o.sent(0)
	for n := 0; !o.Full(); n++ {
		if phase, _ := o.Next(began, 0); phase != nil || n > 16 {
			t.Fatalf("after %d MiB: %d messages go out", n, len(phase))
		}
		o.last++
		o.Add(store.Message{ID: o.last, Kind: changelog.Found, Data: make([]byte, 1<<20)})
	}
	if phase, wait := o.Next(began, 0); phase == nil || o.Full() {
		t.Errorf("a phase waits for %v although the queue is full", wait)
	}
}

package frontier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// expectPanic checks that fn panics with a message that has a text.
func expectPanic(t *testing.T, text string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := fmt.Sprint(recover()); !strings.Contains(r, text) {
			t.Errorf("panic %q, expected one with %q", r, text)
		}
	}()
	fn()
}

// withEvicted returns a frontier with an evicted origin, and the state of that origin.
func withEvicted() (*frontier.Frontier, frontier.StoredOrigin) {
	r := frontier.Restore(frontier.Config{HostBytes: 1})
	evicted := frontier.StoredOrigin{OriginState: frontier.OriginState{Name: "http://b.example", Answered: 3}}
	r.Origin(at(0), frontier.OriginState{Name: "http://a.example", Answered: 2}, robots.Rules{})
	r.Origin(at(0), evicted.OriginState, robots.Rules{})
	return r.Frontier(), evicted
}

// TestPrepare checks the rules about a batch of URLs: its page comes before the first Add and
// before the next batch, exactly once, and only URLs of the batch are added.
func TestPrepare(t *testing.T) {
	f, evicted := withEvicted()
	batch := []frontier.URL{u(t, "b/9")}
	r, ok := f.Prepare(locations(batch), noURLs)
	if !ok || r.Kind != frontier.Lookup || r.AfterCommit() || !slices.Equal(r.Names, []string{"b.example"}) {
		t.Fatalf("%+v, %t; expected a lookup of b.example, to be read at once", r, ok)
	}
	expectPanic(t, "Add", func() { f.Add(batch[0]) })
	expectPanic(t, "Prepare", func() { f.Prepare(noURLs, noURLs) })
	expectPanic(t, "without a request", func() { f.Provide(at(0), frontier.Page{}) })
	page := frontier.Page{Request: r, Origins: []frontier.StoredOrigin{evicted}}
	f.Provide(at(0), page)
	expectPanic(t, "lookup", func() { f.Provide(at(0), page) })
	if !f.Add(batch[0]) {
		t.Error("the URL is not added")
	}
	if h, known := f.View().Origin(at(0), "http://b.example"); !known || h.Answered != evicted.Answered || h.Pending != 1 {
		t.Errorf("known: %t, %+v", known, h)
	}
	other, _ := withEvicted()
	expectPanic(t, "Prepare", func() { other.Add(batch[0]) })
}

// TestReads checks that a page is provided once, and only after the batch that its request has to
// wait for.
func TestReads(t *testing.T) {
	f, l := restarted(t, frontier.Config{Heads: 1}, 1, 3)
	f.Add(u(t, "a/1"))
	expectLease(t, f, time.Second, 9, "a/1") // the other host is refilled first
	reads := f.Reads()
	if len(reads) != 1 || reads[0].Kind != frontier.Refill || !reads[0].AfterCommit() {
		t.Fatalf("%+v, expected a refill after the next commit", reads)
	}
	page := l.read(reads[0])
	expectPanic(t, "NoteOrigins", func() { f.Provide(at(time.Second), page) })
	f.NoteOrigins()
	l.commit()
	f.Provide(at(time.Second), page)
	expectPanic(t, "refill", func() { f.Provide(at(time.Second), page) })
	expectPanic(t, "dormant", func() {
		f.Provide(at(time.Second), frontier.Page{Request: frontier.Request{Kind: frontier.Revive}})
	})
	expectLease(t, f, time.Second, 1, "h0000/0")
}

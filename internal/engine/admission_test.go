package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// lookedUp takes in that the look-up of an admission has ended, which found nothing.
func lookedUp(a *admission) {
	a.request = nil
	a.takeAsked()
	a.admitWaiting()
}

// TestAdmission: arrivals come in one after another. Those that come while a batch is looked up
// wait for its end, and so does what may happen between two batches only.
func TestAdmission(t *testing.T) {
	a := &newCoordinator(new(Config)).admission
	var order []string
	comes := func(what string) func() { return func() { order = append(order, what) } }
	urls := slices.Values([]weburl.URL{url(t, "http://a.test/")})
	a.admit(urls, nil, comes("first"))
	if !a.empty() {
		t.Error("an arrival waits for nothing")
	}
	a.find(url(t, "http://b.test/"), func(store.Entry) { comes("found")() })
	a.admit(urls, urls, comes("second"))
	a.betweenBatches(comes("between"))
	if got := strings.Join(order, ", "); a.empty() || got != "first" {
		t.Errorf("while a batch is looked up there came %s", got)
	}
	lookedUp(a)
	if got := strings.Join(order, ", "); !a.empty() || got != "first, found, between, second" {
		t.Errorf("there came %s", got)
	}
}

// TestLooksUpTogether: what waits for the store is looked up together, and apart from what waits
// for the frontier.
func TestLooksUpTogether(t *testing.T) {
	a := &newCoordinator(new(Config)).admission
	u := url(t, "http://a.test/")
	var found []string
	find := func(name string) { a.find(u, func(store.Entry) { found = append(found, name) }) }
	find("1")
	find("2")
	a.admit(slices.Values([]weburl.URL{u}), nil, func() { found = append(found, "other") })
	find("3")
	lookedUp(a)
	if len(a.asked) != 2 || len(a.waiting) != 1 {
		t.Errorf("%d are looked up and %d wait, expected 2 and 1", len(a.asked), len(a.waiting))
	}
	lookedUp(a)
	if got := strings.Join(found, ", "); got != "1, 2, 3, other" {
		t.Errorf("%s", got)
	}
}

// TestPromise: a URL in place of another is in the frontier at once, or a note of the job says that
// it will be, until it is.
func TestPromise(t *testing.T) {
	s, err := store.Open("/job", store.Options{FS: storetest.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := newCoordinator(new(Config))
	c.committer.job = &job.Job{Store: s}
	plain := func(host string) frontier.URL {
		return frontier.URL{URL: url(t, "http://"+host+"/"), From: "https://" + host + "/"}
	}
	promised := func() (names []string) {
		t.Helper()
		if err := s.Commit(c.committer.open.state); err != nil {
			t.Fatal(err)
		}
		c.committer.open.state = s.Begin()
		for n, err := range s.Notes("promise/") {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, n.Name+" "+string(n.Value))
		}
		return names
	}
	c.committer.open.state = s.Begin()
	c.promises.add(plain("a.test"))
	if got := promised(); len(got) > 0 || !c.frontier.View().Seen(url(t, "http://a.test/")) {
		t.Errorf("what is added at once is promised: %q", got)
	}
	c.admission.find(url(t, "http://c.test/"), func(store.Entry) {})
	c.promises.add(plain("b.test"))
	if got := fmt.Sprint(promised()); got != "[promise/http://b.test/ https://b.test/]" || c.frontier.View().Seen(url(t, "http://b.test/")) {
		t.Errorf("while it is looked up, there is promised: %s", got)
	}
	lookedUp(&c.admission)
	if got := promised(); len(got) > 0 || !c.frontier.View().Seen(url(t, "http://b.test/")) {
		t.Errorf("what is added is still promised: %q", got)
	}
}

// TestPauses: the crawl goes on when a reason that held has gone.
func TestPauses(t *testing.T) {
	lifted := 0
	p := pauses{loops: new(loops), lifted: func() { lifted++ }}
	p.set(PausedFull, false)
	p.set(PausedFull, true)
	p.set(PausedByHand, true)
	if lifted != 0 || !slices.Equal(p.all(), []string{PausedByHand, PausedFull}) {
		t.Errorf("lifted %d times, %q", lifted, p.all())
	}
	p.set(PausedFull, false)
	p.set(PausedFull, false)
	p.set(PausedByHand, false)
	if lifted != 2 || p.any() {
		t.Errorf("lifted %d times, %q; expected 2 times, and no reason", lifted, p.all())
	}
}

// TestLoopFor: leases of a host go to one loop, unless that is busier than others; over HTTP/2 as
// long as it has a worker.
func TestLoopFor(t *testing.T) {
	l := loops{all: make([]*fetch.Loop, 3), workers: 30, free: []int{10, 10, 10}}
	plain, secure := frontier.URL{URL: url(t, "http://a.test/1")}, frontier.URL{URL: url(t, "https://a.test/2")}
	home := l.loopFor(&plain)
	if l.loopFor(&secure) != home {
		t.Error("two leases of a host, two loops")
	}
	other := (home + 1) % 3
	l.free[home] = 2 // of 8 in flight each loop has its third: two or three more are no reason
	l.free[other] = 4
	l.free[3-home-other] = 4
	if l.loopFor(&plain) != home {
		t.Error("a loop is left that is hardly busier than others")
	}
	l.free = []int{10, 10, 10}
	if l.free[home] = 1; l.loopFor(&plain) == home || l.loopFor(&secure) != home {
		t.Error("a busy loop keeps its host, or a connection that others share is left")
	}
	l.http1.learn(&record.Record{Protocol: "http/1.1"}, secure.URL)
	if l.loopFor(&secure) == home {
		t.Error("a busy loop keeps a host of HTTP/1.1")
	}
	l.http1.learn(&record.Record{Protocol: "h2"}, secure.URL)
	if l.loopFor(&secure) != home {
		t.Error("a host that has come to speak HTTP/2 is left")
	}
	if l.free[home] = 0; l.loopFor(&secure) == home {
		t.Error("a lease goes to a loop without a worker")
	}
}

package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// url parses a URL in canonical form.
func url(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u.Canonical()
}

// TestNameBytes: a loop's resolver keeps as many names as its share holds.
func TestNameBytes(t *testing.T) {
	c := Config{NameBytes: 10*dns.NameBytes + 1, DNS: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}}
	files := new(dns.Files)
	if o := c.resolver(files); o.MaxNames != 10 || o.Files != files || !slices.Equal(o.Servers, c.DNS) {
		t.Errorf("%+v", o)
	}
}

// TestRecentBytes: extractors remember the URLs that were sent lately within their quarters of the
// loop's share.
func TestRecentBytes(t *testing.T) {
	const text = 100 // bytes of a URL
	sent := func(i int) weburl.URL {
		return url(t, fmt.Sprintf("http://a.test/%0*d", text-len("http://a.test/"), i))
	}
	for quarters, fit := range map[int]int{1: 10, 3: 30} {
		x := newExtractors(&Config{RecentBytes: 4 * 10 * text}, quarters)
		isNew := func(i int) bool {
			_, _, added := x.recent.Add(sent(i), 0)
			return added
		}
		for i := range fit {
			if !isNew(i) {
				t.Fatalf("URL %d is sent already", i)
			}
		}
		if isNew(0) {
			t.Errorf("of %d URLs the first is forgotten", fit)
		}
		if isNew(fit); !isNew(0) {
			t.Errorf("of %d URLs the first is remembered", fit+1)
		}
	}
}

// TestWorkers: a loop begins another worker when none is idle, as long as it may have more.
func TestWorkers(t *testing.T) {
	w := workers{most: 2, begun: 1, idle: 1}
	if !w.take() {
		t.Error("the last idle worker has a lease, and no other begins")
	}
	w.begun, w.idle = 2, 1
	if w.take() {
		t.Error("a third worker of two")
	}
	w.idle = 2
	if w.most = 5; w.take() {
		t.Error("another worker begins beside an idle one")
	}
}

// TestReports: what ends in one turn of a loop comes in one report.
func TestReports(t *testing.T) {
	aiotest.Run(t, func(task *aio.Task) error {
		var got []string
		loop := task.Loop()
		r := reports{id: 3, loop: loop, outbox: loop.Handle()}
		defer r.outbox.Close()
		r.report.Outcomes = func(id int, ended []*Outcome) { got = append(got, fmt.Sprint(id, " ", len(ended))) }
		r.send(new(Outcome))
		r.send(new(Outcome))
		if err := task.Sleep(time.Second); err != nil {
			return err
		}
		r.send(new(Outcome))
		if err := task.Sleep(time.Second); err != nil {
			return err
		}
		if want := []string{"3 2", "3 1"}; !slices.Equal(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
		return nil
	})
}

// TestHeavyHosts: a host whose last outcome was big waits for room for as much again.
func TestHeavyHosts(t *testing.T) {
	outcome := func(links, line int) *Outcome {
		out := &Outcome{URL: frontier.URL{URL: url(t, "http://a.test/")}, Lines: make([]byte, line)}
		for range links {
			out.Links = append(out.Links, frontier.URL{URL: url(t, "http://a.test/1")})
		}
		return out
	}
	meter := budget.New(1 << 20)
	l := lines{outcomes: meter}
	weigh := func(out *Outcome) int {
		l.weigh(out, new(httpclient.Response), nil)
		return l.weights["a.test"]
	}
	if n := weigh(outcome(bigOutcome-1, bigOutcome*linkCost-1)); n != 0 || len(l.weights) > 0 {
		t.Errorf("a page of %d links weighs %d", bigOutcome-1, n)
	}
	big := outcome(bigOutcome, 100)
	if n, want := weigh(big), 100+bigOutcome*(linkCost+len("http://a.test/1")); n != want || meter.Held() != 0 && meter.Held() != int64(want) {
		t.Errorf("a page of %d links weighs %d, expected %d; %d bytes are held", bigOutcome, n, want, meter.Held())
	}
	if n := weigh(outcome(0, bigOutcome*linkCost)); n == 0 {
		t.Error("a page of many lines has no weight")
	}
	if weigh(outcome(1, 0)); len(l.weights) > 0 {
		t.Error("a host whose last page was small is heavy")
	}
	for i := range heavyHosts + 1 {
		l.weighed(fmt.Sprint(i), 1)
	}
	if len(l.weights) != 1 {
		t.Errorf("%d heavy hosts, expected that they start again at %d", len(l.weights), heavyHosts)
	}
}

// TestHeard: the last bytes that came count, whatever loop reports them last.
func TestHeard(t *testing.T) {
	var h Heard
	began := time.Unix(1000, 0)
	if h.Start(began); !h.At().IsZero() {
		t.Errorf("bytes came at %v", h.At())
	}
	h.note(began.Add(2 * time.Second))
	h.note(began.Add(time.Second))
	if at := h.At(); at != began.Add(2*time.Second) {
		t.Errorf("the last bytes came at %v", at)
	}
}

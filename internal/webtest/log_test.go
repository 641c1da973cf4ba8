package webtest_test

import (
	"bytes"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/webtest"
)

func TestPoliteness(t *testing.T) {
	second := func(s float64) time.Time { return time.Unix(0, 0).Add(time.Duration(s * float64(time.Second))) }
	a, b := netip.MustParseAddr("127.1.0.1"), netip.MustParseAddr("127.1.0.2")
	p := webtest.Judge(slices.Values([]webtest.Request{
		// x: one after the other, 2 s apart and then 0.5 s; out of order.
		{Host: "x", Target: "/3", Addr: a, Start: second(4.5), End: second(5)},
		{Host: "x", Target: "/1", Addr: a, Start: second(0), End: second(1)},
		{Host: "x", Target: "/2", Addr: a, Start: second(3), End: second(4)},
		// y, at the same address: a short one within a long one, then 1 s after the long one.
		{Host: "y", Target: "/", Addr: a, Start: second(2), End: second(10)},
		{Host: "y", Target: "/", Addr: a, Start: second(2.5), End: second(3)},
		{Host: "y", Target: "/2", Addr: a, Start: second(11), End: second(12)},
		// z: one that has not ended.
		{Host: "z", Target: "/", Addr: b, Start: second(1)},
	}))
	for _, tt := range []struct {
		name      string
		got, want webtest.Manners
	}{
		{"host x", p.Hosts["x"], webtest.Manners{Requests: 3, SmallGap: time.Second / 2, MostAtOnce: 1}},
		{"host y", p.Hosts["y"], webtest.Manners{Requests: 3, SmallGap: 0, MostAtOnce: 2}},
		{"host z", p.Hosts["z"], webtest.Manners{Requests: 1, SmallGap: -1, MostAtOnce: 1}},
		{"address a", p.Addresses[a], webtest.Manners{Requests: 6, SmallGap: 0, MostAtOnce: 2}},
		{"address b", p.Addresses[b], webtest.Manners{Requests: 1, SmallGap: -1, MostAtOnce: 1}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, expected %+v", tt.name, tt.got, tt.want)
		}
	}
	if got := maps.Collect(p.Repeated()); !maps.Equal(got, map[string]int{"http://y/": 2}) {
		t.Errorf("repeated: %v", got)
	}
}

// TestReadLog: a process reads the log that another wrote.
func TestReadLog(t *testing.T) {
	aiotest.CheckLeaks(t)
	var b bytes.Buffer
	r, err := webtest.Run(webtest.Config{Pages: 5, Clean: true}, webtest.Addresses{Log: &b})
	if err != nil {
		t.Fatal(err)
	}
	found := newNaive(r, webtest.Policy{Elements: allElements}, func(string) bool { return true }).crawl(r.Web.Home(0))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for req, err := range webtest.ReadLog(&b) {
		if err != nil {
			t.Fatal(err)
		}
		if req.Status != 200 || req.End.Before(req.Start) || req.Addr != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("%+v", req)
		}
		urls = append(urls, req.URL())
	}
	slices.Sort(urls)
	if want := slices.Sorted(maps.Keys(found)); !slices.Equal(urls, want) || len(urls) < 5 {
		t.Errorf("log has %v, expected %v", urls, want)
	}
	for _, err := range webtest.ReadLog(strings.NewReader("{}\nx\n")) {
		if err != nil && !strings.HasPrefix(err.Error(), "log: line 2: ") {
			t.Errorf("a line that is none: %v", err)
		}
	}
}

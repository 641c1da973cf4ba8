package record_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/record"
)

// TestSummaryIsSmall: a server cannot make a summary, which each commit of a job has, long.
func TestSummaryIsSmall(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	s := record.NewSummary()
	for i := range 1000 {
		s.Count(&record.Record{
			URL: fmt.Sprintf("http://a.test/%d", i), Status: 302, TotalMS: float64(i), Redirect: "http://b.test/" + long,
			ErrorKind: "location", Error: long,
		})
	}
	s.Broken = nil // which the job saves apart
	b, err := json.Marshal(s)
	if err != nil || len(b) > 16<<10 {
		t.Errorf("%d bytes of JSON, error %v", len(b), err)
	}
}

// TestUnrendered: pages that could not be rendered are counted by kind, each with its first URL, in
// bounded memory, and a record that is taken back counts no more.
func TestUnrendered(t *testing.T) {
	s := record.NewSummary()
	page := func(url, kind string) *record.Record {
		return &record.Record{URL: url, Rendered: &record.Rendered{Error: "an error", ErrorKind: kind}}
	}
	for i, kind := range []string{"crash", "time", "crash", "cpu"} {
		s.Count(page(fmt.Sprint(i), kind))
	}
	before := s.Clone()
	s.Discount(page("0", "crash"), false)
	s.Discount(page("3", "cpu"), false)
	if got, want := fmt.Sprint(s.NotRendered, s.Unrendered), "2 [{crash 1 } {time 1 1}]"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got, want := fmt.Sprint(before.NotRendered, before.Unrendered), "4 [{crash 2 0} {time 1 1} {cpu 1 3}]"; got != want {
		t.Errorf("of a copy %s, expected %s", got, want)
	}
	for i := range 100 {
		s.Count(page("x", fmt.Sprint(i)))
	}
	if n := len(s.Unrendered); n != 21 || s.Unrendered[20].Kind != "other" || s.Unrendered[20].Pages != 82 {
		t.Errorf("%d kinds: %v", n, s.Unrendered)
	}
}

// TestMoreRefused: requests that a record has no room for are counted.
func TestMoreRefused(t *testing.T) {
	var r record.Rendered
	for i := range 50 {
		r.AddRefused(fmt.Sprint(i), "robots.txt")
		if i < 21 {
			r.AddFailed(fmt.Sprint(i), "status 404")
		}
	}
	if len(r.Refused) != 20 || r.MoreRefused != 30 || len(r.Failed) != 20 || r.MoreFailed != 1 {
		t.Errorf("%d and %d more refused, %d and %d more failed", len(r.Refused), r.MoreRefused, len(r.Failed), r.MoreFailed)
	}
}

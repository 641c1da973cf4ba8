package frontier_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// TestMostRenderedOfPorts: pages of one port that are being rendered hold up none of another.
func TestMostRenderedOfPorts(t *testing.T) {
	f := frontier.New(frontier.Config{PerHost: 9})
	f.Errands().Bound(1)
	for _, text := range []string{"http://h.example:8000/1", "http://h.example:8000/2", "http://h.example:8001/3"} {
		parsed, err := weburl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(frontier.URL{URL: parsed.Canonical()})
	}
	page := expectLease(t, f, 0, 1, "h/1")[0]
	f.Errands().Responded(at(0), page, frontier.Result{})
	other := expectLease(t, f, 0, 9, "h/3")[0]
	f.Done(at(0), other, frontier.Result{})
	page.Responded = true
	f.Done(at(0), page, frontier.Result{})
	expectLease(t, f, 0, 9, "h/2")
}

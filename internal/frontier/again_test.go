package frontier_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestAgain: a URL that is asked again comes before all that were never tried, and no limit counts
// it twice.
func TestAgain(t *testing.T) {
	f := with(t, frontier.Config{PerHost: 1, Limit: 2}, "a/1 a/2 a/3")
	first := f.Lease(at(0), 1)[0]
	f.Done(at(0), first, frontier.Result{})
	if !f.Again(at(0), first) {
		t.Fatal("it is not pending")
	}
	if got, want := f.View().Stats(), (frontier.Stats{Pending: 3, Origins: 1}); got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
	for i, want := range []string{"a/1", "a/2"} {
		l := f.Lease(at(0), 3)
		if len(l) != 1 || short(l[0]) != want || l[0].Tries != 1-i {
			t.Fatalf("lease %d: %v", i, l)
		}
		f.Done(at(0), l[0], frontier.Result{})
	}
	if l := f.Lease(at(0), 3); len(l) > 0 || !f.View().Stopped() || f.View().Stats().Done != 2 {
		t.Errorf("%v beyond the limit, %+v", l, f.View().Stats())
	}
}

// TestAgainElsewhere: a URL whose partition has left is sent to its owner.
func TestAgainElsewhere(t *testing.T) {
	f := with(t, frontier.Config{Partition: func(string) int { return 0 }, Ours: []int{0}}, "a/1")
	var sent []frontier.URL
	f.Partitions().SendBy(func(u frontier.URL) { sent = append(sent, u) })
	l := f.Lease(at(0), 1)[0]
	f.Done(at(0), l, frontier.Result{})
	f.Partitions().Hold(at(0), 0)
	f.Partitions().Disown(0)
	if f.Again(at(0), l) || len(sent) != 1 || f.View().Stats().Pending != 0 {
		t.Errorf("%d sent, %+v", len(sent), f.View().Stats())
	}
}

package cluster

import (
	"encoding/json"
	"iter"
	"slices"
	"testing"
)

// TestListing: of a partition that two nodes list, while it changes hands, one lists it.
func TestListing(t *testing.T) {
	said := func(yield func(answer, error) bool) {
		for _, a := range [][2]string{{"a", "http://one.test/"}, {"b", "http://one.test/"}, {"b", "http://two.test/"}, {"a", "http://one.test/1"}, {"b", "http://one.test/2"}, {"a", "http://two.test/"}} {
			text, _ := json.Marshal(a[1]) // a string
			if !yield(answer{a[0], text}, nil) {
				return
			}
		}
	}
	var got []string
	for url, err := range once(1024, iter.Seq2[answer, error](said), func(url string) string { return url }) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, url)
	}
	if want := []string{"http://one.test/", "http://two.test/", "http://one.test/1"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

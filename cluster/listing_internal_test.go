package cluster

import (
	"encoding/json"
	"errors"
	"iter"
	"math/big"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/shard/partition"
)

// TestListing: of a partition that two nodes list, while it changes hands, one lists it. One that
// neither lists, as it has changed hands between their answers, is asked for again. A list without
// some partitions ends with an error.
func TestListing(t *testing.T) {
	const parts = 1024
	one, two := "http://one.test/", "http://two.test/"
	if partition.OfURL(one, parts) == partition.OfURL(two, parts) {
		t.Fatal("both hosts are in one partition")
	}
	end := func(urls ...string) *big.Int {
		listed := new(big.Int)
		for _, url := range urls {
			listed.SetBit(listed, partition.OfURL(url, parts), 1)
		}
		return listed
	}
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), parts), big.NewInt(1))
	for name, c := range map[string]struct {
		answers [][]answer // to one question after another
		want    []string
		whole   bool
	}{
		"two":  {[][]answer{{said("a", one), said("b", one), said("b", two), said("a", one+"1"), said("b", one+"2"), said("a", two)}}, []string{one, two, one + "1"}, false},
		"none": {[][]answer{{said("a", one), {node: "a", listed: end(one)}, {node: "b", listed: end()}}, {said("b", two), {node: "b", listed: all}}}, []string{one, two}, true},
		// Nothing is in a partition that a lists.
		"ends": {[][]answer{{{node: "a", listed: end(one, two)}, said("b", two), {node: "c", listed: all}}}, nil, true},
	} {
		asked := 0
		ask := func(q question) iter.Seq2[answer, error] {
			if asked++; asked > mostAsked || asked == 1 != (q.Only == nil) {
				t.Fatalf("%s: question %d is for %v", name, asked, q.Only)
			}
			if asked > 1 && q.Only.Bit(partition.OfURL(one, parts)) == 1 {
				t.Errorf("%s: %s is asked for again", name, one)
			}
			if asked > len(c.answers) {
				return func(func(answer, error) bool) {}
			}
			return func(yield func(answer, error) bool) {
				for _, a := range c.answers[asked-1] {
					if !yield(a, nil) {
						return
					}
				}
			}
		}
		var got []string
		var failed error
		for url, err := range whole(parts, question{}, ask, func(url string) string { return url }) {
			if failed = err; err == nil {
				got = append(got, url)
			}
		}
		if !slices.Equal(got, c.want) || (failed == nil) != c.whole || failed != nil && !errors.Is(failed, errUnlisted) {
			t.Errorf("%s: %q, error %v, expected %q", name, got, failed, c.want)
		}
	}
}

// said is a line of a node.
func said(node, url string) answer {
	text, _ := json.Marshal(url) // a string
	return answer{node: node, value: text}
}

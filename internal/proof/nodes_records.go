package proof

import (
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

// left is a job that a node left.
type left struct {
	node int
	job  string
	lost bool // with its disk
}

// Again is what several nodes fetched more than once, and why.
type Again struct {
	N      int           // records beyond the first of their URL
	Same   int           // of these, in the job that has the one that counts: the node came back with its disk
	Before time.Duration // the longest from a record that did not count until the blow to its node
	After  time.Duration // the longest from a blow until such a record
	Others int           // records that no blow explains
	Gone   int           // URLs with no record but on a lost disk
}

// The bounds of what may be fetched again.
const (
	mostBefore = 5 * time.Second                    // what is done, but not in the log
	mostAfter  = 2*10*time.Second/3 + 2*time.Second // until a node without servers pauses, and what it is doing then
)

// seen is a record of a URL.
type seen struct {
	left  int
	ended time.Time
}

// compareNodes compares the records of all nodes with the truth.
func compareNodes(all []left, web *webtest.Web, struck []Struck) (Records, Again, error) {
	r := newRecords(web)
	known := make(map[string][]seen, len(r.truth))
	for i, l := range all {
		err := readRecords(filepath.Join(l.job, "pages.jsonl"), func(record weft.Record) {
			before := known[record.URL]
			if len(before) == 0 {
				r.add(record)
			}
			ended := record.Started.Add(time.Duration(record.TotalMS * float64(time.Millisecond)))
			known[record.URL] = append(before, seen{i, ended})
		})
		if err != nil && !l.lost { // its last line may be torn
			return *r, Again{}, err
		}
	}
	for u := range r.truth {
		if len(known[u]) == 0 {
			r.miss(u)
		}
	}
	var a Again
	for u, records := range known {
		kept := false
		for _, s := range records {
			kept = kept || !all[s.left].lost
		}
		if !kept {
			a.Gone++
		}
		last := 0 // of its records, the one that was made last counts
		for i, s := range records {
			if s.ended.After(records[last].ended) {
				last = i
			}
		}
		for i, s := range records {
			if i == last {
				continue
			}
			if s.left == records[last].left {
				a.Same++
			}
			if !a.explain(s, all[s.left].node, struck) {
				a.Others++
				r.sample("again: %s, first by node %d at %s", u, all[s.left].node+1, s.ended.Format(time.TimeOnly))
			}
		}
	}
	return *r, a, nil
}

// explain finds the blow because of which a record did not count.
func (a *Again) explain(s seen, node int, struck []Struck) bool {
	a.N++
	for _, b := range struck {
		d := s.ended.Sub(b.At)
		if b.Node != node || d < -mostBefore || d > mostAfter {
			continue
		}
		a.Before, a.After = max(a.Before, -d), max(a.After, d)
		return true
	}
	return false
}

package proof

import (
	"path/filepath"
	"slices"
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

// Again counts the fetches that nodes made more than once, by their reasons.
type Again struct {
	N      int           // records beyond the first of their URL
	Same   int           // of these, in the job whose record counts: the node came back with its disk
	Within time.Duration // the longest from such a record until its node's last fetch before the blow
	Others int           // records that no blow explains
	Gone   int           // URLs with a record only on a lost disk
}

// The bounds of what may be fetched again because of a blow: what the node finished within this
// time before its last fetch began. The servers have acknowledged all that is older (ADR 35).
const (
	unacknowledged = 3 * time.Second
	mostWithin     = unacknowledged + time.Second       // delay between loops on a busy machine
	mostAfter      = 2*10*time.Second/3 + 2*time.Second // a cut: until what is in flight is broken off
)

// seen is a record of a URL.
type seen struct {
	left           int
	started, ended time.Time
	status         int
	kind           string // of its error
}

// compareNodes compares the records of all nodes with the truth, and notes what they say of each
// blow. Of the records of a URL, the one that was made last counts, as for weft cluster collect:
// what a node that is cut off finds of a host that it no longer reaches counts only if no other
// node has asked the host since.
func compareNodes(all []left, web *webtest.Web, struck []Struck) (Records, Again, error) {
	r := newRecords(web)
	known := make(map[string][]seen, len(r.truth))
	last := make([]time.Time, len(struck)) // fetch that the node began before the blow
	var fetches []fetched
	for i, l := range all {
		err := readRecords(filepath.Join(l.job, "pages.jsonl"), func(record weft.Record) {
			if f, ok := fetchOf(record, l.node); ok {
				fetches = append(fetches, f)
			}
			ended := record.Started.Add(time.Duration(record.TotalMS * float64(time.Millisecond)))
			one := seen{i, record.Started, ended, record.Status, record.ErrorKind}
			known[record.URL] = append(known[record.URL], one)
			if b := blowOf(one, l.node, struck); b >= 0 && last[b].Before(one.started) {
				last[b] = one.started
			}
		})
		if err != nil && !l.lost { // its last line may be torn
			return *r, Again{}, err
		}
	}
	for i := range struck {
		struck[i].Stood = stoodStill(fetches, &struck[i])
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
		counts := 0
		for i, s := range records {
			if s.ended.After(records[counts].ended) {
				counts = i
			}
		}
		r.add(weft.Record{URL: u, Status: records[counts].status, ErrorKind: records[counts].kind})
		for i, s := range records {
			if i == counts {
				continue
			}
			a.N++
			if s.left == records[counts].left {
				a.Same++
			}
			b := blowOf(s, all[s.left].node, struck)
			if b < 0 || last[b].Sub(s.ended) > mostWithin {
				a.Others++
				r.sample("again: %s, first by node %d at %s", u, all[s.left].node+1, s.ended.Format(time.TimeOnly))
				continue
			}
			a.Within = max(a.Within, last[b].Sub(s.ended))
		}
	}
	return *r, a, nil
}

// blowOf returns the next blow to a node that has made a record, -1 if there is none. A node that
// is cut off goes on for a while.
func blowOf(s seen, node int, struck []Struck) int {
	return slices.IndexFunc(struck, func(b Struck) bool {
		until := b.At
		if b.Blow == Cut || b.Blow == Off {
			until = until.Add(mostAfter)
		}
		return b.Node == node && !s.ended.After(until)
	})
}

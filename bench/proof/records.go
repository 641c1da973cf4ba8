package proof

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Records is the comparison of a crawl's records with the truth.
type Records struct {
	Right   int
	Twice   int
	Missing int
	Wrong   int            // another fate
	Unknown int            // not in the truth
	Trapped int            // in a trap, which the truth leaves out
	Kinds   map[string]int // by status or error kind
	Samples []string       // some of the mistakes

	web   *webtest.Web
	truth map[string]webtest.Fate
}

// Good reports whether every URL has exactly one record.
func (r *Records) Good() bool { return r.Twice+r.Missing+r.Wrong+r.Unknown == 0 }

// compare reads records and compares them with the truth.
func compare(name string, web *webtest.Web) (Records, error) {
	r := newRecords(web)
	known := make(map[string]bool, len(r.truth))
	err := readRecords(name, func(record weft.Record) {
		if known[record.URL] {
			r.Kinds[kind(&record)]++
			r.Twice++
			r.sample("twice: %s", record.URL)
			return
		}
		r.add(record)
		known[record.URL] = true
	})
	for u := range r.truth {
		if !known[u] {
			r.miss(u)
		}
	}
	return *r, err
}

func newRecords(web *webtest.Web) *Records {
	return &Records{Kinds: make(map[string]int), web: web, truth: maps.Collect(web.Truth(policy()))}
}

// readRecords calls fn for each record of a file.
func readRecords(name string, fn func(weft.Record)) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record weft.Record
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return fmt.Errorf("record %q: %w", lines.Bytes(), err)
		}
		fn(record)
	}
	return lines.Err()
}

// add judges the record of a URL that counts.
func (r *Records) add(record weft.Record) {
	r.Kinds[kind(&record)]++
	fate, ok := r.truth[record.URL]
	switch {
	case ok && torture.Is(record, fate):
		r.Right++
	case ok:
		r.Wrong++
		r.sample("%s: status %d, error %q, expected %+v", record.URL, record.Status, record.ErrorKind, fate)
	case trap(r.web, record.URL):
		r.Trapped++
	default:
		r.Unknown++
		r.sample("unknown: %s", record.URL)
	}
}

func (r *Records) miss(url string) {
	r.Missing++
	r.sample("missing: %s", url)
}

func (r *Records) sample(format string, args ...any) {
	if len(r.Samples) < 100 {
		r.Samples = append(r.Samples, fmt.Sprintf(format, args...))
	}
}

func kind(r *weft.Record) string {
	if r.ErrorKind != "" {
		return r.ErrorKind
	}
	return fmt.Sprint(r.Status)
}

func trap(web *webtest.Web, record string) bool {
	u, err := url.Parse(record)
	return err == nil && web.Trap(u.Host, u.RequestURI())
}

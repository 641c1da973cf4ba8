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
}

// Good reports whether every URL has exactly one record.
func (r *Records) Good() bool { return r.Twice+r.Missing+r.Wrong+r.Unknown == 0 }

// compare reads records and compares them with the truth.
func compare(name string, web *webtest.Web) (Records, error) {
	r := Records{Kinds: make(map[string]int)}
	truth := maps.Collect(web.Truth(policy()))
	file, err := os.Open(name)
	if err != nil {
		return r, err
	}
	defer file.Close()
	known := make(map[string]bool, len(truth))
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record weft.Record
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return r, fmt.Errorf("record %q: %w", lines.Bytes(), err)
		}
		r.Kinds[kind(&record)]++
		fate, ok := truth[record.URL]
		switch {
		case known[record.URL]:
			r.Twice++
			r.sample("twice: %s", record.URL)
		case ok && torture.Is(record, fate):
			r.Right++
		case ok:
			r.Wrong++
			r.sample("%s: status %d, error %q %q, expected %+v", record.URL, record.Status, record.ErrorKind, record.Error, fate)
		case trap(web, record.URL):
			r.Trapped++
		default:
			r.Unknown++
			r.sample("unknown: %s", record.URL)
		}
		known[record.URL] = true
	}
	for u := range truth {
		if !known[u] {
			r.Missing++
			r.sample("missing: %s", u)
		}
	}
	return r, lines.Err()
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

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

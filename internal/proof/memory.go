package proof

import (
	"fmt"
	"os"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// Sample is what the command had at one time.
type Sample struct {
	At          time.Duration // of all runs
	Requests    int           // made until then
	RSS         int           // bytes
	Highest     int           // RSS of its run until then
	Descriptors int
}

// sample samples a process.
func sample(pid int) (Sample, error) {
	status, err := process.ReadStatus(pid)
	if err != nil {
		return Sample{}, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return Sample{RSS: int(status.Resident), Highest: int(status.Peak), Descriptors: len(open)}, err
}

// Thirds are the most RSS while the middle third of the requests was made, and the last.
func (r *Result) Thirds() (middle, last int) {
	for _, s := range r.Samples {
		switch third := 3 * s.Requests / max(1, r.Verdict.Requests); third {
		case 0:
		case 1:
			middle = max(middle, s.RSS)
		default:
			last = max(last, s.RSS)
		}
	}
	return middle, last
}

// Tenths are the samples by the share of the crawl's requests that were made: of each tenth
// that with the most memory, and the most descriptors of all of them.
func (r *Result) Tenths() (tenths [10]Sample) {
	for _, s := range r.Samples {
		t := &tenths[min(9, 10*s.Requests/max(1, r.Verdict.Requests))]
		descriptors := max(t.Descriptors, s.Descriptors)
		if s.RSS >= t.RSS {
			*t = s
		}
		t.Descriptors = descriptors
	}
	return tenths
}

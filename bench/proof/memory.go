package proof

import (
	"fmt"
	"os"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// Sample is the memory of the command at one time.
type Sample struct {
	At          time.Duration // since the start, of all runs
	Requests    int           // so far
	RSS         int           // bytes
	Highest     int           // highest RSS of the run so far
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

// Thirds returns the highest RSS in the middle third and in the last third of the requests.
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

// Tenths returns, for each tenth of the requests, the sample with the most memory, with the most
// descriptors of all samples in that tenth.
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

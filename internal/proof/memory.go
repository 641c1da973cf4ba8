package proof

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Sample is what the command had at one time.
type Sample struct {
	At          time.Duration // of all runs
	Requests    int           // made until then
	RSS         int           // bytes
	Highest     int           // RSS of its run until then
	Descriptors int
}

// sample takes that of a process: proc(5).
func sample(pid int) (s Sample, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		var to *int
		switch name {
		case "VmRSS":
			to = &s.RSS
		case "VmHWM":
			to = &s.Highest
		default:
			continue
		}
		if *to, err = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB")); err != nil {
			return s, err
		}
		*to <<= 10
	}
	if s.RSS == 0 {
		return s, fmt.Errorf("process %d has no memory: it has ended", pid)
	}
	open, err := os.ReadDir(dir + "fd")
	s.Descriptors = len(open)
	return s, err
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

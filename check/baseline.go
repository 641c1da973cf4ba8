package check

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Baseline is a list of known findings. They are known by rule, page and URL, so that they remain
// known where the page changes. It belongs to one check.
type Baseline struct {
	known map[knownFinding]bool // whether the check has found it
}

type knownFinding struct {
	Rule string `json:"rule"`
	Page string `json:"page"`
	URL  string `json:"url,omitempty"`
}

// ReadBaseline reads what WriteBaseline has written.
func ReadBaseline(from io.Reader) (*Baseline, error) {
	b := &Baseline{make(map[knownFinding]bool)}
	in := bufio.NewReaderSize(from, 64<<10)
	for n := 1; ; n++ {
		line, _, err := readLine(in)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if len(line) > 0 {
			var k knownFinding
			if json.Unmarshal(line, &k) != nil || k.Rule == "" {
				return nil, fmt.Errorf("line %d: %.64q, expected a finding of --write-baseline", n, line)
			}
			b.known[k] = false
		}
		if err == io.EOF {
			return b, nil
		}
	}
}

// WriteBaseline writes a baseline: a line of JSON for each rule, page and URL of a report's errors
// and warnings, and of the findings that an earlier baseline knows.
func WriteBaseline(to io.Writer, r *Report) error {
	out := bufio.NewWriter(to)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var last knownFinding
	for f, err := range r.Findings() {
		if err != nil {
			return err
		}
		k := knownFinding{f.Rule, f.Page, f.URL}
		if f.Level == Note || k == last {
			continue
		}
		last = k
		if err := enc.Encode(k); err != nil {
			return err
		}
	}
	for _, k := range r.baseline.found() {
		if err := enc.Encode(k); err != nil {
			return err
		}
	}
	return out.Flush()
}

// found returns the known findings that the check has found, in order.
func (b *Baseline) found() (all []knownFinding) {
	if b == nil {
		return nil
	}
	for k, found := range b.known {
		if found {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b knownFinding) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Rule, b.Rule))
	})
	return all
}

// has reports whether a finding is known.
func (b *Baseline) has(f *Finding) bool {
	if b == nil {
		return false
	}
	k := knownFinding{f.Rule, f.Page, f.URL}
	_, known := b.known[k]
	if known {
		b.known[k] = true
	}
	return known
}

package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Baseline is a list of known findings. They are known by rule, page and URL, so that they remain
// known where the page changes.
type Baseline struct{ known map[knownFinding]bool }

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
			b.known[k] = true
		}
		if err == io.EOF {
			return b, nil
		}
	}
}

// WriteBaseline writes the findings of a report as a baseline, those of notes left out: a line of
// JSON for each rule, page and URL.
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
	return out.Flush()
}

func (b *Baseline) has(f *Finding) bool {
	return b != nil && b.known[knownFinding{f.Rule, f.Page, f.URL}]
}

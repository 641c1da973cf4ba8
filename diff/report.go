package diff

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Report is a comparison that was made. It holds its changes on disk; close it.
type Report struct {
	Summary Summary

	changes *spool[Change]
}

func newReport(temp string) (*Report, error) {
	changes, err := newSpool[Change](temp)
	return &Report{changes: changes}, err
}

// Changes yields the changes: those of each site, then the pages that are new, gone and moved. It
// may be called again.
func (r *Report) Changes() iter.Seq2[*Change, error] { return r.changes.each() }

// changesOf yields the changes of a kind.
func (r *Report) changesOf(kind Kind) iter.Seq2[*Change, error] {
	return func(yield func(*Change, error) bool) {
		for c, err := range r.Changes() {
			if err == nil && c.Kind != kind {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Close removes the changes.
func (r *Report) Close() error { return r.changes.close() }

// Style is the form of a report. The zero value has all of it, plain.
type Style struct {
	Clean func(string) string // makes text from the Web safe for a terminal; nil: it goes to none
	Color bool                // in text
	Limit int                 // changes of each kind; JSON has all; 0: see docs/diff.md
	To    string              // addresses of mail; "": whoever sends it adds them
	Date  time.Time           // of mail; zero: now
}

// writeJSON writes a line for each change, and the summary as the last one.
func writeJSON(w io.Writer, r *Report, _ Style) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for c, err := range r.Changes() {
		if err != nil {
			return err
		}
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	return errors.Join(enc.Encode(&r.Summary), out.Flush())
}

// maxLine bounds a line that Read takes: the longest that a comparison writes has MaxDetails
// details.
const maxLine = 64 << 20

// Read reads a report that was written as JSON. Temp is a folder for what does not fit into memory,
// "" that for temporary files. Close the report.
func Read(from io.Reader, temp string) (_ *Report, err error) {
	r, err := newReport(temp)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	in := bufio.NewScanner(from)
	in.Buffer(make([]byte, 64<<10), maxLine)
	whole := false
	for n := 1; in.Scan(); n++ {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		if whole {
			return nil, fmt.Errorf("line %d: a line behind the summary, which is the last", n)
		}
		var c Change
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("line %d: %w, expected a line of weft diff --format json", n, err)
		}
		switch c.Kind {
		case summaryKind:
			whole = true
			if err := json.Unmarshal(line, &r.Summary); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		case Changed, New, Gone, Moved, Shared, NotCompared:
			if err := r.changes.add(&c); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("line %d: kind %.64q, expected that of a change, such as %q", n, c.Kind, Changed)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if !whole {
		return nil, errors.New("no summary, expected it as the last line: the report is not complete")
	}
	return r, nil
}

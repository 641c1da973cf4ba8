package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
)

// Totals are the counts of a report.
type Totals struct {
	Pages     int `json:"pages"`     // read for links
	Links     int `json:"links"`     // mentions of a URL on them
	URLs      int `json:"urls"`      // that were asked for
	OK        int `json:"ok"`        // URLs, as the others here
	Broken    int `json:"broken"`    //
	Unknown   int `json:"unknown"`   // whether they work cannot be told
	Unchecked int `json:"unchecked"` // links to URLs that were not asked for
	Unread    int `json:"unread"`    // pages whose body is damaged

	Files       FileTotals            `json:"files,omitzero"`
	NeedScripts int                   `json:"need_scripts,omitempty"` // pages that look empty
	Documents   record.DocumentCounts `json:"documents,omitzero"`     // URLs, or files, not read
	NoBodies    bool                  `json:"no_bodies,omitempty"`    // of the job

	Errors   int            `json:"errors"` // findings of this level
	Warnings int            `json:"warnings"`
	Notes    int            `json:"notes"`
	Rules    map[string]int `json:"rules"`              // findings by rule
	Known    int            `json:"known"`              // in the baseline, and counted only here
	Unlisted int            `json:"unlisted,omitempty"` // findings that count, too many to be listed

	Ungrouped int `json:"ungrouped,omitempty"` // findings in no problem: there was no room for more

	Statuses map[string]int `json:"statuses"` // URLs by status, or error kind
	Depths   map[int]int    `json:"depths"`   // pages by the links from a seed
	Times    []Bucket       `json:"times"`    // pages by response time, in milliseconds
	Sizes    []Bucket       `json:"sizes"`    // pages by size, in bytes
}

// FileTotals are the counts of a check of files.
type FileTotals struct {
	HTML     int `json:"html"`     // files that were read
	Markdown int `json:"markdown"` //
	Other    int `json:"other"`    // files in the folders that are neither
	ToFiles  int `json:"to_files"` // links
	ToWeb    int `json:"to_web"`   //
}

// Bucket is a part of a distribution.
type Bucket struct {
	Below int64 `json:"below,omitempty"` // 0: no bound
	Count int   `json:"count"`
}

var (
	timeBounds = []int64{50, 100, 200, 500, 1000, 2000, 5000, 10_000, 0}
	sizeBounds = []int64{1 << 10, 10 << 10, 50 << 10, 100 << 10, 500 << 10, 1 << 20, 5 << 20, 0}
)

func buckets(bounds []int64) []Bucket {
	all := make([]Bucket, len(bounds))
	for i, b := range bounds {
		all[i].Below = b
	}
	return all
}

func count(all []Bucket, value int64) {
	for i := range all {
		if value < all[i].Below || all[i].Below == 0 {
			all[i].Count++
			return
		}
	}
}

// PageRow is a page in a report.
type PageRow struct {
	URL         string  `json:"url"`
	Status      int     `json:"status,omitempty"`
	ErrorKind   string  `json:"error_kind,omitempty"`
	Redirect    string  `json:"redirect,omitempty"`
	ContentType string  `json:"content_type,omitempty"`
	Title       string  `json:"title,omitempty"`
	Depth       int     `json:"depth"`
	Bytes       int64   `json:"bytes"`    // of the body
	TotalMS     float64 `json:"total_ms"` // until its last byte
	LinksIn     int     `json:"links_in"` // mentions on other pages that were read
	LinksOut    int     `json:"links_out"`
	Errors      int     `json:"errors"` // findings on the page, by level
	Warnings    int     `json:"warnings"`
	Notes       int     `json:"notes"`
	Verdict     Verdict `json:"verdict"`
}

// Report is the result of a check. Close it.
type Report struct {
	Subject string    // of the check: a folder, or URLs
	Part    string    // the reason why it is only a part of that; "": it is whole
	Began   time.Time // of the first request; zero for files
	Ended   time.Time // of the last one
	Totals  Totals
	Order   Order // of Findings

	Crawl       weft.Summary // of the crawl that Site or Files made; zero if none
	Interrupted bool         // the crawl, or the check, was ended early

	ctx      context.Context // of who makes it: Findings and Pages end with it, too
	dir      string          // for temporary files
	findings *extsort.Sorter
	problems *problems
	baseline *Baseline
	maps     string // that no sitemap was read, in a line; "": no rule misses one
	pages    func(yield func(PageRow, error) bool)
	close    []func() error
}

// Failed reports whether something is broken: whether there are errors.
func (r *Report) Failed() bool { return r.Totals.Errors > 0 }

// Empty reports whether nothing could be checked: no page was read, and nothing is known to be ok
// or broken.
func (r *Report) Empty() bool {
	t := &r.Totals
	return t.Pages == 0 && t.OK == 0 && t.Errors == t.Rules[OwnUnknown]
}

var errStopped = errors.New("stopped")

// Findings yields the findings in the order of the report. It can be called again.
func (r *Report) Findings() iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		err := r.findings.Each(func(line []byte) error {
			var f Finding
			_, text, _ := bytes.Cut(line, keyEnd)
			if err := json.Unmarshal(text, &f); err != nil {
				return err
			}
			if !yield(f, nil) {
				return errStopped
			}
			return r.ctx.Err()
		})
		if err != nil && err != errStopped {
			yield(Finding{}, err)
		}
	}
}

// Problems yields the findings by their problem: those on most pages first, then errors, warnings
// and notes, each with the one that most pages have first. It can be called again.
func (r *Report) Problems() iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		err := r.problems.each(r.dir, r.Totals.Pages, func(p *Problem) error {
			if !yield(*p, nil) {
				return errStopped
			}
			return r.ctx.Err()
		})
		if err != nil && err != errStopped {
			yield(Problem{}, err)
		}
	}
}

// Pages yields the pages in the order of the crawl, or of their paths. It can be called again.
func (r *Report) Pages() iter.Seq2[PageRow, error] { return r.pages }

// Close removes what the report has on disk.
func (r *Report) Close() error {
	err := errors.Join(r.findings.Close(), r.problems.close())
	for _, c := range r.close {
		err = errors.Join(err, c())
	}
	return err
}

// count counts a finding.
func (r *Report) count(f *Finding) {
	t := &r.Totals
	t.Rules[f.Rule]++
	switch f.Level {
	case Error:
		t.Errors++
	case Warning:
		t.Warnings++
	default:
		t.Notes++
	}
}

// line returns a finding as a line that sorts in the order of the report.
func (r *Report) line(f *Finding) []byte {
	place := fmt.Sprintf("%s\x00%09d\x00%09d", oneLine(f.Page), f.Line, f.Column)
	key := place + "\x00" + oneLine(f.URL)
	if r.Order == ByTarget {
		key = oneLine(f.target()) + "\x00" + key
	}
	text, _ := json.Marshal(f) // a struct of strings and numbers
	return append(append([]byte(key+"\x00"+f.Rule), keyEnd...), text...)
}

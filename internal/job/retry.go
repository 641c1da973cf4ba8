package job

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Retry is the progress of a retry: URLs that are finished are asked again, in the same visit.
type Retry string

// States of a retry. The words are part of the format of a job.
const (
	retryTurning Retry = "turning" // its URLs are becoming pending
	retryAsked   Retry = "asked"   // they are, or have been
)

const (
	mostRetried = 1 << 17 // URLs that one pass over the records finds, for their memory
	retryBatch  = 100     // URLs that become pending at once

	longestRecord = 16 << 20 // bytes of a line, as packages that read records have it
)

// Retried is the number of URLs that are asked again, and the summary of the visit without them.
type Retried struct {
	URLs    int
	Summary record.Summary
}

// StartRetry makes the URLs pending again whose last records Options.Retry selects, in many
// batches; nil if no retry starts. After an interruption, another call continues.
func (j *Job) StartRetry(ctx context.Context) (*Retried, error) {
	if j.retry == nil {
		return nil, nil
	}
	f, err := j.Files.Open(j.Files.PathJoin(j.Dir, PagesFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := retry{job: j, records: f, history: j.History}
	r.history.Summary = j.History.Summary.Clone()
	for more := true; more; {
		var found map[string]int64
		if found, more, err = r.find(ctx); err != nil {
			return nil, err
		}
		for some := range slices.Chunk(slices.Sorted(maps.Keys(found)), j.retryBatch) {
			if err = ctx.Err(); err == nil {
				err = r.requeue(some, found)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	j.History.Retry, r.history.Retry = retryAsked, retryAsked
	j.History.Kept = r.history.Kept
	b := j.Store.Begin()
	j.SetHistory(b, r.history)
	return &Retried{r.n, r.history.Summary}, j.Store.Commit(b)
}

// retry is one call of StartRetry.
type retry struct {
	job     *Job
	records interface {
		io.Reader
		io.ReaderAt
	}
	history History
	from    string // URLs before it are pending
	n       int    // of these
}

// find returns the places of selected last records, by their URLs, for the first of the URLs from
// r.from on, and whether there are more.
func (r *retry) find(ctx context.Context) (found map[string]int64, more bool, err error) {
	found = make(map[string]int64)
	end := "" // of the URLs to find; empty: there is none
	lines := bufio.NewReader(io.NewSectionReader(r.records, 0, 1<<62))
	for at := int64(0); ; {
		rec, length, err := readRecord(lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, false, Damaged("records", err)
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		switch {
		case rec.URL < r.from || end != "" && rec.URL >= end:
		case r.job.retry(&rec):
			found[rec.URL] = at
		default:
			delete(found, rec.URL)
		}
		at += int64(length)
		if len(found) > mostRetried {
			end = slices.Sorted(maps.Keys(found))[len(found)/2]
			maps.DeleteFunc(found, func(url string, _ int64) bool { return url >= end })
		}
	}
	r.from = end
	return found, end != "", nil
}

// readRecord reads a line and returns its length, too. The error of half a line is io.EOF.
func readRecord(in *bufio.Reader) (rec record.Record, length int, err error) {
	line, err := in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		for line = slices.Clone(line); err == bufio.ErrBufferFull; {
			if len(line) > longestRecord {
				return rec, 0, fmt.Errorf("a line of more than %d bytes", longestRecord)
			}
			var more []byte
			more, err = in.ReadSlice('\n')
			line = append(line, more...)
		}
	}
	if err == nil {
		err = json.Unmarshal(line, &rec)
	}
	return rec, len(line), err
}

// requeue makes URLs pending whose last records are at these places, in one batch.
func (r *retry) requeue(urls []string, at map[string]int64) error {
	j, s := r.job, &r.history.Summary
	var entries []store.Entry
	for _, url := range urls {
		u, err := weburl.Parse(url)
		if err != nil {
			return Damaged("records", err)
		}
		e, _, err := j.Store.Find(u)
		if err != nil {
			return err
		}
		if e.State != store.Done && e.State != store.Refused { // it is pending already
			continue
		}
		rec, _, err := readRecord(bufio.NewReader(io.NewSectionReader(r.records, at[url], 1<<62)))
		if err != nil {
			return Damaged("records", err)
		}
		if max(1, rec.Visit) < s.Visit { // the visit has not asked it
			r.history.Kept.TakeBack(e.State)
			s.Pending++
		} else {
			s.Discount(&rec, e.State == store.Refused)
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil
	}
	b, err := j.Store.Again(entries, j.Plan.LimitPerHost > 0, j.Plan.Depth > 0)
	if err != nil {
		return err
	}
	s.GivenUp = slices.DeleteFunc(s.GivenUp, func(g record.GivenUp) bool {
		return slices.ContainsFunc(entries, func(e store.Entry) bool { return e.URL.URL.Origin() == g.Origin })
	})
	j.SetHistory(b, r.history)
	j.SetBroken(b, s.Broken)
	r.n += len(entries)
	return j.Store.Commit(b)
}

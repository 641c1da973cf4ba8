package job

import (
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// TestRetryRounds: a retry makes a URL pending once, however often it is interrupted, and goes on
// by its requests alone; when these have ended, the next retry asks again.
func TestRetryRounds(t *testing.T) {
	disk := storetest.New()
	to, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Dir: "/job", Files: disk, Plan: Plan{Seeds: []string{to.String()}}}
	// run opens the job, ends its URL if end says so, and closes it.
	run := func(end bool) (retried *Retried) {
		t.Helper()
		j, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		if retried, err = j.StartRetry(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := j.History
		if !j.Resumed {
			h.Summary = record.NewSummary()
		}
		if retried != nil {
			h.Summary = retried.Summary
		}
		b := j.Store.Begin()
		if end {
			r := record.Record{URL: to.String(), Status: 500, Tries: 1}
			b.Append(PagesFile, r.Line())
			b.Done(frontier.URL{URL: to, Seq: 1, Tries: 1})
			h.Summary.Count(&r)
			h.Summary.Done, h.Summary.Finished = 1, true
		}
		j.SetHistory(b, h)
		if err := j.Store.Commit(b); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		return retried
	}
	expect := func(what string, got *Retried, urls int) {
		t.Helper()
		if urls < 0 && got != nil || urls >= 0 && (got == nil || got.URLs != urls || got.Summary.Done != 0) {
			t.Fatalf("%s: %+v, expected %d URLs, and none done", what, got, urls)
		}
	}
	run(true)
	options.Retry = func(*record.Record) bool { return true }
	expect("the first", run(false), 1)
	expect("it goes on", run(false), -1)
	expect("it ends", run(true), -1)
	expect("the second", run(false), 1)

	j, err := Open(Options{Dir: "/job", Files: disk, Plan: options.Plan})
	if err != nil {
		t.Fatal(err)
	}
	b := j.Store.Begin() // it is killed before it says that its URLs are pending
	j.History.Retry = retryTurning
	j.SetHistory(b, j.History)
	if err := j.Store.Commit(b); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	expect("interrupted", run(false), 0)
}

package weft_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// listOf returns a sequence of seeds.
func listOf(urls ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, u := range urls {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// TestListIsReadAgain checks that a resumed job reads its seed list again. A list that differs is
// an error before anything is fetched, and adds nothing to the job.
func TestListIsReadAgain(t *testing.T) {
	s := leafy(t, 0)
	a, b, c, d := s.URL+"/a", s.URL+"/b", s.URL+"/c", s.URL+"/d"
	dir := filepath.Join(t.TempDir(), "job")
	run := func(amend bool, urls ...string) (weft.Summary, error) {
		crawler, err := weft.New(weft.Options{SeedSeq: listOf(urls...), Scope: weft.ScopePage, Job: dir, Amend: amend})
		if err != nil {
			t.Fatal(err)
		}
		return crawler.Run(t.Context())
	}
	if sum, err := run(false, a, b, c); err != nil || sum.Recorded() != 3 {
		t.Fatalf("%v, %+v", err, sum)
	}
	if sum, err := run(false, a, b, c); err != nil || sum.Recorded() != 3 || !sum.Finished {
		t.Errorf("the same list: %v, %+v", err, sum)
	}
	for name, urls := range map[string][]string{
		"changed": {a, d, c}, "in another order": {a, c, b}, "shorter": {a, b}, "longer": {a, b, c, d},
	} {
		if sum, err := run(false, urls...); !errors.Is(err, weft.ErrPlan) || sum.Recorded() != 3 {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
	}
	if sum, err := run(false, a, b, c); err != nil || sum.Recorded() != 3 {
		t.Errorf("the same list, after others: %v, %+v", err, sum)
	}
	// This run is canceled after the list has been compared, but before the list has ended.
	ctx, cancel := context.WithCancel(t.Context())
	endless := func(yield func(string, error) bool) {
		for _, u := range []string{a, b, c} {
			if !yield(u, nil) {
				return
			}
		}
		cancel()
		<-t.Context().Done()
	}
	crawler, err := weft.New(weft.Options{SeedSeq: endless, Scope: weft.ScopePage, Job: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crawler.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if sum, err := run(false, a, b, c, d); !errors.Is(err, weft.ErrPlan) || sum.Recorded() != 3 {
		t.Errorf("longer, after a canceled run: %v, %+v", err, sum)
	}
	if sum, err := run(true, d, a); err != nil || sum.Recorded() != 4 {
		t.Errorf("amended: %v, %+v", err, sum)
	}
	if sum, err := run(false, d, a); err != nil || sum.Recorded() != 4 {
		t.Errorf("the amended list: %v, %+v", err, sum)
	}
}

// fragile accepts a limited number of writes.
type fragile struct {
	bytes.Buffer
	writes int
}

func (f *fragile) Write(b []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errBroken
	}
	return f.Buffer.Write(b)
}

// TestStreamMissesNothing checks that a URL whose record could not be written to Output is not
// done, and is written when the job resumes.
func TestStreamMissesNothing(t *testing.T) {
	s := leafy(t, 60)
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: filepath.Join(t.TempDir(), "job"), Format: weft.FormatURLs, Delay: 1, Concurrency: 1}
	var got []string
	for writes := range 1000 {
		out := &fragile{writes: writes}
		o.Output = out
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(t.Context())
		got = append(got, strings.Fields(out.String())...)
		if sum.Finished {
			break
		}
		if !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	slices.Sort(got)
	var want []string
	for u := range records(t, o.Job) {
		want = append(want, u)
	}
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) || len(want) != 61 {
		t.Errorf("the stream has %d URLs, and there are %d records", len(got), len(want))
	}
}

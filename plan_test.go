package weft_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestPlan checks that a job resumes only with the frozen options that it started with, and that
// options left out are taken from the job.
func TestPlan(t *testing.T) {
	s := crawltest.Leafy(t, 3)
	seeds := []string{s.URL + "/"}
	original := weft.Options{
		Seeds: seeds, Scope: weft.ScopeDomain, Depth: 3, MaxRedirects: 4, KeepLinks: true, UserAgent: "mybot/1.0 (+https://example.org)",
		Exclude: []*regexp.Regexp{regexp.MustCompile("[.]zip$")}, Job: filepath.Join(t.TempDir(), "job"), Limit: 2,
	}
	run := func(o weft.Options) (weft.Summary, error) {
		c, err := weft.New(o)
		if err != nil {
			return weft.Summary{}, err
		}
		return c.Run(t.Context())
	}
	if sum, err := run(original); err != nil || sum.Stopped != "limit" {
		t.Fatalf("%+v, %v", sum, err)
	}
	for option, change := range map[string]func(*weft.Options){
		"Scope":           func(o *weft.Options) { o.Scope = weft.ScopeAny },
		"Depth":           func(o *weft.Options) { o.Depth = 0 },
		"MaxRedirects":    func(o *weft.Options) { o.MaxRedirects = -1 },
		"KeepLinks":       func(o *weft.Options) { o.KeepLinks = false },
		"Duplicates":      func(o *weft.Options) { o.Duplicates = weft.DuplicatesOff },
		"PruneDuplicates": func(o *weft.Options) { o.PruneDuplicates = true },
		"Archive":         func(o *weft.Options) { o.Archive = true },
		"KeepBodies":      func(o *weft.Options) { o.KeepBodies = true },
		"NoRobots":        func(o *weft.Options) { o.NoRobots = true },
		"Sitemaps":        func(o *weft.Options) { o.Sitemaps = true },
		"UserAgent":       func(o *weft.Options) { o.UserAgent = "otherbot" },
		"Include":         func(o *weft.Options) { o.Include = o.Exclude },
		"Exclude":         func(o *weft.Options) { o.Exclude = nil },
		"LimitPerHost":    func(o *weft.Options) { o.LimitPerHost = 7 },
		"MaxURLLength":    func(o *weft.Options) { o.MaxURLLength = 1000 },
		"MaxPathDepth":    func(o *weft.Options) { o.MaxPathDepth = -1 },
		"MaxRepeats":      func(o *weft.Options) { o.MaxRepeats = 2 },
		"MaxVariants":     func(o *weft.Options) { o.MaxVariants = 7 },
		"Seeds":           func(o *weft.Options) { o.Seeds = append([]string{"http://other.test/"}, o.Seeds...) },
	} {
		o := original
		change(&o)
		_, err := weft.New(o)
		var wrong *weft.OptionError
		if !errors.As(err, &wrong) || wrong.Option != option || !errors.Is(err, weft.ErrPlan) {
			t.Errorf("%s changed: error %v, expected an OptionError", option, err)
		}
	}

	bare := weft.Options{Job: original.Job, Limit: 3}
	if sum, err := run(bare); err != nil || sum.Recorded() != 3 || sum.Runs != 2 {
		t.Errorf("job folder only: %+v, %v", sum, err)
	}
	links, err := os.ReadFile(filepath.Join(original.Job, "links.jsonl"))
	if err != nil || !strings.Contains(string(links), s.URL) {
		t.Errorf("links were not kept: %q, %v", links, err)
	}
	bare.Scope = weft.ScopeAny
	if _, err := weft.New(bare); !errors.Is(err, weft.ErrPlan) {
		t.Errorf("job folder and another scope: %v, expected ErrPlan", err)
	}
	list := func(yield func(string, error) bool) {
		for range 2 {
			if !yield(s.URL+"/", nil) {
				return
			}
		}
		<-t.Context().Done() // the list never ends
	}
	ctx, cancel := context.WithCancel(t.Context())
	listed := weft.Options{SeedSeq: list, Job: filepath.Join(t.TempDir(), "listed"), Hooks: weft.Hooks{OnRecord: func(*weft.Record) { cancel() }}}
	c, err := weft.New(listed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := weft.New(weft.Options{Job: listed.Job}); err == nil || !strings.Contains(err.Error(), "not read to its end") {
		t.Errorf("without the unfinished seed list: %v", err)
	}

	newer := original
	newer.UserAgent, newer.Limit = "mybot/2.0", 0
	if sum, err := run(newer); err != nil || !sum.Finished {
		t.Errorf("newer version of the same bot: %+v, %v", sum, err)
	}
}

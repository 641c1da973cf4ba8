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
		Seeds: seeds, Reach: weft.Reach{Scope: weft.ScopeDomain, Depth: 3, MaxRedirects: 4, Exclude: []*regexp.Regexp{regexp.MustCompile("[.]zip$")}}, Keep: weft.Keep{KeepLinks: true}, HTTP: weft.HTTP{UserAgent: "mybot/1.0 (+https://example.org)"},
		Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: 2},
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
		"Scope":           func(o *weft.Options) { o.Reach.Scope = weft.ScopeAny },
		"Depth":           func(o *weft.Options) { o.Reach.Depth = 0 },
		"MaxRedirects":    func(o *weft.Options) { o.Reach.MaxRedirects = -1 },
		"KeepLinks":       func(o *weft.Options) { o.Keep.KeepLinks = false },
		"Duplicates":      func(o *weft.Options) { o.Keep.Duplicates = weft.DuplicatesOff },
		"PruneDuplicates": func(o *weft.Options) { o.Reach.PruneDuplicates = true },
		"Rendering":       func(o *weft.Options) { o.Render.Rendering = weft.RenderAlways },
		"Archive":         func(o *weft.Options) { o.Keep.Archive = true },
		"KeepBodies":      func(o *weft.Options) { o.Keep.KeepBodies = true },
		"NoRobots":        func(o *weft.Options) { o.Reach.NoRobots = true },
		"Sitemaps":        func(o *weft.Options) { o.Reach.Sitemaps = true },
		"UserAgent":       func(o *weft.Options) { o.HTTP.UserAgent = "otherbot" },
		"Include":         func(o *weft.Options) { o.Reach.Include = o.Reach.Exclude },
		"Exclude":         func(o *weft.Options) { o.Reach.Exclude = nil },
		"LimitPerHost":    func(o *weft.Options) { o.Limits.LimitPerHost = 7 },
		"MaxURLLength":    func(o *weft.Options) { o.Traps.MaxURLLength = 1000 },
		"MaxPathDepth":    func(o *weft.Options) { o.Traps.MaxPathDepth = -1 },
		"MaxRepeats":      func(o *weft.Options) { o.Traps.MaxRepeats = 2 },
		"MaxVariants":     func(o *weft.Options) { o.Traps.MaxVariants = 7 },
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

	bare := weft.Options{Job: original.Job, Limits: weft.Limits{Limit: 3}}
	if sum, err := run(bare); err != nil || sum.Recorded() != 3 || sum.Runs != 2 {
		t.Errorf("job folder only: %+v, %v", sum, err)
	}
	links, err := os.ReadFile(filepath.Join(original.Job, "links.jsonl"))
	if err != nil || !strings.Contains(string(links), s.URL) {
		t.Errorf("links were not kept: %q, %v", links, err)
	}
	bare.Reach.Scope = weft.ScopeAny
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
	newer.HTTP.UserAgent, newer.Limits.Limit = "mybot/2.0", 0
	if sum, err := run(newer); err != nil || !sum.Finished {
		t.Errorf("newer version of the same bot: %+v, %v", sum, err)
	}
}

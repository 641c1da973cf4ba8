package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/inspect"
)

type statusIn struct {
	Job  string `json:"job,omitempty" jsonschema:"name of a job; without it, list all jobs"`
	Wait int    `json:"wait,omitempty" jsonschema:"seconds to wait for the end of the crawl, at most 50"`
	Part
}

func (t *tools) status(ctx context.Context, in statusIn) (*answer, error) {
	a := new(answer)
	var crawls []Crawl
	if t.Crawls != nil {
		if in.Job != "" && in.Wait > 0 && t.sees(in.Job) {
			ctx, cancel := context.WithTimeout(ctx, min(time.Duration(in.Wait)*time.Second, waitFor))
			t.Crawls.Await(ctx, in.Job)
			cancel()
		}
		crawls = t.Crawls.List(t.client)
	}
	if in.Job == "" {
		return a, t.list(ctx, a, in.Part, crawls)
	}
	at := slices.IndexFunc(crawls, func(c Crawl) bool { return c.Name == in.Job })
	if at >= 0 {
		a.say("Crawl: %s.", crawls[at].State)
		if w := crawls[at].Waits; w != "" {
			a.say("It waits: %s.", w)
		}
		if m := crawls[at].Message; m != "" {
			a.content = "message: " + limited(m, 4000) + "\n"
		}
		if _, err := t.find(in.Job); err != nil {
			return a, nil // it waits, or has just begun
		}
	}
	err := t.opened(ctx, in.Job, func(ctx context.Context, job *weft.Job) error {
		s, err := job.Status(ctx)
		if err == nil {
			tell(a, &s)
		}
		return err
	})
	return a, err
}

// list lists the jobs of the folder, and crawls that have none yet.
func (t *tools) list(ctx context.Context, a *answer, p Part, crawls []Crawl) error {
	names, err := t.jobs.names()
	if err != nil {
		return err
	}
	states := make(map[string]string)
	for _, name := range names {
		if t.sees(name) {
			states[name] = "there"
		}
	}
	for _, c := range crawls {
		states[c.Name] = c.State
	}
	ctx, cancel := context.WithTimeout(ctx, listFor)
	defer cancel()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if states[name] == "there" && ctx.Err() == nil { // of thousands, the first ones say how they are
			_ = t.opened(ctx, name, func(ctx context.Context, job *weft.Job) error {
				s, err := job.Status(ctx)
				if err == nil {
					states[name] = string(s.State)
				}
				return err
			})
		}
		lines = append(lines, name+" "+states[name])
	}
	a.say("%d jobs.", len(lines))
	return a.linesPart(p, lines)
}

// tell puts the status of a job into an answer.
func tell(a *answer, s *weft.Status) {
	a.say("Job: %s. Done %d, waiting %d, in flight %d; %d URLs have failed, %d were refused. %d bytes.", s.State, s.Done, s.Pending, s.InFlight, s.Failed, s.Refused, s.Bytes)
	if s.URLsPerSecond > 0 {
		a.say("%.1f URLs a second.", s.URLsPerSecond)
	}
	if s.SecondsLeft > 0 {
		a.say("About %s left.", (time.Duration(s.SecondsLeft) * time.Second).String())
	}
	var b strings.Builder
	b.WriteString(a.content)
	fmt.Fprintf(&b, "first URL: %s\n", line(weft.WithoutSecrets(s.First)))
	for _, reason := range s.Reasons {
		fmt.Fprintf(&b, "reason: %s\n", line(reason))
	}
	for _, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		name := fmt.Sprintf("status %d", status)
		if status == http.StatusNotModified {
			name = "unchanged"
		}
		fmt.Fprintf(&b, "%s: %d\n", name, s.Statuses[status])
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Errors)) {
		fmt.Fprintf(&b, "error %s: %d\n", line(kind), s.Errors[kind])
	}
	if s.FirstError != "" {
		fmt.Fprintf(&b, "first error: %s\n", line(s.FirstError))
	}
	for _, w := range s.Waits {
		fmt.Fprintf(&b, "waits for %s: %d URLs of %d hosts, such as %s\n", w.For, w.Pending, w.Hosts, line(w.Example))
	}
	a.content = b.String()
}

type pagesIn struct {
	JobPart
	State  string `json:"state,omitempty" jsonschema:"only URLs in this state: pending, leased, done, failed or refused; after a recrawl, also unchanged, changed, gone or new"`
	Status string `json:"status,omitempty" jsonschema:"only URLs with one of these statuses, such as 404,5xx or 300..399"`
	Part
}

func (t *tools) pages(ctx context.Context, in pagesIn) (*answer, error) {
	f := weft.URLFilter{State: weft.URLState(in.State)}
	if in.Status != "" {
		var err error
		if f.Status, err = inspect.ParseStatuses(in.Status); err != nil {
			return nil, wrong("status %.64q: %v", in.Status, err)
		}
	}
	a := new(answer)
	var b strings.Builder
	n := 0
	err := t.opened(ctx, in.Job, func(ctx context.Context, job *weft.Job) error {
		after := in.Cursor
		for began := time.Now(); ; {
			// One at a time, once there is little room: the cursor is that of the last one.
			room := (in.room() - b.Len()) / (4 << 10)
			urls, next, err := job.SomeURLs(ctx, f, weft.ListPart{After: after, AtMost: max(1, room), Within: time.Second})
			if errors.Is(err, inspect.ErrState) || errors.Is(err, inspect.ErrCursor) {
				return wrong("%v", err)
			}
			if err != nil {
				return err
			}
			for _, u := range urls {
				n++
				about := string(u.State)
				if u.Status > 0 {
					about = fmt.Sprint(u.Status, " ", u.State)
				}
				if u.ErrorKind != "" {
					about += " (" + u.ErrorKind + ")"
				}
				fmt.Fprintf(&b, "%s %s\n", about, line(u.URL))
			}
			if after = next; next == "" || b.Len() >= in.room()-(4<<10) || time.Since(began) > lookFor/2 {
				a.next = next
				return nil
			}
		}
	})
	a.say("%d URLs.", n)
	a.content = b.String()
	return a, err
}

type checkIn struct {
	JobPart
	Rules string `json:"rules,omitempty" jsonschema:"names of rules, separated by commas, as weft check --rules takes them: links (default), seo, all and others"`
	Part
}

// mostProblems bounds the problems that a check lists.
const mostProblems = 5000

func (t *tools) check(ctx context.Context, in checkIn) (*answer, error) {
	var o check.Options
	if in.Rules != "" {
		var err error
		if o.Rules, err = check.ParseRules(in.Rules); err != nil {
			return nil, wrong("rules: %v", err)
		}
	}
	a := new(answer)
	var lines []string
	err := t.inJob(ctx, in.Job, checkFor, func(ctx context.Context, dir string) error {
		r, err := check.Job(ctx, dir, o)
		if err != nil {
			return err
		}
		defer r.Close()
		x := r.Totals
		a.say("%d pages, %d links; of %d URLs %d are ok, %d broken, %d unknown. %d errors, %d warnings, %d notes.", x.Pages, x.Links, x.URLs, x.OK, x.Broken, x.Unknown, x.Errors, x.Warnings, x.Notes)
		if x.NoBodies {
			a.say("The job has no bodies, so the links of its pages are not known.")
		}
		for p, err := range r.Problems() {
			if err != nil {
				return err
			}
			if len(lines) == mostProblems {
				a.say("Of these, %d problems are listed.", mostProblems)
				break
			}
			lines = append(lines, problemLine(&p))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a, a.linesPart(in.Part, lines)
}

func problemLine(p *check.Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s %s", p.Level, p.Rule, line(p.URL), line(p.Message))
	if p.Pages > 0 {
		fmt.Fprintf(&b, "; on %d pages", p.Pages)
	}
	for i, at := range p.Places {
		if i == 0 {
			b.WriteString(", such as")
		}
		fmt.Fprintf(&b, " %s", line(at.Page))
		if at.Line > 0 {
			fmt.Fprintf(&b, ":%d", at.Line)
		}
	}
	return b.String()
}

type whyIn struct {
	JobPart
	URL string `json:"url" jsonschema:"the URL to explain"`
	Part
}

func (t *tools) why(ctx context.Context, in whyIn) (*answer, error) {
	if _, err := weft.ReadSeed(in.URL); err != nil {
		return nil, wrong("url %.200q, expected an http or https URL", in.URL)
	}
	a := new(answer)
	var b strings.Builder
	err := t.opened(ctx, in.Job, func(ctx context.Context, job *weft.Job) error {
		w, err := job.Why(ctx, in.URL)
		if err != nil {
			return err
		}
		a.say("It is %s; %d pages link to it.", w.State, w.Referrers.Total)
		fmt.Fprintf(&b, "%s\n", line(w.URL))
		for _, s := range w.Steps {
			if !s.At.IsZero() {
				fmt.Fprintf(&b, "%s ", s.At.UTC().Format(time.RFC3339))
			}
			fmt.Fprintf(&b, "%s: %s\n", s.What, line(s.Text))
		}
		for _, r := range w.Referrers.Pages {
			fmt.Fprintf(&b, "linked from %s\n", line(r.URL))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a, a.textPart(in.Part, b.String())
}

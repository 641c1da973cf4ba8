package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

// tries explains how each try ended, after what earlier visits found.
func (q *explainer) tries() {
	q.visits()
	for i, try := range q.entry.URL.Past {
		text := ""
		if q.why.Role == record.RoleExternal && i == 0 {
			text = " HEAD"
		}
		if try.Status != 0 {
			text += fmt.Sprintf(" status %d", try.Status)
		}
		if try.Kind != "" {
			text += " " + try.Kind
		}
		switch {
		case record.IsRedirect(try.Status) && try.Reason != "" && try.Kind == "":
			text += ", leads to " + try.Reason
		case try.Reason != "" && try.Kind == "":
			text += ", " + try.Reason
		case try.Reason != "":
			text += ": " + try.Reason
		}
		q.say(try.At, "try", "%d:%s", i+1, text)
	}
	q.unrendered()
}

// unrendered says why a page was not rendered that the crawl could have had rendered.
func (q *explainer) unrendered() {
	past, known := q.entry.URL.Past, q.entry.URL.Known
	if q.plan.Rendering != "auto" || q.why.Role != "" || len(past) == 0 || known == nil || !record.IsHTML(known.Type) {
		return
	}
	if last := past[len(past)-1]; last.Status >= 200 && last.Status < 300 && !strings.Contains(last.Reason, "rendered (") {
		q.say(last.At, "rendering", "auto: not rendered, as it shows its text or links without scripts")
	}
}

// visits explains what the visits of the job know of the URL, if there are several.
func (q *explainer) visits() {
	v := q.why.Known
	if v == nil || q.history.Summary.Visit <= 1 {
		return
	}
	found := cmp.Or(string(v.Change), "first seen")
	text := fmt.Sprintf("%d: %s, status %d", v.Visit, found, v.Status)
	if !v.ChangedAt.Equal(v.At) {
		text += ", as since " + v.ChangedAt.UTC().Format(time.RFC3339)
	}
	switch {
	case v.ETag != "":
		text += ", ETag " + v.ETag
	case v.LastModified != "":
		text += ", Last-Modified " + v.LastModified
	}
	q.say(v.At, "visit", "%s", text)
}

// rests says when a URL is asked again that is gone for long.
func (q *explainer) rests() {
	if v := q.why.Known; v != nil && v.GoneSince > 0 && q.entry.State == store.Done && q.why.From != "" {
		if next := job.NextAsked(v.GoneSince, v.Visit); next > max(1, q.history.Summary.Visit)+1 {
			q.say(time.Time{}, "next", "gone since visit %d: asked again at visit %d, or when a new page links to it", v.GoneSince, next)
		}
	}
}

package mcp

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

type extractIn struct {
	URL        string   `json:"url,omitempty" jsonschema:"http or https URL of a live page; or pass job"`
	Job        string   `json:"job,omitempty" jsonschema:"name of a job, to extract from all its pages"`
	Fields     []string `json:"fields,omitempty" jsonschema:"fields to extract, each as NAME=SELECTOR, NAME:TYPE=SELECTOR, or NAME[]=SELECTOR for a list; SELECTOR is CSS or XPath, with @attr for an attribute; TYPE is a type such as number, date or url"`
	Each       string   `json:"each,omitempty" jsonschema:"selector of the elements that each make an item; default: each page makes one"`
	Structured bool     `json:"structured,omitempty" jsonschema:"extract JSON-LD, microdata, RDFa, OpenGraph and the like"`
	Live
	Part
}

func (t *tools) extract(ctx context.Context, in extractIn) (*answer, error) {
	var rules []extract.Rule
	if len(in.Fields) > 0 {
		rule, err := extract.Of(in.Fields...)
		if err != nil {
			return nil, wrong("fields: %v", err)
		}
		rule.Each = in.Each
		rules = append(rules, rule)
	}
	x, err := extract.New(rules, in.Structured)
	switch {
	case err != nil:
		return nil, wrong("fields: %v", err)
	case len(rules) == 0 && !in.Structured:
		return nil, wrong("expected fields, or structured")
	case (in.URL == "") == (in.Job == ""):
		return nil, wrong("expected url or job, one of them")
	case in.Job != "" && t.jobs == "":
		return nil, wrong("there are no jobs here")
	case in.Job != "":
		return t.extractJob(ctx, in, x)
	case !t.canFetch:
		return nil, wrong("there are no live pages here")
	}
	var formats []scrape.Format
	if len(rules) > 0 {
		formats = append(formats, scrape.Items)
	}
	if in.Structured {
		formats = append(formats, scrape.Structured)
	}
	ask := in.ask(in.URL, in.Part, formats...)
	ask.Rules = rules
	r, err := t.web.Page(ctx, ask)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	about(a, r)
	a.say("%d items.", len(r.Items))
	var b strings.Builder
	for i := range r.Items {
		line, err := r.Items[i].JSONLine()
		if err != nil {
			return nil, err
		}
		b.Write(line)
	}
	return a, a.textPart(in.Part, b.String())
}

// extractJob finds the items of the pages of a job.
func (t *tools) extractJob(ctx context.Context, in extractIn, x *extract.Extractor) (*answer, error) {
	var b strings.Builder
	items := 0
	a, err := t.overRecords(ctx, in.Job, in.Part, func(r *record.Record, bodies *results.Bodies) error {
		if !r.IsPage() {
			return nil
		}
		u, err := weburl.Parse(r.URL)
		if err != nil || !x.Wants(u) {
			return nil
		}
		body, err := bodies.Read(r)
		if errors.Is(err, results.ErrNoBody) && !bodies.Any() {
			return wrong("the job has no bodies, so there are no fields")
		}
		if err != nil {
			return nil
		}
		text, _ := charset.UTF8(r.Type(), body)
		all := x.Page(u, text)
		var page bytes.Buffer
		for i := range all {
			line, err := all[i].JSONLine()
			if err != nil {
				return err
			}
			page.Write(line)
		}
		if b.Len()+page.Len() > in.room() && b.Len() > 0 {
			return errEnough
		}
		b.WriteString(limited(page.String(), in.room()))
		items += len(all)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.say("%d items.", items)
	a.content = b.String()
	return a, nil
}

package mcp

import (
	"context"

	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/read"
)

type readIn struct {
	URL   string `json:"url" jsonschema:"http or https URL of the page"`
	Job   string `json:"job,omitempty" jsonschema:"name of a job that has the page; without it, the live page is read"`
	Whole bool   `json:"whole,omitempty" jsonschema:"convert the whole page, not only its main content"`
	Live
	Part
}

func (t *tools) read(ctx context.Context, in readIn) (*answer, error) {
	switch {
	case in.Job != "" && t.jobs == "":
		return nil, wrong("there are no jobs here")
	case in.Job != "":
		return t.readJob(ctx, in)
	case !t.canFetch:
		return nil, wrong("there are no live pages here: expected a job")
	}
	ask := in.ask(in.URL, in.Part, scrape.Markdown)
	ask.Whole = in.Whole
	r, err := t.web.Page(ctx, ask)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	about(a, r)
	return a, a.part(in.Part, livePage(r))
}

// readJob reads a page of a job.
func (t *tools) readJob(ctx context.Context, in readIn) (*answer, error) {
	a := new(answer)
	var p read.Page
	err := t.inJob(ctx, in.Job, lookFor, func(ctx context.Context, dir string) (err error) {
		p, err = read.Find(ctx, dir, in.URL, read.Options{Whole: in.Whole, Seen: true})
		return err
	})
	if err != nil {
		return nil, err
	}
	leftOut(a, p.Unseen)
	return a, a.textPart(in.Part, pageText(&p, p.Markdown))
}

package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// scheme is that of the URIs of pages of jobs: weft://JOB/URL, the URL escaped.
const scheme = "weft"

// resources offers the pages of jobs as resources.
func (t *tools) resources() {
	t.server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: scheme + "://{job}/{+url}", Name: "page", Title: "A page of a crawl", MIMEType: "text/markdown",
		Description: "The main content of a page that a job has, as Markdown: weft://JOB/URL.",
	}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		job, page, err := pageOf(r.Params.URI)
		if err != nil {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		a, err := t.readJob(ctx, readIn{URL: page, Job: job, Part: Part{MaxTokens: mostTokens}})
		var m *mistake
		switch {
		case errors.As(err, &m):
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		case err != nil:
			return nil, errors.New("the page cannot be read")
		}
		if a.next != "" {
			a.say("The end is left out: the tool read has it, with a cursor.")
			a.next = ""
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/markdown", Text: a.text()}}}, nil
	})
}

// pageOf reads the URI of a page.
func pageOf(uri string) (job, page string, err error) {
	rest, ok := strings.CutPrefix(uri, scheme+"://")
	job, page, found := strings.Cut(rest, "/")
	if !ok || !found || page == "" {
		return "", "", errors.New("expected weft://JOB/URL")
	}
	if plain, err := url.PathUnescape(page); err == nil && !strings.Contains(page, "://") {
		page = plain
	}
	return job, page, nil
}

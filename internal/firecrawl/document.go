package firecrawl

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// document is a page in an answer.
type document struct {
	Markdown   string   `json:"markdown,omitempty"`
	HTML       string   `json:"html,omitempty"`
	RawHTML    string   `json:"rawHtml,omitempty"`
	Links      []string `json:"links,omitzero"`
	JSON       any      `json:"json,omitempty"`
	Screenshot string   `json:"screenshot,omitempty"` // a data: URL
	Warning    string   `json:"warning,omitempty"`
	Metadata   metadata `json:"metadata"`

	items int // bytes of JSON
}

// metadata describes a page.
type metadata struct {
	Title         string `json:"title,omitempty"`
	Description   string `json:"description,omitempty"`
	Language      string `json:"language,omitempty"`
	Robots        string `json:"robots,omitempty"`
	PublishedTime string `json:"publishedTime,omitempty"`
	ModifiedTime  string `json:"modifiedTime,omitempty"`
	SourceURL     string `json:"sourceURL"`
	URL           string `json:"url"`
	StatusCode    int    `json:"statusCode"`
	ContentType   string `json:"contentType,omitempty"`
	Error         string `json:"error,omitempty"`
}

// documentOf makes a document of a page that was asked for by a URL, in formats.
func documentOf(r *scrape.Result, source string, formats []scrape.Format) *document {
	d := &document{Markdown: r.Markdown, HTML: r.HTML, Metadata: metadata{
		Title: r.Page.Title, Description: r.Page.Description, Language: r.Page.Language, Robots: strings.Join(r.Robots, ","),
		SourceURL: source, URL: r.URL, StatusCode: r.Status, ContentType: r.ContentType,
	}}
	if r.Page.Date != nil {
		d.Metadata.PublishedTime = r.Page.Date.Format(http.TimeFormat)
	}
	if r.Page.Modified != nil {
		d.Metadata.ModifiedTime = r.Page.Modified.Format(http.TimeFormat)
	}
	if r.Status >= 400 {
		d.Metadata.Error = cmp.Or(http.StatusText(r.Status), "an error")
	}
	var warnings []string
	for _, p := range r.Problems {
		warnings = append(warnings, p.Detail)
	}
	if utf8.Valid(r.Raw) {
		d.RawHTML = string(r.Raw)
	} else {
		warnings = append(warnings, "rawHtml: the body is no text")
	}
	if slices.Contains(formats, scrape.Links) {
		d.Links = []string{}
	}
	for _, l := range r.Links {
		if l.Kind == "page" {
			d.Links = append(d.Links, l.URL)
		}
	}
	if len(r.Items) > 0 {
		d.JSON = r.Items[0].Fields
		line, _ := r.Items[0].JSONLine() // what cannot be written is not answered
		d.items = len(line)
		warnings = append(warnings, r.Items[0].Notes...)
	}
	if r.Screenshot != nil {
		d.Screenshot = "data:image/png;base64," + base64.StdEncoding.EncodeToString(r.Screenshot)
	}
	d.Warning = strings.Join(warnings, "; ")
	return d
}

// size is about the length of a document in an answer, in bytes.
func (d *document) size() int {
	n := 1000 + d.items + len(d.Markdown) + len(d.HTML) + len(d.RawHTML)
	for _, l := range d.Links {
		n += len(l) + 3
	}
	return n
}

// isDocument reports whether a record is of a page, and not of a redirect, a failure or a sitemap.
func isDocument(r *record.Record) bool {
	return r.ErrorKind == "" && r.Redirect == "" && r.Sitemap == "" && r.Status > 0
}

// isForbidden reports whether robots.txt is why a record is of no page.
func isForbidden(r *record.Record) bool {
	return r.ErrorKind == weft.KindRobots || r.ErrorKind == weft.KindNoRobots
}

// pageOf says what is made of the pages of a crawl.
func pageOf(c *crawls.Crawl) (p page, err error) {
	if len(c.Note) > 0 {
		err = json.Unmarshal(c.Note, &p)
	}
	return p, err
}

// saved makes a document of a page that a crawl has kept.
func (s *server) saved(ctx context.Context, p page, bodies *results.Bodies, r *record.Record) *document {
	body, err := bodies.Read(r)
	if err == nil {
		var made *scrape.Result
		a := scrape.Ask{Formats: p.Formats, Whole: p.Whole, Rules: p.Rules}
		if made, err = s.scraper.Saved(ctx, a, &weft.Page{Record: r, Body: body}); err == nil {
			return documentOf(made, r.URL, p.Formats)
		}
	}
	return &document{Warning: err.Error(), Metadata: metadata{Title: r.Title, Description: r.Description, SourceURL: r.URL, URL: r.URL, StatusCode: r.Status, ContentType: r.ContentType}}
}

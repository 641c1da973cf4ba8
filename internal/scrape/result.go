package scrape

import (
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/record"
)

// Result is a page. Its status may be any: an error page is a page, too. It is not to be changed.
type Result struct {
	URL         string // behind all redirects
	Redirects   []Redirect
	Status      int
	ContentType string
	Header      httpclient.Header
	Bytes       int // of the body

	// Page has the words of the page about itself; its texts are empty.
	Page      read.Page
	Canonical string
	Robots    []string // its directives to crawlers

	Markdown, Text, HTML string
	Raw                  []byte
	Links                []Link
	Items                []record.Item
	Screenshot           []byte // PNG

	Rendered     string // the reason for which the page was rendered; empty: it was not
	NeedsScripts string // the sign that it is empty until its scripts run, if it was not rendered

	// Problems are the errors by which a part is missing.
	Problems []*Error

	At     time.Time // of the request
	Waited time.Duration
	Took   time.Duration // without Waited

	form
}

// Redirect is a response that leads on.
type Redirect struct {
	URL    string
	Status int
	To     string
}

// Link is a URL that a page mentions, with its first text.
type Link struct {
	URL, Text, Rel string
	Kind           string // of package links: page, image and so on
	NoFollow       bool
}

// mostLinks bounds the links of a Result.
const mostLinks = 10_000

func (r *Result) lacks(kind Kind, detail string) {
	r.Problems = append(r.Problems, &Error{Kind: kind, URL: r.URL, Detail: detail})
}

// size estimates the memory of a result, in bytes. Its further form may be twice the Markdown.
func (r *Result) size() int {
	n := 4<<10 + 3*len(r.Markdown) + len(r.Text) + len(r.HTML) + len(r.Raw) + len(r.Screenshot)
	for i := range r.Links {
		n += 100 + len(r.Links[i].URL) + len(r.Links[i].Text)
	}
	for i := range r.Items {
		line, _ := r.Items[i].JSONLine()
		n += 4 * len(line)
	}
	return n
}

package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/scrape"
)

// Live is the way to request a live page.
type Live struct {
	Render string `json:"render,omitempty" jsonschema:"whether a browser runs the scripts of the page, if the operator allows it: auto (default: if the page is empty without them), always or no"`
	Aged
}

// Ages of a copy.
const (
	usualAge = 5 * time.Minute
	readOn   = 30 * time.Minute // of one that is read on
)

// Aged is the age that a copy may have.
type Aged struct {
	Fresh bool `json:"fresh,omitempty" jsonschema:"request the page again, even if it was received in the last five minutes"`
}

// age is that of a copy that may be used, for a part of an answer.
func (x Aged) age(p Part) time.Duration {
	switch {
	case p.Cursor != "":
		return readOn
	case x.Fresh:
		return 0
	}
	return usualAge
}

// ask fills in what an agent asks for.
func (l Live) ask(url string, p Part, formats ...scrape.Format) scrape.Ask {
	return scrape.Ask{URL: url, Render: scrape.Rendering(l.Render), MaxAge: l.age(p), Formats: formats}
}

type fetchIn struct {
	URL    string            `json:"url" jsonschema:"http or https URL"`
	Format string            `json:"format,omitempty" jsonschema:"form of the body: raw (default: as received), markdown, text, html (of the main content), links, or structured (JSON-LD and the like)"`
	Whole  bool              `json:"whole,omitempty" jsonschema:"with markdown, text and html: convert the whole page, not only its main content"`
	Header map[string]string `json:"header,omitempty" jsonschema:"further header fields to send"`
	Live
	Part
}

func (t *tools) fetch(ctx context.Context, in fetchIn) (*answer, error) {
	format := scrape.Format(in.Format)
	switch format {
	case "":
		format = scrape.Raw
	case scrape.Raw, scrape.Markdown, scrape.Text, scrape.HTML, scrape.Links, scrape.Structured:
	default:
		return nil, wrong("format %.64q, expected raw, markdown, text, html, links or structured", in.Format)
	}
	ask := in.ask(in.URL, in.Part, format)
	ask.Whole = in.Whole
	if format == scrape.Raw && ask.Render == "" {
		ask.Render = scrape.RenderNo
	}
	for name, value := range in.Header {
		ask.Header = append(ask.Header, httpclient.Field{Name: name, Value: value})
	}
	r, err := t.web.Page(ctx, ask)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	about(a, r)
	var text strings.Builder
	if in.Cursor == "" {
		for _, d := range r.Redirects {
			fmt.Fprintf(&text, "%d %s -> %s\n", d.Status, line(d.URL), line(d.To))
		}
		fmt.Fprintf(&text, "%d %s\n", r.Status, line(r.URL))
		for _, f := range r.Header {
			fmt.Fprintf(&text, "%s: %s\n", line(f.Name), line(f.Value))
		}
		problems(&text, r.Problems)
		text.WriteByte('\n')
	}
	switch format {
	case scrape.Raw:
		if !isReadable(r) {
			a.say("The body is no text, so it is not shown.")
			break
		}
		text.Write(r.Raw)
	case scrape.Links:
		for _, l := range r.Links {
			fmt.Fprintf(&text, "%s %s %s\n", l.Kind, l.URL, line(l.Text))
		}
	case scrape.Structured:
		for i := range r.Items {
			line, err := r.Items[i].JSONLine()
			if err != nil {
				return nil, err
			}
			text.Write(line)
		}
	default:
		text.WriteString(r.Markdown + r.Text + r.HTML)
	}
	return a, a.textPart(in.Part, text.String())
}

type mapIn struct {
	URL        string `json:"url" jsonschema:"http or https URL of any page of the site"`
	Search     string `json:"search,omitempty" jsonschema:"list only URLs that have all these words, in the URL or in the text of a link to it"`
	Subdomains bool   `json:"subdomains,omitempty" jsonschema:"include the other hosts of the domain"`
	Limit      int    `json:"limit,omitempty" jsonschema:"maximum number of URLs; default 1000, at most 10000"`
	Aged
	Part
}

func (t *tools) mapSite(ctx context.Context, in mapIn) (*answer, error) {
	const usual, most = 1_000, 10_000
	ask := scrape.MapAsk{URL: in.URL, Search: in.Search, Subdomains: in.Subdomains, Limit: usual, MaxAge: in.age(in.Part)}
	if in.Limit > 0 {
		ask.Limit = min(in.Limit, most)
	}
	m, err := t.web.Map(ctx, ask)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	a.say("%d URLs, from %d sitemaps and the links of the page.", len(m.URLs), len(m.Sitemaps))
	if m.Cut != "" {
		a.say("There may be more: %s.", m.Cut)
	}
	var lines []string
	if in.Cursor == "" {
		var b strings.Builder
		problems(&b, m.Problems)
		lines = append(lines, b.String())
	} else {
		lines = append(lines, "") // the same number of lines
	}
	for _, u := range m.URLs {
		lines = append(lines, strings.TrimRight(u.URL+" "+line(u.Text), " "))
	}
	return a, a.linesPart(in.Part, lines)
}

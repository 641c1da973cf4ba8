package mcp

import (
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/read"
)

// about says in Weft's own words what is to be known of a response.
func about(a *answer, r *scrape.Result) {
	a.say("Status %d, %d bytes.", r.Status, r.Bytes)
	if r.Rendered != "" {
		a.say("A browser has run the scripts of the page.")
	}
	leftOut(a, r.Page.Unseen)
	for _, p := range r.Problems {
		a.say("Incomplete: %s.", p.Kind)
	}
}

// leftOut says how much of a page is unseen.
func leftOut(a *answer, n read.Unseen) {
	if n.Elements+n.Characters > 0 {
		a.say("Left out, as people do not see it: %d elements and %d characters.", n.Elements, n.Characters)
	}
}

// problems lists what is missing.
func problems(b *strings.Builder, all []*scrape.Error) {
	for _, p := range all {
		fmt.Fprintf(b, "missing: %s: %s\n", line(p.URL), line(p.Detail))
	}
}

// livePage is a live page as an agent reads it. It is made once for each result.
func livePage(r *scrape.Result) *document {
	return r.Form(func() any {
		var b strings.Builder
		problems(&b, r.Problems)
		p := r.Page
		p.URL = r.URL
		return newDocument(pageText(&p, b.String()+r.Markdown))
	}).(*document)
}

// pageText is a text with what its page says of itself.
func pageText(p *read.Page, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "URL: %s\n", line(p.URL))
	for _, f := range [][2]string{{"Title", p.Title}, {"Author", p.Author}, {"Site", p.Site}, {"Language", p.Language}, {"Description", p.Description}} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", f[0], line(f[1]))
		}
	}
	if d := p.Date; d != nil {
		fmt.Fprintf(&b, "Published: %s\n", d.Format(time.DateOnly))
	}
	return b.String() + "\n" + text
}

// line is a text in one line.
func line(s string) string { return limited(strings.Join(strings.Fields(s), " "), 4<<10) }

// isReadable reports whether a body is a text.
func isReadable(r *scrape.Result) bool { return scrape.IsText(r.ContentType) }

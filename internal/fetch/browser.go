package fetch

import (
	"net/http"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// PageRules say which requests of a page are made that a browser renders, in a crawl and alone.
type PageRules struct {
	Page  weburl.URL
	Block blocklist.Lists
	Seen  bool // images, media and fonts matter
	Posts bool // POSTs are made, too: the caller decides where to
}

// Reasons to refuse a request of a page.
const (
	errScheme    render.ByRule = "no URL of http or https"
	errNotNeeded render.ByRule = "not needed"
)

// blockedBy begins the reason of a request that a list blocks.
const blockedBy = "blocked: "

// Judge returns the URL of a request, or a render.ByRule that forbids it.
func (p *PageRules) Judge(q *render.Request) (weburl.URL, error) {
	u, err := weburl.Parse(q.URL)
	switch {
	case err != nil || !u.IsHTTP():
		return u, errScheme
	case !p.Seen && (q.Type == render.TypeImage || q.Type == render.TypeMedia || q.Type == render.TypeFont):
		return u, errNotNeeded
	}
	if rule := p.Block.Blocks(blocklist.Request{URL: u, Page: p.Page, Type: string(q.Type)}); rule != "" {
		return u, render.ByRule(blockedBy + rule)
	}
	if q.Method != http.MethodGet && (q.Method != http.MethodPost || !p.Posts) {
		return u, render.ByRule("method " + q.Method)
	}
	return u, nil
}

// ours are fields of a browser's request that Weft's client sends as it does, or nobody.
var ours = map[string]bool{
	"host": true, "connection": true, "content-length": true, "accept-encoding": true, "user-agent": true, "te": true,
	"upgrade-insecure-requests": true, "cache-control": true, "pragma": true, "purpose": true,
}

// FromBrowser returns the header of a browser's request as Weft sends it. The cookies are those of
// the browser, unless there is a jar.
func FromBrowser(q *render.Request, jar bool) (h httpclient.Header) {
	for _, f := range q.Header {
		name := strings.ToLower(f.Name)
		if !ours[name] && !strings.HasPrefix(name, "sec-") && (name != "cookie" || !jar) {
			h = append(h, httpclient.Field{Name: f.Name, Value: f.Value})
		}
	}
	return h
}

// ForBrowser returns the header of a response as a browser gets it.
func ForBrowser(h httpclient.Header) (all []render.Field) {
	for _, f := range h {
		all = append(all, render.Field{Name: f.Name, Value: f.Value})
	}
	return all
}

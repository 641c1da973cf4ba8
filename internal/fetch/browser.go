package fetch

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// PageRules select the requests to make of a page that a browser renders, in a crawl and alone.
type PageRules struct {
	Page  weburl.URL
	Block blocklist.Lists
	Seen  bool // images, media and fonts matter
	Posts bool // POSTs are made, too: the caller decides where to

	OwnPosts bool // POSTs to the page's own site are made
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
	return u, p.judgeMethod(u, q)
}

// judgeMethod judges the method of a request, or that which a preflight asks for.
func (p *PageRules) judgeMethod(u weburl.URL, q *render.Request) error {
	method, own := q.Method, weburl.SameSite(u, p.Page)
	asks := isPreflight(q)
	if asks {
		method = fieldOf(q, "Access-Control-Request-Method")
	}
	switch {
	case method == http.MethodGet, method == http.MethodHead, method == http.MethodPost && p.Posts && !asks:
		return nil
	case method != http.MethodPost:
		return render.ByRule("method " + method)
	case !p.OwnPosts && !p.Posts:
		return render.ByRule("method POST, which --render-post allows to the page's site")
	case !own:
		return render.ByRule("method POST to another site")
	case !isBySite(q, p.Page):
		return render.ByRule("method POST of a frame of another site")
	case len(q.Body) > seed.MaxPost:
		return render.ByRule(fmt.Sprintf("a body of %d bytes, of at most %d", len(q.Body), seed.MaxPost))
	}
	return nil
}

// isBySite reports whether a request is made by documents of the page's site alone, as far as is
// known, and by the origin that the browser names, if it does.
func isBySite(q *render.Request, page weburl.URL) bool {
	isOther := func(origin string) bool {
		u, err := weburl.Parse(origin)
		return err != nil || !weburl.SameSite(u, page)
	}
	named := fieldOf(q, "Origin")
	return !slices.ContainsFunc(q.From, isOther) && (named == "" || !isOther(named))
}

// isPreflight reports whether a request asks whether another one may be made:
// https://fetch.spec.whatwg.org/#cors-preflight-request.
func isPreflight(q *render.Request) bool {
	return q.Method == http.MethodOptions && fieldOf(q, "Access-Control-Request-Method") != ""
}

// Preflight returns the answer to the preflight of a POST that was judged; nil: it is another
// request. The server is not asked: both are of one site, and whether the page may have the
// response, that says.
func Preflight(q *render.Request) *render.Response {
	if !isPreflight(q) || fieldOf(q, "Access-Control-Request-Method") != http.MethodPost {
		return nil
	}
	return &render.Response{Status: http.StatusNoContent, Header: []render.Field{
		{Name: "Access-Control-Allow-Origin", Value: fieldOf(q, "Origin")},
		{Name: "Access-Control-Allow-Credentials", Value: "true"},
		{Name: "Access-Control-Allow-Methods", Value: fieldOf(q, "Access-Control-Request-Method")},
		{Name: "Access-Control-Allow-Headers", Value: fieldOf(q, "Access-Control-Request-Headers")},
	}}
}

// fieldOf returns a field of a request, or "".
func fieldOf(q *render.Request, name string) string {
	for _, f := range q.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// postBy returns the POST that a request of a page is; nil: it is none.
func postBy(q *render.Request) *seed.Post {
	if q.Method != http.MethodPost {
		return nil
	}
	return &seed.Post{URL: q.URL, Type: fieldOf(q, "Content-Type"), Body: q.Body}
}

// ours are fields of a browser's request that Weft's client sends as it does, or nobody.
var ours = map[string]bool{
	"host": true, "connection": true, "content-length": true, "accept-encoding": true, "user-agent": true, "te": true,
	"upgrade-insecure-requests": true, "cache-control": true, "pragma": true, "purpose": true,
}

// FromBrowser returns the header of a browser's request as Weft sends it, but for cookies.
func FromBrowser(q *render.Request) (h httpclient.Header) {
	for _, f := range q.Header {
		name := strings.ToLower(f.Name)
		if !ours[name] && !strings.HasPrefix(name, "sec-") && name != "cookie" {
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

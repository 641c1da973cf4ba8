package fetch

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/httpcache"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Exchange is a request that a page has made while it was rendered, for the record of its URL, if
// the crawl comes to that, too: the URL is not requested twice.
type Exchange struct {
	res    httpclient.Response // without its body
	at     time.Time           // it was requested
	accept string              // the field of the request

	placed atomic.Bool // by the coordinator, which sets the rest
	file   string
	offset int64
	past   frontier.Capture
}

// newExchange returns the exchange of a request of a page.
func newExchange(q *render.Request, res *httpclient.Response, at time.Time) *Exchange {
	x := &Exchange{res: res.Detached(), at: at, accept: fieldOf(q, "Accept")}
	x.res.Header = slices.Clone(x.res.Header)
	return x
}

// Size is the memory of the exchange beside that of the response as pages get it: see httpcache.
func (x *Exchange) Size() int {
	n := len(x.res.RawHead) + len(x.res.Sent) + len(x.accept)
	for _, f := range x.res.Trailer {
		n += len(f.Name) + len(f.Value)
	}
	return n
}

// Placed takes in where the archive has the exchange.
func (x *Exchange) Placed(file string, offset int64, past frontier.Capture) {
	x.file, x.offset, x.past = file, offset, past
	x.placed.Store(true)
}

// placeIn puts into an outcome of the exchange's URL where the archive has it.
func (x *Exchange) placeIn(out *Outcome, visit int) {
	if x.placed.Load() {
		out.Record.WARCFile, out.Record.WARCOffset = x.file, x.offset
		out.captured(x.past, visit)
	}
}

// cachedAs returns the name of a URL in the cache. Strangers have one of their own: they may not
// read what a secret of the crawl brings, and by the Referer and the Accept that they choose, a
// server may tell them something else. What was requested before a session was read again, by its
// Reads then, may be what is shown to those who are logged out.
func cachedAs(u weburl.URL, stranger bool, session int) string {
	name := u.String()
	if stranger {
		return name
	}
	name += "\nown"
	if session > 1 {
		name += "\n" + strconv.Itoa(session)
	}
	return name
}

// isForeign reports whether a URL is an asset beyond the bounds that pages of other sites may need,
// which request it as strangers. Of which page a style sheet is that needs it, nobody knows.
func isForeign(u *frontier.URL) bool {
	from, err := weburl.Parse(u.From)
	return u.Role == frontier.RoleAsset && (u.Rank < 0 || err == nil && !weburl.SameSite(from, u.URL))
}

// identifies reports whether a request of the crawl for a URL may carry a secret.
func (c *Config) identifies(u weburl.URL) bool {
	return c.HTTP.Identifies(u.Host()) || c.HTTP.Cookies != nil && c.CookiesFor(u) != 0
}

// carriesSecret reports whether a request of the crawl was sent with one.
func carriesSecret(req *httpclient.Request) bool {
	return req.Header.Get("Cookie")+req.Header.Get("Authorization") != ""
}

// assetKey is the key of a script, a style sheet or the like in the cache, for requests that name
// no origin.
func assetKey(name string) string { return name + "\nasset" }

// isAsset reports whether a request of a page is for a part of it that hardly changes during a
// crawl.
func (r *Rendering) isAsset(q *render.Request) bool {
	switch q.Type {
	case render.TypeScript, render.TypeStylesheet, render.TypeFont:
		return true
	case render.TypeImage, render.TypeMedia:
		return r.Assets
	}
	return false
}

// isPart reports whether a URL of the crawl is a part of pages, by its role, or by the Content-Type
// of its response: another one may be a page, which servers show in the form that is accepted.
func isPart(role frontier.Role, contentType string) bool {
	return role == frontier.RoleNeeded || role == frontier.RoleAsset || links.IsScript(contentType) || isStyle(contentType)
}

// kept returns the response to a URL that a page has requested; nil: none has, or the place of the
// exchange in the archive is not known yet.
func (f *fetcher) kept(x *fetching) *httpclient.Response {
	u := &x.lease.URL
	if f.cfg.Render == nil || x.req.Method != "" || u.Tries > 0 {
		return nil
	}
	got, ok := f.cfg.Render.Cache.Get(assetKey(cachedAs(u.URL, false, x.session)))
	if !ok && isForeign(u) && !f.cfg.identifies(u.URL) {
		got, ok = f.cfg.Render.Cache.Get(assetKey(cachedAs(u.URL, true, x.session)))
	}
	from, _ := got.Exchange.(*Exchange)
	if !ok || from == nil || !isPart(u.Role, from.res.Header.Get("Content-Type")) || f.cfg.Archive != nil && !from.placed.Load() {
		return nil
	}
	x.kept = from
	res := from.res
	res.Body = got.Body
	res.CountWith(f.pages.renders.shared.Bodies)
	res.Keep(len(res.Body))
	return &res
}

// keep lets pages use the response to the request of a URL: none asks again for a script that the
// crawl has fetched.
func (f *fetcher) keep(x *fetching, r *record.Record, res *httpclient.Response) {
	u := &x.lease.URL
	if f.cfg.Render == nil || x.req.Method != "" || res.Truncated || !isPart(u.Role, r.Type()) {
		return
	}
	kept := httpcache.Response{Status: res.Status, Header: slices.Clone(res.Header)}
	if life := httpcache.Lifetime(&kept, true, f.clock.loop.Wall()); life > 0 && !httpcache.Varies(&kept, "Accept") {
		kept.Body = slices.Clone(res.Body)
		f.cfg.Render.Cache.Keep(assetKey(cachedAs(u.URL, false, x.session)), kept, life)
		if u.Role == frontier.RoleAsset && !carriesSecret(&x.req) {
			f.cfg.Render.Cache.Keep(assetKey(cachedAs(u.URL, true, x.session)), kept, life)
		}
	}
}

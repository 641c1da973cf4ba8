package fetch

import (
	"slices"
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
	res httpclient.Response // without its body
	at  time.Time           // it was requested

	placed atomic.Bool // by the coordinator, which sets the rest
	file   string
	offset int64
	past   frontier.Capture
}

// newExchange returns the exchange of a response.
func newExchange(res *httpclient.Response, at time.Time) *Exchange {
	x := &Exchange{res: res.Detached(), at: at}
	x.res.Header = slices.Clone(x.res.Header)
	return x
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

// cachedAs returns the name of a URL in the cache, which is another one for requests that carry a
// secret of the crawl: strangers may not read what those bring.
func (c *Config) cachedAs(u weburl.URL, stranger bool) string {
	if stranger || !c.identifies(u) {
		return u.String()
	}
	return u.String() + "\nown"
}

// identifies reports whether a request of the crawl for a URL may carry a secret.
func (c *Config) identifies(u weburl.URL) bool {
	return c.HTTP.Identifies(u.Host()) || c.HTTP.Cookies != nil && c.CookiesFor(u) != 0
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

// kept returns the response to a URL that a page has requested; nil: none has, or the place of the
// exchange in the archive is not known yet.
func (f *fetcher) kept(x *fetching) *httpclient.Response {
	if f.cfg.Render == nil || x.req.Method != "" || x.lease.URL.Tries > 0 {
		return nil
	}
	got, ok := f.cfg.Render.Cache.Get(assetKey(f.cfg.cachedAs(x.lease.URL.URL, false)))
	from, _ := got.Exchange.(*Exchange)
	if !ok || from == nil || f.cfg.Archive != nil && !from.placed.Load() {
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
	if f.cfg.Render == nil || x.req.Method != "" || res.Truncated {
		return
	}
	role := x.lease.URL.Role
	if role != frontier.RoleNeeded && role != frontier.RoleAsset && !links.IsScript(r.Type()) && !isStyle(r) {
		return
	}
	kept := httpcache.Response{Status: res.Status, Header: slices.Clone(res.Header)}
	if life := httpcache.Lifetime(&kept, true, f.clock.loop.Wall()); life > 0 {
		kept.Body = slices.Clone(res.Body)
		f.cfg.Render.Cache.Keep(assetKey(f.cfg.cachedAs(x.lease.URL.URL, false)), kept, life)
	}
}

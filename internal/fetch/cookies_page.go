package fetch

import (
	"net/http"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// PageCookies are the cookies for the requests of a page that a browser renders. The browser gets
// those of the page's site from the jar, and says by its requests which of them are to be sent, and
// which ones scripts have set or removed. What scripts set ends with the page. Nobody changes it.
type PageCookies struct {
	jar    http.CookieJar // nil: there is none, and the browser's cookies are all
	page   weburl.URL
	listed bool            // the browser gets cookies of the jar
	given  map[string]bool // names, and "name=value", of those
}

// lister is a jar whose cookies can be given to a browser.
type lister interface {
	Site(host string) []*http.Cookie
}

// NewPageCookies returns the cookies of a page. It uses the jar, as Of does.
func NewPageCookies(jar http.CookieJar, page weburl.URL) *PageCookies {
	c := &PageCookies{jar: jar, page: page}
	_, c.listed = jar.(lister)
	return c
}

// Give returns what the browser gets: header fields of the page, and cookies. It is called once.
func (c *PageCookies) Give(page httpclient.Header) (h []render.Field, all []render.Cookie) {
	if !c.listed {
		return ForBrowser(page), nil
	}
	c.given = make(map[string]bool)
	for _, k := range c.jar.(lister).Site(c.page.Host()) {
		if suitsBrowser(k) {
			c.given[k.Name], c.given[k.Name+"="+k.Value] = true, true
			all = append(all, render.Cookie{Domain: k.Domain, Path: k.Path, Name: k.Name, Value: k.Value, Secure: k.Secure, HTTPOnly: k.HttpOnly})
		}
	}
	return ForBrowser(c.withoutSet(page)), all
}

// withoutSet returns the header of a response that was received some time ago, without the cookies
// that the jar has had since then.
func (c *PageCookies) withoutSet(h httpclient.Header) (left httpclient.Header) {
	if c.jar == nil {
		return h
	}
	for _, f := range h {
		if !strings.EqualFold(f.Name, "Set-Cookie") {
			left = append(left, f)
		}
	}
	return left
}

// suitsBrowser reports whether a browser takes a cookie, and says it again, as it is.
func suitsBrowser(c *http.Cookie) bool {
	odd := func(r rune) bool { return r < ' ' || r > '~' || r == ';' }
	oddInPath := func(r rune) bool { return odd(r) || strings.ContainsRune(" \"#<>?`{}\\", r) }
	text := c.Name + "=" + c.Value
	return !strings.ContainsFunc(text, odd) && !strings.ContainsFunc(c.Path+c.Domain, oddInPath) &&
		strings.TrimSpace(c.Name) == c.Name && strings.TrimSpace(c.Value) == c.Value && !strings.Contains(c.Name, "=")
}

// Stranger reports whether a request of the page is to another site or by a frame of one, or asks
// whether it may be made: it carries no secret of the crawl, whose answer another site might read,
// and its response sets no cookie but the browser's.
func (c *PageCookies) Stranger(q *render.Request, u weburl.URL) bool {
	return isPreflight(q) || !weburl.SameSite(u, c.page) || !isBySite(q, c.page)
}

// Of returns the cookies of a request of the page to u: see httpclient.Request.Cookies. Where the
// browser sends a cookie as it was given, the jar's counts, which may be newer.
func (c *PageCookies) Of(q *render.Request, u weburl.URL) *string {
	sent := fieldOf(q, "Cookie")
	if isPreflight(q) { // which goes without credentials, whatever it asks for
		return new(string)
	}
	if c.jar == nil || c.Stranger(q, u) {
		return &sent
	}
	own, asked := make(map[string]string), make(map[string]bool)
	var all []string
	for _, pair := range pairsOf(sent) {
		if name := nameOf(pair); c.given[pair] {
			asked[name] = true
		} else {
			own[name] = pair
			all = append(all, pair)
		}
	}
	known := httpclient.CookieField(c.jar, &httpclient.Request{Scheme: u.Scheme(), Host: u.Host(), Target: u.RequestTarget()})
	for _, pair := range pairsOf(known) {
		name := nameOf(pair)
		if own[name] == "" && (asked[name] || !c.given[name]) {
			all = append(all, pair)
		}
	}
	field := strings.Join(all, "; ")
	return &field
}

// pairsOf returns the cookies of a Cookie field.
func pairsOf(field string) []string {
	if field == "" {
		return nil
	}
	return strings.Split(field, "; ")
}

func nameOf(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	return name
}

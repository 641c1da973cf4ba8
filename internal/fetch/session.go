package fetch

import (
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Stores returns what documents of a page find stored: what s has, which may be nil, for the page's
// site. A frame has another store in pages of each site, as browsers partition them.
func Stores(s *login.Session, page weburl.URL) (all []render.Store) {
	if s == nil {
		return nil
	}
	for _, store := range s.Stores() {
		if origin, err := weburl.Parse(store.Origin); err == nil && weburl.SameSite(origin, page) {
			all = append(all, render.Store(store))
		}
	}
	return all
}

// signedOut returns why a response says that the crawl is not logged in any more; "": it does not.
func (c *Config) signedOut(u *frontier.URL, res *httpclient.Response) string {
	s := c.Session
	if s == nil || u.Role.Beyond() {
		return ""
	}
	if location := res.Header.Get("Location"); record.IsRedirect(res.Status) && location != "" {
		to, err := u.URL.Resolve(weburl.EscapeInvalid(location))
		if err == nil && s.RedirectsOut(u.URL, to) {
			return "it redirects to the login page"
		}
		return ""
	}
	if len(res.Body) > longPage || !record.IsHTML(res.Header.Get("Content-Type")) {
		return ""
	}
	text, _ := charset.UTF8(res.Header.Get("Content-Type"), res.Body)
	return s.LoggedOut(u.URL, text)
}

// signOut takes in why a page says that the crawl is not logged in, and reports whether it says so.
// One that was requested before the session was read again is requested once more.
func (c *Config) signOut(out *Outcome, why string) bool {
	switch {
	case why == "":
		return false
	case out.session != c.Session.Reads():
		out.Postpone, out.Broken = true, true
	default:
		out.SignedOut = why
	}
	return true
}

// signedOutBy returns why a rendered page, of which text is the document, says so.
func (c *Config) signedOutBy(u weburl.URL, doc *render.Document, text []byte) string {
	s := c.Session
	if s == nil {
		return ""
	}
	for _, target := range append([]string{doc.URL}, doc.Targets...) {
		if to, err := u.Resolve(target); err == nil && s.RedirectsOut(u, to) {
			return "its scripts lead to the login page"
		}
	}
	return s.LoggedOut(u, text)
}

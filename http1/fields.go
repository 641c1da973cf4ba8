package http1

import (
	"net/url"
	"slices"

	"github.com/weftcrawl/weft/aio"
)

// addFields adds to req the cookies and the credential of its origin, and what a forwarding proxy
// needs. A field that the caller has set, for this request or for all, takes precedence.
func (c *Client) addFields(t *aio.Task, req *Request, page *url.URL, to route) {
	own := len(req.Header)
	add := func(name, value string) {
		if value == "" || req.Header.has(name) || c.opt.Header.has(name) {
			return
		}
		if len(req.Header) == own {
			req.Header = slices.Clone(req.Header) // it is the caller's
		}
		req.Header = append(req.Header, Field{name, value})
	}
	if page != nil {
		add("Cookie", c.cookies(t, page))
	}
	if len(c.auth) > 0 {
		add("Authorization", c.authorization(req))
	}
	if to.forwarded() {
		add("Proxy-Authorization", to.via.authorization())
		// Absolute form (RFC 9112, section 3.2.2).
		req.Target = req.Scheme + "://" + req.Host + req.Target
	}
}

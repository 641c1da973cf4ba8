package httpclient

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/aio"
)

// addFields adds to req the cookies and the credential of its origin, and what a forwarding proxy
// needs. A field that the caller has set, for this request or for all, takes precedence.
func (c *Client) addFields(t *aio.Task, req *Request, page *url.URL, to route) {
	own := req.Header
	add := func(name, value string) {
		if value == "" || req.Header.has(name) || c.shared.has(name) {
			return
		}
		// The first ones are the caller's.
		req.Header = append(slices.Clip(req.Header), Field{name, value})
	}
	if len(c.secrets) > 0 && c.trusts(req) {
		for _, f := range c.secrets {
			if !own.has(f.Name) {
				req.Header = append(slices.Clip(req.Header), f)
			}
		}
	}
	switch {
	case req.Cookies != nil:
		if i := slices.IndexFunc(req.Header, func(f Field) bool { return isName(f.Name, "Cookie") }); i >= 0 && *req.Cookies != "" {
			req.Header = slices.Clone(req.Header)
			req.Header[i].Value = strings.Trim(req.Header[i].Value+"; "+*req.Cookies, "; ")
		}
		add("Cookie", *req.Cookies)
	case page != nil:
		add("Cookie", c.cookies(t, page))
	}
	if len(c.auth) > 0 {
		add("Authorization", c.authorization(req))
	}
	if to.forwarded() {
		add("Proxy-Authorization", cmp.Or(c.toProxy, to.via.authorization()))
		// Absolute form (RFC 9112, section 3.2.2).
		req.Target = req.Scheme + "://" + req.Host + req.Target
	}
}

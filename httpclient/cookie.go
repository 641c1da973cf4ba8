package httpclient

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// maxCookies bounds the Cookie field of a request, in bytes. Cookies that do not fit are left out:
// the first to stay are those of longer paths, then those set first (RFC 6265, section 5.4). A site
// may set 180 of 4 KiB, and servers accept a head of 8 to 16 KiB.
const maxCookies = 16 << 10

// cookies returns the Cookie field of a request for page; "" for none.
func (c *Client) cookies(t *aio.Task, page *url.URL) (field string) {
	t.OnLoop(func() { field = cookieField(c.opt.Cookies, page) })
	return field
}

// CookieField returns the Cookie field that a jar has for a request now; "" for none.
func CookieField(jar http.CookieJar, req *Request) string { return cookieField(jar, pageOf(req)) }

func cookieField(jar http.CookieJar, page *url.URL) string {
	var b strings.Builder
	for _, cookie := range jar.Cookies(page) {
		value := cookie.Value
		if cookie.Quoted {
			value = `"` + value + `"`
		}
		n := len("; ") + len(cookie.Name) + len("=") + len(value)
		if cookie.Name == "" || !sendable(cookie.Name) || !sendable(value) || b.Len()+n > maxCookies {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(cookie.Name + "=" + value)
	}
	return b.String()
}

// takeCookies passes the cookies that a response from page sets to the jar.
func (c *Client) takeCookies(t *aio.Task, page *url.URL, h Header) {
	if !h.has("Set-Cookie") {
		return
	}
	t.OnLoop(func() {
		var cookies []*http.Cookie
		for _, line := range h.Values("Set-Cookie") {
			if cookie := parseCookie(line); cookie != nil {
				cookies = append(cookies, cookie)
			}
		}
		if len(cookies) > 0 {
			c.opt.Cookies.SetCookies(page, cookies)
		}
	})
}

// pageOf returns the URL of req for the cookie jar. The path stays percent-encoded, as browsers
// compare it.
func pageOf(req *Request) *url.URL {
	path, _, _ := strings.Cut(req.Target, "?")
	return &url.URL{Scheme: req.Scheme, Host: req.Host, Path: path}
}

// parseCookie parses a Set-Cookie field as browsers do (RFC 6265, section 5.2): name and value may
// be almost anything, quotes and spaces included, where net/http requires tokens. It returns nil
// for anything else, and for a cookie without a name.
func parseCookie(line string) *http.Cookie {
	pair, attributes, _ := strings.Cut(line, ";")
	name, value, ok := strings.Cut(pair, "=")
	name, value = trim(name), trim(value)
	if !ok || name == "" || !sendable(name) || !sendable(value) {
		return nil
	}
	c, err := http.ParseSetCookie("x=x;" + attributes)
	if err != nil {
		return nil
	}
	c.Name, c.Value, c.Raw = name, value, ""
	if c.RawExpires != "" && c.Expires.IsZero() {
		c.Expires = expiry(c.RawExpires)
	}
	return c
}

// expiry parses the date formats of old servers, in addition to the formats of net/http; zero for
// an invalid date.
func expiry(date string) time.Time {
	for _, layout := range []string{time.RFC850, time.ANSIC, "Mon, 02-Jan-06 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 MST"} {
		if at, err := time.Parse(layout, date); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// sendable reports whether s may be part of a Cookie field.
func sendable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == ';' })
}

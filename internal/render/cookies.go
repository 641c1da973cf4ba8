package render

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Cookie is a cookie as the protocol has it.
type Cookie struct {
	Domain, Path, Name, Value string  // Domain begins with a dot where it includes subdomains
	Expires                   float64 // seconds since 1970, or -1
	Secure, HTTPOnly          bool
}

// setCookies has a tab start with the cookies of its page alone. Where tabs share a browser
// context, those that pages beside it were given stay.
func (b *browser) setCookies(ctx context.Context, t *tab, p *Page) error {
	b.mu.Lock()
	t.cookies = p.Cookies
	var beside []Cookie
	for _, other := range b.tabs {
		if other != t && other.context == t.context {
			beside = append(beside, other.cookies...)
		}
	}
	b.mu.Unlock()
	if err := t.clearCookies(ctx, beside); err != nil || len(p.Cookies) == 0 {
		return err
	}
	all := cookieParams(p)
	var refused *protocolError
	if err := t.addCookies(ctx, all); !errors.As(err, &refused) {
		return err
	}
	for _, c := range all { // but for that which the browser does not take
		if err := t.addCookies(ctx, []any{c}); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}

// ofContext returns parameters of a command for the tab's context.
func (t *tab) ofContext() map[string]any {
	if t.context == "" {
		return map[string]any{}
	}
	return map[string]any{"browserContextId": t.context}
}

func (t *tab) addCookies(ctx context.Context, all []any) error {
	params := t.ofContext()
	params["cookies"] = all
	return t.conn.call(ctx, "", "Storage.setCookies", params, nil)
}

// clearCookies removes all cookies but some. These are not removed and set again: pages that have
// them are sending requests.
func (t *tab) clearCookies(ctx context.Context, except []Cookie) error {
	if len(except) == 0 {
		return t.conn.call(ctx, "", "Storage.clearCookies", t.ofContext(), nil)
	}
	all, err := cookiesOf(ctx, t.conn, t.context)
	for _, c := range all {
		same := func(k Cookie) bool { return k.Name == c.Name && k.Domain == c.Domain && k.Path == c.Path }
		if !slices.ContainsFunc(except, same) && err == nil {
			err = t.conn.call(ctx, t.session, "Network.deleteCookies", map[string]string{"name": c.Name, "domain": c.Domain, "path": c.Path}, nil)
		}
	}
	return err
}

// cookieParams returns the cookies of a page as the protocol sets them. A domain would include
// subdomains always: that of other cookies is the host of a URL.
func cookieParams(p *Page) (all []any) {
	scheme, _, _ := strings.Cut(p.URL, ":")
	for _, c := range p.Cookies {
		from, host := scheme, strings.TrimPrefix(c.Domain, ".")
		if c.Secure {
			from = "https"
		}
		at := host
		if strings.Contains(host, ":") {
			at = "[" + host + "]"
		}
		one := map[string]any{"name": c.Name, "value": c.Value, "path": c.Path, "secure": c.Secure, "httpOnly": c.HTTPOnly}
		one["url"] = from + "://" + at + "/"
		if host != c.Domain {
			one["domain"] = c.Domain
		}
		all = append(all, one)
	}
	return all
}

// cookiesOf returns the cookies of a browser context.
func cookiesOf(ctx context.Context, c *conn, browserContext string) ([]Cookie, error) {
	params := map[string]string{}
	if browserContext != "" {
		params["browserContextId"] = browserContext
	}
	var all struct {
		Cookies []Cookie
	}
	err := c.call(ctx, "", "Storage.getCookies", params, &all)
	return slices.Clip(all.Cookies), err
}

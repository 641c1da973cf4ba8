package view

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/weftcrawl/weft/inspect"
)

// SomeURLs returns a part of the URLs that a filter selects, and the cursor of the next part, if
// there is one. While a crawl runs, a URL that is fetched between two parts may be in both or in
// none.
func (l *Listing) SomeURLs(f inspect.URLFilter, p inspect.ListPart) (urls []inspect.URLStatus, next string, err error) {
	after, err := base64.RawURLEncoding.DecodeString(p.After)
	if err != nil {
		return nil, "", inspect.ErrCursor
	}
	began := time.Now()
	var last *candidate
	for c, err := range l.candidates(f, string(after)) {
		if err != nil {
			return nil, "", err
		}
		late := p.Within > 0 && time.Since(began) > p.Within
		if last != nil && (len(urls) == p.AtMost || late) {
			return urls, base64.RawURLEncoding.EncodeToString([]byte(last.cursor(f.State))), nil
		}
		if c.selected {
			urls = append(urls, c.URLStatus)
		}
		last = &c
	}
	return urls, "", nil
}

// cursor returns the place of a URL among those of a state.
func (c *candidate) cursor(of inspect.URLState) string {
	if of == inspect.URLLeased {
		return c.URL
	}
	return c.entry.Cursor()
}

// SomeHosts returns a part of the hosts, and the cursor of the next part, if there is one.
func (l *Listing) SomeHosts(ctx context.Context, p inspect.ListPart) (hosts []inspect.HostStatus, next string, err error) {
	began := time.Now()
	for h, err := range l.Hosts(ctx, p.After) {
		if err != nil {
			return nil, "", err
		}
		n := len(hosts)
		if n > 0 && (n == p.AtMost || p.Within > 0 && time.Since(began) > p.Within) {
			return hosts, hosts[n-1].Host, nil
		}
		hosts = append(hosts, h)
	}
	return hosts, "", nil
}

package read

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/weburl"
)

// ErrNoPage is returned for a URL of which a job has no page, or no body.
var ErrNoPage = errors.New("no page of the job, expected the URL of an HTML page with status 200, as pages.jsonl has it")

// Find reads one page of a job, without the boilerplate of its site.
func Find(ctx context.Context, dir, url string, o Options) (Page, error) {
	u, err := weburl.Parse(url)
	if err != nil {
		return Page{}, err
	}
	u = u.Identity()
	host, _ := orderOf(u.String())
	o.Languages, o.NoDuplicates, o.Where = nil, false, ""
	o.wanted = func(url string) bool { return url == u.String() }
	var found *Page
	var c Counts
	err = each(ctx, dir, host, o, &c, func(_ *entry, p *Page) error {
		found = p
		return nil
	})
	switch {
	case err != nil:
		return Page{}, err
	case c.Unread > 0:
		return Page{}, fmt.Errorf("%s: its body was not kept, or cannot be read", u)
	case found == nil:
		return Page{}, fmt.Errorf("%s: %w", u, ErrNoPage)
	}
	return *found, nil
}

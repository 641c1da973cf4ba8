package serve

import (
	"context"
	"encoding/json"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/webhook"
)

// house lends the server to the endpoints of Firecrawl.
type house struct {
	*fetches
	brought *brought
	pages   *pages
}

func (h house) May(ctx context.Context, right string) error { return may(ctx, Right(right)) }

func (h house) Sees(ctx context.Context, c *crawls.Crawl) bool { return who(ctx).sees(c) }

func (h house) Most(ctx context.Context) int { return who(ctx).Limits.Pages }

func (h house) Start(ctx context.Context, urls []string, options map[string]any, key string, note json.RawMessage, hook *webhook.Hook) (crawls.Crawl, error) {
	c, _, err := h.brought.add(who(ctx), Ask{URLs: urls, Options: options}, key, note, hook)
	return c, problem(err)
}

func (h house) Enter(ctx context.Context, id string) (dir string, leave func(), err error) {
	leave, err = h.brought.reading.Enter(ctx)
	return h.brought.folder.Job(id), leave, problem(err)
}

func (h house) Status(ctx context.Context, c crawls.Crawl) (*weft.Status, error) {
	return h.pages.page(c.Name).Status(ctx, c.Ended)
}

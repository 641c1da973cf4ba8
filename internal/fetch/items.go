package fetch

import (
	"context"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Extractor finds the items of pages, on any goroutine.
type Extractor interface {
	Wants(weburl.URL) bool                          // there may be items of a page
	Page(url weburl.URL, text []byte) []record.Item // of a page in UTF-8
}

// itemFinder finds the items of pages.
// Owner: one loop.
type itemFinder struct {
	cfg      *Config
	outcomes *budget.Meter
	lock     aio.Lock // held by the worker that has the items found of a page that is not short
}

// find finds the items of a page, off the loop, and shows them to the user's hook. The tree of
// a page takes many times its size, so of pages that are not short a loop has one at a time.
func (f *itemFinder) find(t *aio.Task, out *Outcome, page *Page) error {
	if page == nil || !page.items {
		return nil
	}
	if len(page.Text) > shortBody {
		if err := f.lock.Lock(t); err != nil {
			return err
		}
		defer f.lock.Unlock(t)
	}
	lines, err := aio.Offload(t, func(ctx context.Context) ([]byte, error) {
		page.Items = f.cfg.Extract.Page(page.url, page.Text)
		return f.lines(ctx, page)
	})
	if err != nil {
		return err
	}
	out.Items, out.ItemLines = page.Items, lines
	if n := cap(lines); n >= bigOutcome*linkCost { // it counts until it is saved
		hold := new(budget.Hold)
		*hold = f.outcomes.Open(out.URL.Prompt)
		hold.Set(n)
		out.Holds = append(out.Holds, hold)
	}
	return nil
}

// lines shows the items of a page to the user's hook, and returns their lines for items.jsonl.
func (f *itemFinder) lines(ctx context.Context, page *Page) (lines []byte, err error) {
	for i := range page.Items {
		item := &page.Items[i]
		item.Visit = page.Record.Visit
		if f.cfg.Hooks.OnItem != nil {
			if err := f.cfg.Hooks.OnItem(ctx, item); err != nil {
				return nil, fmt.Errorf("OnItem of %.128s: %w", page.Record.URL, err)
			}
		}
		if !f.cfg.Job {
			continue
		}
		line, err := item.JSONLine()
		if err != nil {
			return nil, fmt.Errorf("item of %.128s: %w", page.Record.URL, err)
		}
		lines = append(lines, line...)
	}
	return lines, nil
}

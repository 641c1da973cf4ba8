package extract

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// Job yields the items of the pages that a job has kept, in the order of pages.jsonl. An error ends
// it: it is results.ErrNoBody if the job keeps no bodies.
func (x *Extractor) Job(ctx context.Context, dir string) iter.Seq2[*record.Item, error] {
	return func(yield func(*record.Item, error) bool) {
		bodies, err := results.OpenBodies(dir)
		if err == nil && !bodies.Any() {
			err = results.ErrNoBody
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer bodies.Close()
		for r, err := range results.Last(ctx, dir, 0, "") {
			var items []record.Item
			if err == nil {
				items, err = x.ofRecord(bodies, r)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range items {
				if !yield(&items[i], nil) {
					return
				}
			}
		}
	}
}

// ofRecord returns the items of a page that was kept. One that a visit found unchanged is that of
// an earlier visit.
func (x *Extractor) ofRecord(bodies *results.Bodies, r *record.Record) ([]record.Item, error) {
	url, err := weburl.Parse(r.URL)
	if err != nil || !r.IsPage() || r.Role != "" || !x.Wants(url) {
		return nil, nil
	}
	body, err := bodies.Read(r)
	if errors.Is(err, results.ErrNoBody) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, err)
	}
	text, _ := charset.UTF8(r.Type(), body)
	items := x.Page(url, text)
	for i := range items {
		items[i].Visit = r.Visit
	}
	return items, nil
}

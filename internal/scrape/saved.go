package scrape

import (
	"context"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/weburl"
)

// Saved reads a page that a crawl has kept, as Page reads one that it fetches. Its error is an
// *Error.
func (s *Scraper) Saved(ctx context.Context, a Ask, p *weft.Page) (*Result, error) {
	r, err := s.saved(ctx, a, p)
	if err != nil {
		return nil, problemOf(short(p.URL), err)
	}
	return r, nil
}

func (s *Scraper) saved(ctx context.Context, a Ask, p *weft.Page) (*Result, error) {
	a.URL = p.URL
	if err := s.check(&a); err != nil {
		return nil, err
	}
	extractor, err := extract.New(a.Rules, a.wants(Structured))
	if err != nil {
		return nil, &Error{Kind: KindMistake, URL: short(p.URL), Detail: err.Error()}
	}
	u, err := weburl.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	if err := s.reading.enter(ctx); err != nil {
		return nil, err
	}
	defer s.reading.leave()
	r := &Result{URL: p.URL, Status: p.Status, ContentType: p.Type(), Header: p.Header, Bytes: len(p.Body), At: p.Started}
	s.read(&a, r, p, u, extractor)
	if p.Record.Rendered != nil {
		r.Rendered, r.NeedsScripts = p.Record.Rendered.Reason, ""
	}
	return r, nil
}

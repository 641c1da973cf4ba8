package fetch

import (
	"unicode/utf8"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
)

// An outcome of bigOutcome links, or of as much for links.jsonl, counts among the bodies until the
// batch with its URLs is committed. linkCost is the memory of a link without its text.
const (
	bigOutcome = 500
	linkCost   = 200
)

// mayRead waits, with the lock f.turn, until a page may be read: while unsaved big outcomes fill
// their share, one at a time. What a page leads to is known only when it is read, so a loop reads
// one page at a time.
func (f *Loop) mayRead(t *aio.Task, out *Outcome) error {
	if err := f.turn.Lock(t); err != nil {
		return err
	}
	out.reading = f.shared.Outcomes.Open()
	err := out.reading.Grow(t, 1)
	if err != nil {
		out.reading.Release()
		f.turn.Unlock(t)
	}
	return err
}

// weigh counts what a big outcome holds, with the links that OnPage is shown: among the outcomes,
// and among the bodies.
func (out *Outcome) weigh(res *http1.Response, page *Page) {
	n := cap(out.Lines)
	var shown []links.Link
	if page != nil {
		shown = page.Links
	}
	if max(len(out.Links), len(shown)) < bigOutcome && n < bigOutcome*linkCost {
		out.reading.Release()
		return
	}
	for _, u := range out.Links {
		n += len(u.URL.String()) + linkCost
	}
	for _, l := range shown {
		n += len(l.URL.String()) + linkCost
	}
	out.Holds = []*budget.Hold{new(budget.Hold), new(budget.Hold)}
	out.reading.Move(out.Holds[0])
	out.Holds[0].Set(n)
	res.Hand(out.Holds[1])
	out.Holds[1].Set(out.Holds[1].Size() + n)
}

// transcoded returns how many bytes a body may take in UTF-8 while it is read as a sitemap.
func transcoded(body []byte) int {
	if utf8.Valid(body) {
		return 0
	}
	return 3 * len(body)
}

// maxInflation is the most that deflate expands (zlib's technical notes).
const maxInflation = 1032

// unpacked returns how many bytes a gzip may take while it is read as a sitemap: its text, and
// about as much again for its entries.
func unpacked(gzip []byte, most int) int { return 2 * min(most, maxInflation*len(gzip)) }

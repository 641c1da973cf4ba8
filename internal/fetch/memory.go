package fetch

import (
	"unicode/utf8"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/links"
)

// An outcome of bigOutcome links, or of as much for links.jsonl, counts among the bodies until the
// batch with its URLs is committed. linkCost is the memory of a link without its text.
const (
	bigOutcome = 500
	linkCost   = 200
)

// heavyHosts bounds the hosts whose last outcome is known to be big.
const heavyHosts = 4096

// lines are the queues in which pages wait to be read.
//
// What a page leads to is known only when it is read, so a loop reads one page of each line at a
// time, and waits while unsaved big outcomes fill their share. Pages of hosts whose last outcome
// was big wait in a line of their own, for room for as much again, of which a quarter is reserved
// for the others (see budget.Small): so a site of such pages does not hold up the rest. So do long
// pages and sitemaps, which are read in parts. The first pages of many hosts may turn out to be
// big, so prompt hosts have a line, too.
type lines struct {
	outcomes *budget.Meter
	page     *aio.Lock // held by the worker that reads a page

	prompt, light, heavy, long aio.Lock       // held by the worker that reads, or waits for room
	weights                    map[string]int // of the last outcome of a host, if it was big
}

// weighed takes in the weight of an outcome of a host; 0: it was not big.
func (l *lines) weighed(host string, n int) {
	switch {
	case n == 0:
		delete(l.weights, host)
		return
	case len(l.weights) >= heavyHosts || l.weights == nil:
		l.weights = make(map[string]int)
	}
	l.weights[host] = n
}

// wait waits, with the lock page, until a page, which may be long, may be read; done must be
// called when it was.
func (l *lines) wait(t *aio.Task, out *Outcome, long bool) (done func(), err error) {
	line, n := &l.light, 1
	weight := l.weights[out.URL.URL.Host()]
	if long || weight > 0 {
		n = max(weight, bigOutcome*linkCost)
	}
	switch {
	case long:
		line = &l.long
	case weight > 0:
		line = &l.heavy
	case out.URL.Prompt:
		line = &l.prompt
	}
	if err := line.Lock(t); err != nil {
		return nil, err
	}
	out.reading = l.outcomes.Open(out.URL.Prompt)
	err = out.reading.Grow(t, n)
	if err == nil {
		err = l.page.Lock(t)
	}
	if err != nil {
		out.reading.Release()
		line.Unlock(t)
		return nil, err
	}
	return func() {
		l.page.Unlock(t)
		line.Unlock(t)
	}, nil
}

// weigh counts what a big outcome holds, with the links that OnPage is shown: among the outcomes,
// and among the bodies.
func (l *lines) weigh(out *Outcome, res *httpclient.Response, page *Page) {
	n := cap(out.Lines) + cap(out.Targets)
	var shown []links.Link
	if page != nil {
		shown = page.Links
	}
	if max(len(out.Links), len(shown)) < bigOutcome && n < bigOutcome*linkCost {
		out.reading.Release()
		l.weighed(out.URL.URL.Host(), 0)
		return
	}
	for _, u := range out.Links {
		n += len(u.URL.String()) + linkCost
	}
	for _, l := range shown {
		n += len(l.URL.String()) + linkCost
	}
	l.weighed(out.URL.URL.Host(), n)
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

// unpacked returns how many bytes the text of a gzip may take while it is read as a sitemap.
func unpacked(gzip []byte, most int) int { return min(most, maxInflation*len(gzip)) }

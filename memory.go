package weft

import (
	"fmt"
	"runtime/metrics"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
)

const (
	// DefaultMemory is Options.Memory when that is 0.
	DefaultMemory = 512 << 20

	// minMemory is what a crawl takes that has one page of MaxBody at a time, as sent and as decoded, beside
	// tables, buffers and the program. One with 100,000 links, or 32 MiB of their text, takes three times as
	// much until it is saved: see docs/proof/memory.md.
	minMemory = 64 << 20

	// perRequest is what a request under way takes beside its body: a task and its stack, a
	// connection and one that is kept, with TLS records that are not whole on either.
	perRequest = 24 << 10

	// pageCost is how many times the limit of a body the memory has to be: the worst page is
	// there as sent, as decoded, and in UTF-8.
	pageCost = 3
)

// shares are what Options.Memory is split into, in bytes. But for the fingerprints they are at most 51 % of
// it: what is left is for requests and code, and for what the garbage collector has not yet
// collected, without which it would take half of the CPU. Fingerprints come to theirs in crawls of millions
// only; the collector does not look into them, so that it needs less for all that is beside them.
//
// What has no share has bounds of its own, which do not grow with the crawl:
//
//   - a request under way beside its body: perRequest; see fitsMemory
//   - a page that is read, in a loop: its text in UTF-8 (counted among the bodies), 32 MiB of its links' text
//     at most; see weigh. The next is not read while what others have led to fills half of the bodies' share
//   - URLs that are read again from the store: a group's share, and what one host may have in memory
//   - names that were looked up, in a loop: 16,384, of some 200 bytes each
//   - cookies: 16 MiB
//   - a page that Hooks.OnPage has: its body is counted among the bodies until the hook returns, and many links until the page
//     is saved
type shares struct {
	seen    int // fingerprints of URLs; beyond, they are on disk too
	hosts   int // what is known of hosts; those beyond are in the store only, with what is pending of them
	pending int // URLs that wait, of all hosts; beyond, they are in the store only
	bodies  int // of answers, raw and decoded, until nobody needs them; beyond, nothing is begun or read on, but for one body at a time
	kept    int // buffers for bodies to come, of each sort
	buffer  int // of the store, what it has not yet written; at most 2 of them
	cache   int // of the store, blocks of its files
	rules   int // of robots.txt; beyond, those that were not used for longest are asked for again
	firsts  int // of pages that were seen, to tell their duplicates; beyond, the oldest are forgotten
	group   int // what waits to be committed; beyond, nothing is begun. The group that is being committed may be as large
}

// split is how a number of bytes is shared out, in 1/1000, for as many loops.
func split(memory, loops int) shares {
	part := func(n int) int { return memory / 1000 * n }
	return shares{
		seen:    seenShare(memory),
		hosts:   part(60),
		pending: part(60),
		bodies:  part(120),
		kept:    part(20) / loops, // of two sorts in each loop
		buffer:  min(part(50), 64<<20),
		cache:   part(20),
		rules:   part(20),
		firsts:  part(50),
		group:   min(part(20), 16<<20), // two of them
	}
}

// seenShare is a fifth of a small memory; and of what is more than the program and its buffers take
// two fifths too. So 47 million URLs are in 512 MiB, 100 million in 1 GiB, at 5.8 bytes each.
func seenShare(memory int) int { return memory/5 + max(0, memory-128<<20)/5*2 }

// fitsMemory returns an error if the crawl cannot keep within c.Memory.
func (c *config) fitsMemory() *OptionError {
	size := func(n int) string { return humanize.IBytes(uint64(n)) }
	switch {
	case c.Memory < minMemory:
		return &OptionError{"Memory", size(max(0, c.Memory)), fmt.Errorf("expected at least %s, which one large page and the tables of a crawl take", size(minMemory))}
	case c.Memory/4 < c.Concurrency*perRequest:
		return &OptionError{"Concurrency", fmt.Sprint(c.Concurrency), fmt.Errorf("expected at most %d within %s of memory, as each request takes %s beside its body, and all of them may take a quarter",
			c.Memory/4/perRequest, size(c.Memory), size(perRequest))}
	case c.Memory/pageCost < c.MaxBody:
		return &OptionError{"MaxBody", size(c.MaxBody), fmt.Errorf("expected at most %s within %s of memory, as a page is there as sent, as decoded and in UTF-8",
			size(c.Memory/pageCost), size(c.Memory))}
	}
	return nil
}

// memoryUsed is how many bytes this process has from the system for Go's heap, stacks and
// tables.
func memoryUsed() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64() - m[1].Value.Uint64())
}

// bigOutcome is how many links an outcome has, or lines of links.jsonl of about linkCost, that is counted
// among the bodies until the commit of the group that they are in. linkCost is what a link takes beside its text.
const (
	bigOutcome = 500
	linkCost   = 200
)

// mayRead waits, holding f.turn, until a page may be read: while what big outcomes have, which nobody has saved
// yet, takes its share, one of them after the other is. What a page leads to is known only when it is there, so
// that a loop looks at one page at a time.
func (f *fetcher) mayRead(t *aio.Task, out *outcome) error {
	if err := f.turn.Lock(t); err != nil {
		return err
	}
	out.read = f.desk.outcomes.Open()
	err := out.read.Grow(t, 1)
	if err != nil {
		out.read.Release()
		f.turn.Unlock(t)
	}
	return err
}

// weigh counts what an outcome holds, and the links that OnPage is told, if that is much: among the bodies too,
// with the hold of its own.
func (out *outcome) weigh(res *http1.Response, page *Page) {
	n := cap(out.lines)
	var told []links.Link
	if page != nil {
		told = page.Links
	}
	if max(len(out.links), len(told)) < bigOutcome && n < bigOutcome*linkCost {
		out.read.Release()
		return
	}
	for _, u := range out.links {
		n += len(u.URL.String()) + linkCost
	}
	for _, l := range told {
		n += len(l.URL.String()) + linkCost
	}
	out.holds = []*budget.Hold{new(budget.Hold), new(budget.Hold)}
	out.read.Move(out.holds[0])
	out.holds[0].Set(n)
	res.Hand(out.holds[1])
	out.holds[1].Set(out.holds[1].Size() + n)
}

// maxInflation is how many times longer deflate's text is than it, at most (zlib's technical notes).
const maxInflation = 1032

// unpacked is how many bytes what is in a gzip may take while it is read as a sitemap: its text, and
// about as much again what it tells of.
func unpacked(gzip []byte, most int) int { return 2 * min(most, maxInflation*len(gzip)) }

// release lets go of what big outcomes hold.
func release(holds []*budget.Hold) {
	for _, hold := range holds {
		hold.Release()
	}
}

// overMemory warns, once, that URLs that wait take more than their share: without a job there is
// nowhere else for them.
func (d *desk) overMemory() {
	if hook := d.cfg.Hooks.OnWarning; d.job == nil && !d.warned && d.frontier.View().QueuedBytes() > d.shares.seen && hook != nil {
		d.warned = true
		hook(fmt.Errorf("URLs that wait take more than %s, their part of the memory that the crawl may have; with a job they would be on disk", humanize.IBytes(uint64(d.shares.seen))))
	}
}

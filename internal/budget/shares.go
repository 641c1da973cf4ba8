package budget

import "runtime/metrics"

const (
	// Default is the budget of a crawl that names none, in bytes.
	Default = 512 << 20

	// Least is the smallest budget: one page at a time of 16 MiB, as sent and as decoded, plus
	// tables, buffers and the program. A page of 100,000 links, or of 32 MiB of their text, takes
	// twice as much until it is saved: see docs/proof/memory.md. People write 64MB, 64M or 64MiB.
	Least = 64_000_000

	// PerRequest is the memory of a request in flight without its body: a task with its stack, one
	// connection in use and one that is kept, each with an incomplete TLS record; over HTTP/2 the
	// first window of its stream instead.
	PerRequest = 24 << 10

	// PageCost is the number of largest bodies that must fit into the budget: the worst page is
	// there as sent, as decoded, and in UTF-8.
	PageCost = 3
)

// Shares split a budget, in bytes. Without the seen set they come to at most 66 % of it. The
// rest is for requests, code and garbage that is not yet collected; with less of it the
// collector would take half of the CPU. Only crawls of millions of URLs fill the share of the
// seen set, which the collector does not scan.
//
// What has no share has bounds that do not grow with the crawl:
//
//   - a request in flight without its body: PerRequest. Certificates and heads beyond what most
//     have count among the bodies
//   - a page being read, one per loop: its text in UTF-8 (counted among the bodies) and at most
//     32 MiB of link text. The next page waits while unsaved outcomes fill half of Bodies,
//     or 4 MiB
//   - the names of this machine's hosts file: 2 MiB at most
//   - URLs read back from the store: one batch's share, and what a host may have in memory
//   - a page in Hooks.OnPage: its body counts among the bodies until the hook returns, many links
//     until the page is saved
type Shares struct {
	Seen       int // seen set; beyond, it spills to disk
	Scope      int // hosts that seeds open; beyond, redirects of seeds open no more
	Hosts      int // state of hosts; others are evicted, with their queues
	Pending    int // queued URLs of all hosts; beyond, they are only in the store
	Bodies     int // bodies, raw and decoded; beyond, no fetch starts or reads on, but for one body
	Kept       int // buffers kept for the next bodies, of each of the two sorts, per loop
	Idle       int // idle connections; beyond, the longest idle is closed; per loop
	Sessions   int // TLS sessions; beyond, the least recently used are forgotten; per loop
	Names      int // cached names; beyond, the least recently used are forgotten; per loop
	Recent     int // URLs sent to the frontier lately; beyond, they are forgotten; per loop
	Cookies    int // of responses; beyond, those of the site that was longest without one go
	Again      int // with cookies: how URLs have ended; beyond, only the store knows of the oldest
	Buffer     int // writes that the store has not flushed; at most 2 of them
	Cache      int // blocks of the store's files
	Rules      int // rules of robots.txt; beyond, the least recently used are fetched again
	Originals  int // captures that later ones may refer to; beyond, the oldest are forgotten
	Duplicates int // first pages of each content; beyond, the oldest are forgotten
	Shapes     int // of paths, and sketches of their pages; beyond, the oldest are forgotten
	Batch      int // the open batch; beyond, no fetch starts. The one being committed: as much
}

// Split shares out a budget for a number of fetch loops.
func Split(memory, loops int) Shares {
	perMille := func(n int) int { return memory / 1000 * n }
	return Shares{
		Seen:       seenShare(memory),
		Scope:      memory / 20,
		Hosts:      perMille(60),
		Pending:    perMille(60),
		Bodies:     perMille(120),
		Kept:       perMille(20) / loops,
		Idle:       perMille(30) / loops,
		Sessions:   perMille(15) / loops,
		Names:      perMille(27) / loops,
		Recent:     perMille(5) / loops,
		Cookies:    min(perMille(15), 16<<20),
		Again:      min(perMille(5), 16<<20),
		Buffer:     min(perMille(50), 64<<20),
		Cache:      perMille(20),
		Rules:      perMille(20),
		Originals:  perMille(5),
		Duplicates: perMille(50),
		Shapes:     perMille(5),
		Batch:      min(perMille(20), 16<<20),
	}
}

// seenShare is 15 % of the budget, and 25 % of what exceeds 128 MiB, the program and its buffers.
// At 5.8 bytes a URL, 512 MiB hold 31 million URLs, and 1 GiB 68 million.
func seenShare(memory int) int { return memory/20*3 + max(0, memory-128<<20)/4 }

// Used returns the bytes that the process has from the system for Go's heap, stacks and tables.
func Used() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64() - m[1].Value.Uint64())
}

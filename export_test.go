package weft

import "github.com/weftcrawl/weft/frontier/store"

// OnFiles puts the job of o on another file system than the disk.
func OnFiles(o Options, files store.FS) Options {
	o.internal.files = files
	return o
}

// WithHeads bounds the URLs of a host that the job of o holds in memory.
func WithHeads(o Options, heads int) Options {
	o.internal.heads = heads
	return o
}

// WithSeenBytes bounds the memory for fingerprints, and that for hosts, of the job of o.
func WithSeenBytes(o Options, bytes int) Options {
	o.internal.seen, o.internal.hosts = bytes, bytes
	return o
}

// BodiesHeld returns the most that bodies have held at once, in bytes, and what they hold now.
func BodiesHeld(c *Crawler) (peak, now int64) {
	bodies, _ := c.crawl.Meters()
	return bodies.Peak(), bodies.Held()
}

// OutcomesHeld returns the same of big outcomes.
func OutcomesHeld(c *Crawler) (peak, now int64) {
	_, outcomes := c.crawl.Meters()
	return outcomes.Peak(), outcomes.Held()
}

// ShareOfBodies returns how much bodies may hold.
func ShareOfBodies(c *Crawler) int64 {
	bodies, _ := c.crawl.Meters()
	return bodies.Share()
}

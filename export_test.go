package weft

import "github.com/weftcrawl/weft/frontier/store"

// OnFiles puts the job of o on the given file system instead of the disk.
func OnFiles(o Options, files store.FS) Options {
	o.internal.files = files
	return o
}

// WithHeads limits how many URLs of one host the job of o keeps in memory.
func WithHeads(o Options, heads int) Options {
	o.internal.heads = heads
	return o
}

// WithSeenBytes limits the memory of the job of o for fingerprints, and that for hosts, to so many
// bytes each.
func WithSeenBytes(o Options, bytes int) Options {
	o.internal.seen, o.internal.hosts = bytes, bytes
	return o
}

// BodiesHeld returns the memory of bodies in bytes: the peak and the current value.
func BodiesHeld(c *Crawler) (peak, now int64) {
	bodies, _ := c.crawl.Meters()
	return bodies.Peak(), bodies.Held()
}

// OutcomesHeld returns the memory of big outcomes in bytes: the peak and the current value.
func OutcomesHeld(c *Crawler) (peak, now int64) {
	_, outcomes := c.crawl.Meters()
	return outcomes.Peak(), outcomes.Held()
}

// ShareOfBodies returns how much memory bodies may take, in bytes.
func ShareOfBodies(c *Crawler) int64 {
	bodies, _ := c.crawl.Meters()
	return bodies.Share()
}

package weft

import "github.com/weftcrawl/weft/frontier/store"

// OnFiles has the job of o live on another file system than the disk.
func OnFiles(o Options, files store.FS) Options {
	o.files = files
	return o
}

// WithHeads has the job of o hold so many URLs of a host in memory.
func WithHeads(o Options, heads int) Options {
	o.heads = heads
	return o
}

// BodiesHeld is the most that bodies have held at once, in bytes, and what they hold now.
func BodiesHeld(c *Crawler) (peak, now int64) { return c.desk.meter.Peak(), c.desk.meter.Held() }

// OutcomesHeld is the most that big outcomes have held at once, in bytes, and what they hold now.
func OutcomesHeld(c *Crawler) (peak, now int64) {
	return c.desk.outcomes.Peak(), c.desk.outcomes.Held()
}

// ShareOfBodies is how much they may hold.
func ShareOfBodies(c *Crawler) int64 { return c.desk.meter.Share() }

// WithSeenBytes has the job of o hold no more fingerprints in memory than in so many bytes.
func WithSeenBytes(o Options, bytes int) Options {
	o.seenBytes, o.hostBytes = bytes, bytes
	return o
}

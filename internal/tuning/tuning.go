// Package tuning is what only this module's own tests set of a crawl: another file system, smaller
// tables, and a look at the meters of memory.
package tuning

import (
	"time"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
)

// Options tune a crawl. Zero values stand for what every other crawl has.
type Options struct {
	Files     store.FS      // where the job is; nil: the disk
	Heads     int           // URLs of an origin that wait in memory; 0: 2,048
	SeenBytes int           // memory for fingerprints; 0: as Memory allows
	HostBytes int           // memory for hosts; the same
	Drain     time.Duration // 0: 10 s
	Retried   int           // URLs that a retry makes pending at once; 0: 100

	// Of a node of a crawl that several share: see engine.Config.Node. OnCrawl is given the crawl.
	Node      *engine.NodeConfig
	Partition func(host string) int
	Ours      []int
	OnCrawl   func(*engine.Crawl)
	Plan      *job.Plan // of the crawl, in place of the options; nil: these

	// OnMeters is given the meters of bodies and of big outcomes when the crawl is made; nil:
	// nobody.
	OnMeters func(bodies, outcomes *budget.Meter)
}

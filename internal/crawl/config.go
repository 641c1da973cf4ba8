package crawl

import (
	"context"

	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/warc"
)

// Config is one crawl, checked and with its defaults filled in.
type Config struct {
	// Engine is the crawl but for its job. New sets what the plan says, and what belongs to the job
	// and to Node: see planned and Node.
	Engine engine.Config

	// Job is the folder to open, and the plan of the crawl: if the folder has a job, that of the
	// job. Without a Dir nothing is kept, and the plan is the crawl's all the same.
	Job job.Options

	Software string         // the program, as archives name it
	Digest   warc.Algorithm // of the records of the archive
	Metadata bool           // the archive has metadata records: see weft.Keep.ArchiveMetadata

	Browser render.Options // but for what the plan says, and Tabs: of pages that are rendered

	Block      blocklist.Lists // of requests of pages that are rendered
	RenderPost bool            // these may send POSTs to their own sites
	Steps      render.Steps    // of these pages
	Screenshot render.Screenshot
	PDF        bool

	Node *Node // nil: the crawl is whole
}

// Node makes a crawl a part of one that several processes share. It needs a job.
type Node struct {
	Partition func(host string) int
	Ours      []int // partitions that are on the disk
	Engine    engine.NodeConfig

	Whole func(context.Context) (any, error) // status of all nodes, for JSON
}

// share makes the crawl that of the node.
func (n *Node) share(c *Config) {
	c.Engine.Node, c.Job.Partition = &n.Engine, n.Partition
	f := &c.Engine.Frontier
	f.Partition, f.Ours, f.Metered = n.Partition, n.Ours, n.Engine.Short != nil
}

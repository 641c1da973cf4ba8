package engine

import (
	"io"
	"iter"
	"regexp"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// Seed is a URL to start from.
type Seed struct {
	URL     weburl.URL
	Written string     // its path and query as they were typed; empty: as URL has them
	Guessed bool       // its scheme is: see fetch.GuessedRank
	Post    *seed.Post // its body; nil: it is a GET
}

// ArchiveConfig configures the files of an archive.
type ArchiveConfig struct {
	Size  int64       // bytes: one that would become longer ends
	About warc.Header // the crawl, as each file describes it
}

// Hooks are called as the crawl goes on; any may be nil.
type Hooks struct {
	OnRecord  func(*record.Record)
	OnError   func(*record.Record)
	OnWarning func(error)
}

// Config is a crawl, checked and with its defaults filled in.
type Config struct {
	Frontier frontier.Config
	Fetch    fetch.Config

	Seeds   []Seed
	SeedSeq iter.Seq2[Seed, error] // read while the crawl runs; nil: none
	Amend   bool                   // SeedSeq may be another list than the job's
	Late    []*regexp.Regexp       // exclusions that apply to pending URLs, too

	Loops       int // fetch loops, of Run
	Concurrency int // requests in flight
	Workers     int // the same, including requests that only wait: see slots
	Memory      int
	Shares      budget.Shares
	Duplicates  int // pages to remember; 0: none
	MaxAlike    int // pages like one another in a row before more are refused; 0: any number
	MaxTime     time.Duration
	Tabs        int // of the browser: pages that it renders at once
	MinFree     int // bytes; while less is free on the job's disk no fetch starts
	Loop        aio.Options

	Archive ArchiveConfig

	Node *NodeConfig // nil: the crawl is whole

	Job    *job.Job // nil: nothing is kept
	Disk   *Disk    // of the job; nil: none
	Output io.Writer
	Form   record.Form // of Output

	Hooks

	// Serve answers questions about the crawl while it runs, until stop is called; nil: none.
	Serve func() (stop func())
}

package durability_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// world is a synthetic web, crawled on a virtual clock into a job on an in-memory disk, together
// with what a crawl must leave behind, however often it is interrupted.
type world struct {
	web     *webtest.Web
	latency time.Duration // of the network, one way
	truth   map[string]webtest.Fate
	links   map[string]string // page → its lines of links.jsonl in an undisturbed crawl

	seenBytes int // memory for fingerprints; 0: unlimited
	archive   bool
	beyond    bool // the crawl keeps to a host, and fetches assets and checks links beyond it
}

// retries is more than the web's flaky pages need, because a resumed crawl may meet a server that
// has forgotten its earlier failures.
const retries = 4

func newWorld(t *testing.T, cfg webtest.Config) *world {
	t.Helper()
	return newWorldOf(t, cfg, false)
}

func newWorldOf(t *testing.T, cfg webtest.Config, beyond bool) *world {
	t.Helper()
	web, err := webtest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	policy := torture.Policy(retries)
	if beyond {
		policy = torture.PolicyBeyond(retries)
	}
	w := &world{web: web, latency: 20 * time.Millisecond, truth: maps.Collect(web.Truth(policy)), beyond: beyond}
	disk := storetest.New()
	if sum, err := w.crawl(disk, weft.Options{}, schedule{}); err != nil || !sum.Finished {
		t.Fatalf("undisturbed crawl: %+v, %v", sum, err)
	}
	left, err := torture.Read(disk, "/job")
	if err != nil {
		t.Fatal(err)
	}
	w.links = left.Links
	if err := w.checkWhole(disk); err != nil {
		t.Fatal(err)
	}
	return w
}

// schedule is the events of one run of a crawl, and their times.
type schedule struct {
	clock  *aiotest.Clock  // nil: a new one
	server *webtest.Server // nil: a new one
	begin  time.Duration   // the clock advances by this before the run starts
	drain  time.Duration   // when the run is drained; 0: never
	stop   time.Duration   // when the run is canceled; 0: never
	last   func()          // called right before the run is canceled
}

// keep has so many URLs of an origin wait in memory; 0: as many as usual.
func keep(heads int) func(*crawl.Config) {
	return func(c *crawl.Config) {
		c.Engine.Frontier.Heads = cmp.Or(heads, c.Engine.Frontier.Heads)
	}
}

// crawl starts the job on a disk, or resumes it.
func (w *world) crawl(disk store.FS, o weft.Options, l schedule, changes ...func(*crawl.Config)) (sum weft.Summary, err error) {
	if l.clock == nil {
		l.clock = aiotest.NewClock()
	}
	if l.server == nil {
		l.server = webtest.NewServer(w.web, nil)
	}
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: w.latency})
	for i := range w.web.Hosts() {
		if addr, ok := w.web.Addr(i); ok {
			netw.Host(w.web.Name(i), addr.String())
		}
	}
	o.Seeds, o.Reach.Scope, o.Job = []string{w.web.Home(0)}, weft.ScopeAny, "/job"
	if w.beyond {
		o.Reach.Scope, o.Reach.Assets, o.Reach.External = weft.ScopeHost, weft.AssetsAny, true
	}
	o.Pace.Retries, o.Keep.KeepLinks, o.Keep.KeepBodies = retries, true, true
	o.Keep.Extract = []extract.Rule{{Fields: []extract.Field{{Name: "body", Select: "body"}}}}
	o.Keep.Archive, o.Keep.ArchiveSize = w.archive, 4<<10 // some pages
	// A store allocates its share at once, and there are many.
	o.Memory = cmp.Or(o.Memory, 64<<20)
	err = aio.NewLoop(aio.Options{Clock: l.clock, Network: netw}).Run(context.Background(), func(task *aio.Task) error {
		if err := task.Sleep(l.begin); err != nil {
			return err
		}
		cfg, err := o.Config()
		if err != nil {
			return err
		}
		cfg.Job.Files = disk
		f := &cfg.Engine.Frontier
		f.SeenBytes, f.HostBytes = cmp.Or(w.seenBytes, f.SeenBytes), cmp.Or(w.seenBytes, f.HostBytes)
		for _, change := range changes {
			change(cfg)
		}
		c, err := crawl.New(cfg)
		if err != nil {
			return err
		}
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("web", func(task *aio.Task) error { return l.server.Serve(task, ln) })
			defer ln.Close()
			if l.drain > 0 {
				drain := task.Loop().CallLater(l.drain, c.Drain)
				defer drain.Cancel()
			}
			run := func(task *aio.Task) (err error) {
				sum, err = c.RunOn(task)
				return err
			}
			if l.stop > 0 {
				if l.last != nil {
					last := task.Loop().CallLater(l.stop, l.last)
					defer last.Cancel()
				}
				return ignoreTimeout(task.Timeout(l.stop, run))
			}
			return run(task)
		})
	})
	return sum, err
}

func ignoreTimeout(err error) error {
	var late *aio.TimeoutError
	if errors.As(err, &late) {
		return nil
	}
	return err
}

// recovered reads and checks what is left of a job, of whose pages.jsonl at least so many bytes
// were committed.
func (w *world) recovered(disk store.FS, least int) (torture.Left, error) {
	l, err := torture.Open(disk, "/job")
	if err == nil {
		err = l.Bodies(disk, "/job")
	}
	if err != nil {
		return l, err
	}
	if len(l.Pages) < least {
		return l, fmt.Errorf("%d bytes of pages.jsonl are left, but %d were committed", len(l.Pages), least)
	}
	for u := range l.Pending {
		if _, ok := w.truth[u]; !ok {
			return l, fmt.Errorf("%s is pending, but nothing leads to it", u)
		}
	}
	return l, nil
}

// checkWhole returns an error if a finished job lacks something or has too much.
func (w *world) checkWhole(disk store.FS) error {
	left, err := torture.Read(disk, "/job")
	if err != nil {
		return err
	}
	if left, err = w.recovered(disk, len(left.Pages)); err != nil {
		return err
	}
	return left.Whole(w.truth, w.links)
}

// killed makes l end as if the process were killed, and leave the disk as it is at that moment.
func (l *schedule) killed(disk **storetest.FS, after time.Duration) {
	live := *disk
	l.stop, l.last = after, func() { *disk = live.Crash(100, rand.New(rand.NewPCG(1, 2))) }
}

// brokenOffWorld returns a small web with a little of everything. In the short form no response
// stalls, as minutes until a timeout cost more than all pages.
func brokenOffWorld(t *testing.T) *world {
	return newWorld(t, webtest.Config{
		Seed: long.Or[uint64](29, 5), Hosts: long.Or(4, 6), Pages: long.Or(4, 8), SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond,
		Rates: webtest.Rates{Stalled: long.Or(-1.0, 0)},
	})
}

// beyondWorld returns a web whose first host leads to many URLs on the others.
func beyondWorld(t *testing.T) *world {
	return newWorldOf(t, webtest.Config{
		Seed: 3, Hosts: 3, Pages: 3, Links: 4, SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond,
		Rates: webtest.Rates{Stalled: -1, Broken: -1, Loop: -1},
	}, true)
}

// TestBrokenOff drains, cancels or kills a crawl at random times and resumes it until it finishes.
// It must find what an undisturbed crawl finds, whatever the memory for URLs and fingerprints, and
// whatever the concurrency and so the size of batches.
func TestBrokenOff(t *testing.T) {
	w, beyond := brokenOffWorld(t), beyondWorld(t)
	t.Logf("%d URLs, and %d of one site and beyond", len(w.truth), len(beyond.truth))
	const all = 1 << 20
	runs := long.Or(8, 20) // at most; the last one is undisturbed
	for i, heads := range []int{1, 3, long.Or(16, 64), all} {
		for _, workers := range long.Or([]int{1 + i%2*15}, []int{1, 16}) {
			t.Run(fmt.Sprintf("%d URLs in memory, %d workers", heads, workers), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(uint64(heads), uint64(workers)))
				w := *w // the original is shared
				if heads > 1 && heads < all {
					w = *beyond
				}
				disk, clock, server := storetest.New(), aiotest.NewClock(), webtest.NewServer(w.web, nil)
				before, committed := "", 0
				for run := 1; ; run++ {
					w.seenBytes = []int{0, 1, 64 * len(w.truth) / 2}[(run+workers)%3] // all, none, a third
					l := schedule{clock: clock, server: server, begin: time.Duration(rng.Int64N(int64(time.Minute)))}
					after := time.Duration(rng.ExpFloat64() * float64(2*time.Second))
					switch rng.IntN(4) {
					case 0:
						l.drain = after
					case 1:
						l.stop = after
					case 2:
						l.killed(&disk, after)
					case 3:
						l.drain, l.stop = after, after+time.Duration(rng.Int64N(int64(time.Second)))
					}
					if run == runs {
						l = schedule{clock: clock, server: server}
					}
					sum, err := w.crawl(disk, weft.Options{Pace: weft.Pace{Concurrency: workers}}, l, keep(heads))
					if err != nil {
						t.Fatalf("run %d: %v", run, err)
					}
					got, err := w.recovered(disk, committed)
					if err != nil {
						t.Fatalf("run %d: %v", run, err)
					}
					if !strings.HasPrefix(got.Pages, before) {
						t.Fatalf("run %d: a record of an earlier run has changed", run)
					}
					if l.last == nil && (sum.Recorded() != len(got.Records) || sum.Runs > run) {
						t.Fatalf("run %d: the summary counts %d URLs in %d runs, but there are %d records", run, sum.Recorded(), sum.Runs, len(got.Records))
					}
					before, committed = got.Pages, len(got.Pages)
					if sum.Finished && len(got.Pending) == 0 { // and the run was not killed
						t.Logf("%d runs", run)
						break
					}
					if run == runs {
						t.Fatalf("not finished: %+v", sum)
					}
				}
				if err := w.checkWhole(disk); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestPoliteAcrossRuns checks by the server's log that a host is not requested again before its
// delay has passed, however often the crawl is killed and however soon it resumes; and that a host
// known from an earlier run is not requested within the first delay of a run.
func TestPoliteAcrossRuns(t *testing.T) {
	const delay = 300 * time.Millisecond
	w := newWorld(t, webtest.Config{
		Seed: 6, Hosts: 6, Pages: 4, SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond,
		Rates: webtest.Rates{Broken: -1}, // a kept connection that breaks is retried at once
	})
	w.latency = time.Millisecond // a request may reach the server before it is journaled
	rng := rand.New(rand.NewPCG(1, 2))
	disk, clock, log := storetest.New(), aiotest.NewClock(), webtest.NewLog(nil)
	server := webtest.NewServer(w.web, log)
	runs := 0
	for finished := false; !finished; runs++ {
		before := log.Len()
		began := clock.Now()
		// Later and later, or the crawl would never finish.
		stop := 1 + time.Duration(rng.ExpFloat64()*float64(delay/10)*float64(1+runs*runs/long.Or(10, 50)))
		l := schedule{clock: clock, server: server}
		l.killed(&disk, stop)
		sum, err := w.crawl(disk, weft.Options{Pace: weft.Pace{Delay: delay}}, l)
		if err != nil {
			t.Fatal(err)
		}
		finished = sum.Finished
		known := make(map[string]bool)
		for i, r := range log.Requests() {
			if i >= before && known[r.Host] && r.Start.Sub(began) < delay {
				t.Errorf("run %d: %s was requested %v after the start", runs, r.URL(), r.Start.Sub(began))
			}
			known[r.Host] = known[r.Host] || i < before
		}
	}
	t.Logf("%d URLs in %d runs", len(w.truth), runs)
	for host, m := range log.Politeness().Hosts {
		if m.MostAtOnce > 1 || m.Requests > 1 && m.SmallGap < delay {
			t.Errorf("%s: %d requests at once, gap %v", host, m.MostAtOnce, m.SmallGap)
		}
	}
	if err := w.checkWhole(disk); err != nil {
		t.Error(err)
	}
}

package engine

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// enough is how many URLs may be pending before seeds of a list are held back.
const enough = 10_000

// seeds is how far the list of seeds, Config.SeedSeq, is read. A resumed job reads its list again,
// and no fetch starts before the part that earlier runs read is compared.
type seeds struct {
	read    func() // starts to read the list; nil: there is none
	reading bool   // the list has more
	now     job.List
	before  job.List        // read by earlier runs; this one must be the same
	differs bool            // it is not
	held    []func()        // each lets go a seed that came while enough was pending
	origins map[string]bool // of the list, that may have the user's secrets: see know
}

// comparing reports whether seeds that an earlier run read are still to come.
func (s *seeds) comparing() bool { return s.reading && s.now.Seeds < s.before.Seeds }

// list is what all runs have read.
func (s *seeds) list() job.List {
	if s.differs || s.now.Seeds < s.before.Seeds {
		return s.before
	}
	l := s.now
	l.Listed = l.Listed || s.before.Listed && l.Seeds == s.before.Seeds // read to its end before, and not again
	return l
}

// release lets go seeds while few URLs are pending.
func (s *seeds) release(pending int) {
	for len(s.held) > 0 && pending < enough {
		s.held[0]()
		s.held = s.held[1:]
	}
}

func (s *seeds) releaseAll() {
	for _, release := range s.held {
		release()
	}
}

// canonicalSeeds are the seeds that were given one by one, under the rules of Canon.
func (d *Coordinator) canonicalSeeds() []weburl.URL {
	var all []weburl.URL
	for _, s := range d.cfg.Seeds {
		all = append(all, d.cfg.Fetch.Canon.Identity(s.URL))
	}
	return all
}

// postsOf returns what seeds send.
func postsOf(seeds []Seed) seed.Posts {
	all := make(seed.Posts)
	for _, s := range seeds {
		if s.Post != nil {
			all[s.Post.Digest()] = s.Post
		}
	}
	return all
}

// seedURLs yields what addSeed may add for seeds under the rules.
func (d *Coordinator) seedURLs(seeds ...weburl.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		c := &d.cfg.Fetch
		for _, u := range seeds {
			if !yield(u) {
				return
			}
			if s, ok := c.UsualSitemap(u); ok && c.Sitemaps && c.NoRobots && !yield(s) {
				return
			}
		}
	}
}

// addSeed adds a seed, and reports whether it is new.
func (d *Coordinator) addSeed(s Seed) bool {
	c := &d.cfg.Fetch
	u := c.Canon.Identity(s.URL)
	d.open(u)
	if !c.Distrust {
		d.openNetwork(fetch.WrittenNetwork(u))
	}
	added := frontier.URL{URL: u}
	if s.Written != "" && u == s.URL { // the rules of Canon have made no other of it
		added.Written = s.Written
	}
	if s.Guessed {
		added.Rank = fetch.GuessedRank
	}
	isNew := d.frontier.Add(added)
	if c.NoRobots { // no robots.txt will name its sitemaps
		d.addSitemaps(c.HostSitemaps(d.bounds, frontier.URL{URL: u}, new(robots.Robots), nil))
	}
	d.changed()
	return isNew
}

// listPause is how long the levels of a crawl to a depth wait for the next seed of a list. The list
// may be a pipe, which ends tomorrow.
const listPause = time.Second

// holdLevels has the links of the first seeds wait for the next ones, while these come.
func (d *Coordinator) holdLevels() {
	wait := time.Duration(0)
	if d.seeds.reading {
		wait = listPause
	}
	d.frontier.HoldLevels(d.clock.now(), wait)
}

// takeSeed takes in a seed of the list; release makes room for another.
func (d *Coordinator) takeSeed(given Seed, release func()) {
	d.admit(none, d.seedURLs(d.cfg.Fetch.Canon.Apply(given.URL)), func() { d.compareSeed(given, release) })
	d.Dispatch()
}

// compareSeed adds a seed of the list. One that an earlier run read is known, and only compared.
func (d *Coordinator) compareSeed(given Seed, release func()) {
	s := &d.seeds
	s.now.Add(given.URL)
	d.know(d.cfg.Fetch.Canon.Apply(given.URL))
	known := s.now.Seeds <= s.before.Seeds
	switch {
	case known && s.now.Seeds == s.before.Seeds && s.now.Sum != s.before.Sum:
		d.failList(fmt.Sprintf("the first %d URLs have changed", s.now.Seeds))
	case !known && s.before.Listed:
		d.failList(fmt.Sprintf("%.128s is new", given.URL))
	}
	if known || s.differs {
		release()
	} else {
		s.held = append(s.held, release)
		d.addSeed(given)
		d.holdLevels()
	}
}

// failList ends the crawl, as the list is not what it was.
func (d *Coordinator) failList(what string) {
	d.seeds.differs = true
	d.fail(&job.OptionError{Option: "SeedSeq", Err: fmt.Errorf("%s, expected the list %w", what, job.ErrPlan)})
}

// endSeeds says that the list has ended.
func (d *Coordinator) endSeeds(err error) {
	d.admit(none, none, func() {
		s := &d.seeds
		switch {
		case err != nil:
			d.fail(err)
		case s.comparing():
			d.failList(fmt.Sprintf("%d URLs, and before there were %d", s.now.Seeds, s.before.Seeds))
		default:
			s.now.Listed = true
			d.changed()
		}
		s.reading = false
		d.holdLevels()
	})
	d.Dispatch()
}

// SeedState is what became of a seed that was added.
type SeedState int

// The states.
const (
	SeedWaits SeedState = iota // it is looked up first
	SeedAdded
	SeedKnown
)

// AddSeed makes a URL one of the job's seeds.
func (d *Coordinator) AddSeed(s Seed) SeedState {
	p, text := &d.cfg.Job.Plan, s.URL.String()
	if !slices.Contains(p.AllSeeds(), text) {
		p.Added = append(p.Added, text)
		if s.Guessed {
			p.Guessed = append(p.Guessed, text)
		}
		d.savePlan()
	}
	u := d.cfg.Fetch.Canon.Apply(s.URL)
	d.trust([]weburl.URL{u})
	state := SeedWaits
	d.admit(none, d.seedURLs(u), func() {
		state = SeedKnown
		if d.addSeed(s) {
			state = SeedAdded
		}
	})
	return state
}

// Exclude has no URL fetched that an expression matches, in this and later runs. It reports whether
// the expression is new.
func (d *Coordinator) Exclude(re *regexp.Regexp) bool {
	p := &d.cfg.Job.Plan
	if slices.Contains(p.Exclude, re.String()) || slices.Contains(p.Late, re.String()) {
		return false
	}
	p.Late = append(p.Late, re.String())
	d.cfg.Late = append(d.cfg.Late, re)
	for _, f := range d.loops {
		f.Exclude(re)
	}
	d.savePlan()
	d.frontier.RefuseBy(d.refuses)
	return true
}

// savePlan has the next batch save the plan, which has changed: once, however many orders it brings.
func (d *Coordinator) savePlan() {
	d.committer.planned = true
	d.changed()
}

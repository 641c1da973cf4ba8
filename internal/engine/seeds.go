package engine

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// enough is the number of pending URLs from which seeds of a list are held back.
const enough = 10_000

// seeds are the URLs that the crawl starts from: those that were given one by one, and the list of
// seeds, Config.SeedSeq, as far as it is read. A resumed job reads its list again, and no fetch
// starts before the part that earlier runs read is compared. Owner: the coordinator's loop.
type seeds struct {
	cfg       *Config
	clock     *clock
	frontier  *frontier.Frontier
	reach     *reach
	loops     *loops
	admission *admission
	committer *committer
	fail      func(error)
	dispatch  func()

	read    func() // starts to read the list; nil: there is none
	reading bool   // the list has more
	now     job.List
	before  job.List // read by earlier runs; this one must be the same
	differs bool     // it is not
	held    []func() // each lets go a seed that came while enough was pending
}

// recall takes in how much of the list earlier runs have read.
func (s *seeds) recall(list job.List) {
	if s.cfg.Amend && s.cfg.SeedSeq != nil {
		list = job.List{} // any list will do
	}
	s.before = list
}

// start adds the seeds that were given one by one, and reads the list.
func (s *seeds) start() {
	given := s.canonical()
	s.loops.trust(given)
	s.frontier.DelayLevels(s.clock.now(), time.Hour) // until they are looked up
	s.admission.admit(nil, s.urls(given...), func() {
		for _, one := range s.cfg.Seeds {
			s.add(one)
		}
		if s.cfg.SeedSeq == nil { // else any host may come
			s.reach.warnOfCredentials(given)
		}
		s.holdLevels()
	})
}

// readList starts to read the list, if there is one.
func (s *seeds) readList() {
	if s.read != nil {
		s.read()
	}
}

// comparing reports whether seeds that an earlier run read are still to come.
func (s *seeds) comparing() bool { return s.reading && s.now.Seeds < s.before.Seeds }

// list returns the part of the list that all runs have read.
func (s *seeds) list() job.List {
	if s.differs || s.now.Seeds < s.before.Seeds {
		return s.before
	}
	l := s.now
	// It was read to its end before, and not again.
	l.Listed = l.Listed || s.before.Listed && l.Seeds == s.before.Seeds
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

// canonical returns the seeds that were given one by one, under the rules of Canon.
func (s *seeds) canonical() []weburl.URL {
	var all []weburl.URL
	for _, one := range s.cfg.Seeds {
		all = append(all, s.cfg.Fetch.Canon.Identity(one.URL))
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

// urls yields what add may add for seeds under the rules.
func (s *seeds) urls(seeds ...weburl.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		c := &s.cfg.Fetch
		for _, u := range seeds {
			if !yield(u) {
				return
			}
			if usual, ok := c.UsualSitemap(u); ok && c.Sitemaps && c.NoRobots && !yield(usual) {
				return
			}
		}
	}
}

// add adds a seed, and reports whether it is new.
func (s *seeds) add(one Seed) bool {
	c := &s.cfg.Fetch
	u := c.Canon.Identity(one.URL)
	s.reach.open(u)
	if !c.Distrust {
		s.reach.openNetwork(fetch.WrittenNetwork(u))
	}
	added := frontier.URL{URL: u}
	if one.Written != "" && u == one.URL { // the rules of Canon have made no other of it
		added.Written = one.Written
	}
	if one.Guessed {
		added.Rank = fetch.GuessedRank
	}
	isNew := s.frontier.Add(added)
	if c.NoRobots { // no robots.txt will name its sitemaps
		for _, sitemap := range c.HostSitemaps(s.reach.bounds, frontier.URL{URL: u}, new(robots.Robots), nil) {
			s.frontier.Add(sitemap)
		}
	}
	s.committer.changed()
	return isNew
}

// listPause is the time for which the levels of a crawl to a depth wait for the next seed of a
// list. The list may be a pipe, which ends tomorrow.
const listPause = time.Second

// holdLevels has the links of the first seeds wait for the next ones, while these come.
func (s *seeds) holdLevels() {
	wait := time.Duration(0)
	if s.reading {
		wait = listPause
	}
	s.frontier.DelayLevels(s.clock.now(), wait)
}

// take takes in a seed of the list; release makes room for another.
func (s *seeds) take(given Seed, release func()) {
	s.admission.admit(nil, s.urls(s.cfg.Fetch.Canon.Apply(given.URL)), func() { s.compare(given, release) })
	s.dispatch()
}

// compare adds a seed of the list. One that an earlier run read is known, and only compared.
func (s *seeds) compare(given Seed, release func()) {
	s.now.Add(given.URL)
	s.reach.know(s.cfg.Fetch.Canon.Apply(given.URL))
	known := s.now.Seeds <= s.before.Seeds
	switch {
	case known && s.now.Seeds == s.before.Seeds && s.now.Sum != s.before.Sum:
		s.failList(fmt.Sprintf("the first %d URLs have changed", s.now.Seeds))
	case !known && s.before.Listed:
		s.failList(fmt.Sprintf("%.128s is new", given.URL))
	}
	if known || s.differs {
		release()
	} else {
		s.held = append(s.held, release)
		s.add(given)
		s.holdLevels()
	}
}

// failList ends the crawl, as the list is not what it was.
func (s *seeds) failList(what string) {
	s.differs = true
	s.fail(&job.OptionError{Option: "SeedSeq", Err: fmt.Errorf("%s, expected the list %w", what, job.ErrPlan)})
}

// end says that the list has ended.
func (s *seeds) end(err error) {
	s.admission.admit(nil, nil, func() {
		switch {
		case err != nil:
			s.fail(err)
		case s.comparing():
			s.failList(fmt.Sprintf("%d URLs, and before there were %d", s.now.Seeds, s.before.Seeds))
		default:
			s.now.Listed = true
			s.committer.changed()
		}
		s.reading = false
		s.holdLevels()
	})
	s.dispatch()
}

// SeedState is the fate of a seed that was added.
type SeedState int

// The states.
const (
	SeedWaits SeedState = iota // it is looked up first
	SeedAdded
	SeedKnown
)

// addLate makes a URL one of the job's seeds.
func (s *seeds) addLate(one Seed) SeedState {
	p, text := &s.cfg.Job.Plan, one.URL.String()
	if !slices.Contains(p.AllSeeds(), text) {
		p.Added = append(p.Added, text)
		if one.Guessed {
			p.Guessed = append(p.Guessed, text)
		}
		s.committer.savePlan()
	}
	u := s.cfg.Fetch.Canon.Apply(one.URL)
	s.loops.trust([]weburl.URL{u})
	state := SeedWaits
	s.admission.admit(nil, s.urls(u), func() {
		state = SeedKnown
		if s.add(one) {
			state = SeedAdded
		}
	})
	return state
}

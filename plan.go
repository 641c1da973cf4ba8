package weft

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// ErrPlan is that an option is not what the job was begun with.
var ErrPlan = errors.New("as the job was begun")

// plan is what decides which URLs a crawl has, and what is kept of them. The first run
// of a job freezes it: another one would make two crawls of the job.
type plan struct {
	Version      string    `json:"version"` // of Weft, that began the job
	Begun        time.Time `json:"begun"`
	Seeds        []string  `json:"seeds"`           // without those of SeedSeq
	Added        []string  `json:"added,omitempty"` // while it ran
	List         bool      `json:"list"`            // there is a SeedSeq
	Scope        Scope     `json:"scope"`
	Include      []string  `json:"include,omitempty"`
	Exclude      []string  `json:"exclude,omitempty"`
	Late         []string  `json:"late,omitempty"`  // exclusions added since: they hold for pending URLs too
	Canon        string    `json:"canon,omitempty"` // rules beyond the standard
	Depth        int       `json:"depth"`
	MaxRedirects int       `json:"max_redirects"`
	LimitPerHost int       `json:"limit_per_host"` // what is beyond it is dropped for good
	MaxURLLength int       `json:"max_url_length"`
	MaxPathDepth int       `json:"max_path_depth"` // of this and the next two 0 is any number
	MaxRepeats   int       `json:"max_repeats"`
	MaxVariants  int       `json:"max_variants"`
	NoRobots     bool      `json:"no_robots"`
	Sitemaps     bool      `json:"sitemaps"`
	UserAgent    string    `json:"user_agent"` // its first word is the name robots.txt is read for, which stays
	KeepLinks    bool      `json:"links"`
	KeepBodies   bool      `json:"bodies"`

	Duplicates      Duplicates `json:"duplicates"`
	PruneDuplicates bool       `json:"prune_duplicates"`
}

func newPlan(c *config) plan {
	p := plan{
		Version: Version, Begun: time.Now().UTC().Truncate(time.Second), List: c.SeedSeq != nil,
		Scope: c.Scope, Include: texts(c.Include), Exclude: texts(c.Exclude), Canon: c.Canon.String(), Depth: c.Depth, MaxRedirects: c.MaxRedirects, LimitPerHost: c.LimitPerHost,
		MaxURLLength: c.MaxURLLength, MaxPathDepth: c.MaxPathDepth, MaxRepeats: c.MaxRepeats, MaxVariants: c.MaxVariants,
		NoRobots: c.NoRobots, Sitemaps: c.Sitemaps, UserAgent: c.UserAgent, KeepLinks: c.KeepLinks, KeepBodies: c.KeepBodies,
		Duplicates: c.Duplicates, PruneDuplicates: c.PruneDuplicates,
	}
	for _, u := range c.seeds {
		p.Seeds = append(p.Seeds, u.String())
	}
	p.Seeds = union(p.Seeds)
	return p
}

// bare reports whether there is nothing to begin at.
func (p plan) bare() bool { return len(p.Seeds) == 0 && !p.List }

func texts(list []*regexp.Regexp) []string {
	var all []string
	for _, re := range list {
		all = append(all, re.String())
	}
	return union(all)
}

// union is the texts of lists, each once, as they come.
func union(lists ...[]string) []string {
	var all []string
	known := make(map[string]bool)
	for _, s := range slices.Concat(lists...) {
		if !known[s] {
			known[s] = true
			all = append(all, s)
		}
	}
	return all
}

// same reports whether two lists have the same texts.
func same(a, b []string) bool { return len(union(a, b)) == len(a) && len(a) == len(b) }

// unless returns the plan with what the options leave unsaid as in p: for a job that is
// named, and nothing else.
func (now plan) unless(o Options, p plan) plan {
	if o.Scope == "" {
		now.Scope = p.Scope
	}
	if len(o.Include) == 0 {
		now.Include = p.Include
	}
	if len(o.Exclude) == 0 {
		now.Exclude = p.Exclude
	}
	if o.Canon == 0 {
		now.Canon = p.Canon
	}
	if o.Depth == 0 {
		now.Depth = p.Depth
	}
	if o.MaxRedirects == 0 {
		now.MaxRedirects = p.MaxRedirects
	}
	if o.LimitPerHost == 0 {
		now.LimitPerHost = p.LimitPerHost
	}
	if o.MaxURLLength == 0 {
		now.MaxURLLength = p.MaxURLLength
	}
	if o.MaxPathDepth == 0 {
		now.MaxPathDepth = p.MaxPathDepth
	}
	if o.MaxRepeats == 0 {
		now.MaxRepeats = p.MaxRepeats
	}
	if o.MaxVariants == 0 {
		now.MaxVariants = p.MaxVariants
	}
	if o.UserAgent == "" {
		now.UserAgent = p.UserAgent
	}
	if o.Duplicates == "" {
		now.Duplicates = p.Duplicates
	}
	now.PruneDuplicates = now.PruneDuplicates || p.PruneDuplicates
	now.NoRobots = now.NoRobots || p.NoRobots
	now.Sitemaps = now.Sitemaps || p.Sitemaps
	now.KeepLinks = now.KeepLinks || p.KeepLinks
	now.KeepBodies = now.KeepBodies || p.KeepBodies
	return now
}

// resume returns the plan with which a job that was begun with p goes on when now is
// asked for: p itself, as they have to be the same; but with amend now may add seeds and
// exclusions. No seeds at all are those of p. Its error is an *OptionError.
func (p plan) resume(now plan, amend bool) (plan, error) {
	for _, o := range []struct{ option, was, is string }{
		{"Scope", string(p.Scope), string(now.Scope)},
		{"Canon", cmp.Or(p.Canon, "none"), cmp.Or(now.Canon, "none")},
		{"Depth", depthInWords(p.Depth), depthInWords(now.Depth)},
		{"LimitPerHost", inWordsLimit(p.LimitPerHost), inWordsLimit(now.LimitPerHost)},
		{"MaxRedirects", fmt.Sprint(p.MaxRedirects), fmt.Sprint(now.MaxRedirects)},
		{"MaxURLLength", fmt.Sprint(p.MaxURLLength), fmt.Sprint(now.MaxURLLength)},
		{"MaxPathDepth", inWordsLimit(p.MaxPathDepth), inWordsLimit(now.MaxPathDepth)},
		{"MaxRepeats", inWordsLimit(p.MaxRepeats), inWordsLimit(now.MaxRepeats)},
		{"MaxVariants", inWordsLimit(p.MaxVariants), inWordsLimit(now.MaxVariants)},
		{"NoRobots", fmt.Sprint(p.NoRobots), fmt.Sprint(now.NoRobots)},
		{"Sitemaps", fmt.Sprint(p.Sitemaps), fmt.Sprint(now.Sitemaps)},
		{"UserAgent", robots.ProductToken(p.UserAgent), robots.ProductToken(now.UserAgent)},
		{"KeepLinks", fmt.Sprint(p.KeepLinks), fmt.Sprint(now.KeepLinks)},
		{"KeepBodies", fmt.Sprint(p.KeepBodies), fmt.Sprint(now.KeepBodies)},
		{"Duplicates", string(cmp.Or(p.Duplicates, DuplicatesSame)), string(cmp.Or(now.Duplicates, DuplicatesSame))},
		{"PruneDuplicates", fmt.Sprint(p.PruneDuplicates), fmt.Sprint(now.PruneDuplicates)},
	} {
		if o.was != o.is {
			return p, &OptionError{o.option, o.is, fmt.Errorf("expected %s, %w", o.was, ErrPlan)}
		}
	}
	if !same(p.Include, now.Include) {
		return p, &OptionError{"Include", inWords(now.Include), fmt.Errorf("expected %s, %w", inWords(p.Include), ErrPlan)}
	}
	p.UserAgent = now.UserAgent
	exclude := union(p.Exclude, p.Late)
	switch {
	case amend:
		for _, re := range now.Exclude {
			if !slices.Contains(exclude, re) {
				p.Late = append(p.Late, re)
			}
		}
		p.Seeds, p.List = union(p.Seeds, now.Seeds), p.List || now.List
	case !now.bare() && (!same(p.Seeds, now.Seeds) && !same(union(p.Seeds, p.Added), now.Seeds) || p.List != now.List):
		return p, &OptionError{"Seeds", p.begins(now), fmt.Errorf("expected %s, %w", p.begins(p), ErrPlan)}
	case !same(p.Exclude, now.Exclude) && !same(exclude, now.Exclude):
		return p, &OptionError{"Exclude", inWords(now.Exclude), fmt.Errorf("expected %s, %w", inWords(exclude), ErrPlan)}
	}
	return p, nil
}

// begins says where q begins.
func (plan) begins(q plan) string {
	switch {
	case q.List && len(q.Seeds) == 0:
		return "a list"
	case q.List:
		return inWords(q.Seeds) + " and a list"
	}
	return inWords(q.Seeds)
}

func inWords(list []string) string {
	const some = 3
	switch {
	case len(list) == 0:
		return "none"
	case len(list) > some:
		return fmt.Sprintf("%s and %d more", strings.Join(list[:some], " "), len(list)-some)
	}
	return strings.Join(list, " ")
}

func inWordsLimit(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

func depthInWords(depth int) string {
	switch {
	case depth == 0:
		return "any number"
	case depth < 0:
		return "0"
	}
	return fmt.Sprint(depth)
}

// apply makes the plan that of the configuration.
func (p plan) apply(c *config) error {
	c.Scope, c.Depth, c.MaxRedirects, c.LimitPerHost, c.NoRobots = p.Scope, p.Depth, p.MaxRedirects, p.LimitPerHost, p.NoRobots
	c.MaxURLLength, c.MaxPathDepth, c.MaxRepeats, c.MaxVariants = p.MaxURLLength, p.MaxPathDepth, p.MaxRepeats, p.MaxVariants
	c.Sitemaps, c.KeepLinks, c.KeepBodies, c.UserAgent = p.Sitemaps, p.KeepLinks, p.KeepBodies, p.UserAgent
	c.Duplicates, c.PruneDuplicates = p.Duplicates, p.PruneDuplicates
	c.seeds, c.Include, c.Exclude = nil, nil, nil
	var err error
	if c.Canon, err = weburl.ParseRules(p.Canon); err != nil {
		return err
	}
	for _, s := range slices.Concat(p.Seeds, p.Added) {
		u, err := weburl.Parse(s)
		if err != nil {
			return err
		}
		c.seeds = append(c.seeds, u)
	}
	for _, s := range p.Include {
		re, err := regexp.Compile(s)
		if err != nil {
			return err
		}
		c.Include = append(c.Include, re)
	}
	for _, s := range p.Exclude {
		re, err := regexp.Compile(s)
		if err != nil {
			return err
		}
		c.Exclude = append(c.Exclude, re)
	}
	for _, s := range p.Late {
		re, err := regexp.Compile(s)
		if err != nil {
			return err
		}
		c.late = append(c.late, re)
	}
	c.Exclude = append(c.Exclude, c.late...)
	return nil
}

func (p plan) encode() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic("weft: a plan that is no JSON: " + err.Error()) // no field of it can cause it
	}
	return b
}

package job

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// Plan is the options that decide which URLs a crawl has, and what it keeps of them. The first run
// of a job freezes it: with another plan there would be two crawls in one job.
//
// The fields that [Frozen] lists have the name and meaning of their options, with the defaults
// filled in.
type Plan struct {
	Version string      `json:"version"` // of Weft, that began the job
	Begun   time.Time   `json:"begun"`
	Seeds   []string    `json:"seeds"`             // but for those of SeedSeq
	Posts   []seed.Post `json:"posts,omitempty"`   // those of Seeds that are POSTs
	Guessed []string    `json:"guessed,omitempty"` // of Seeds, those whose scheme is a guess
	Added   []string    `json:"added,omitempty"`   // seeds added while the crawl ran
	List    bool        `json:"list"`              // there is a SeedSeq
	Late    []string    `json:"late,omitempty"`    // exclusions added since: for pending URLs, too

	Scope        scope.Scope  `json:"scope"`
	Include      []string     `json:"include,omitempty"`
	Exclude      []string     `json:"exclude,omitempty"`
	Canon        string       `json:"canon,omitempty"`
	Depth        int          `json:"depth"`
	MaxRedirects int          `json:"max_redirects"`
	LimitPerHost int          `json:"limit_per_host"` // URLs beyond it are dropped for good
	MaxURLLength int          `json:"max_url_length"`
	MaxPathDepth int          `json:"max_path_depth"` // 0: any number, as in the next two
	MaxRepeats   int          `json:"max_repeats"`
	MaxVariants  int          `json:"max_variants"`
	MaxAlike     int          `json:"max_alike"`
	Assets       scope.Assets `json:"assets,omitempty"`
	External     bool         `json:"external,omitempty"`
	Distrust     bool         `json:"distrust,omitempty"`
	NoRobots     bool         `json:"no_robots"`
	Sitemaps     bool         `json:"sitemaps"`
	UserAgent    string       `json:"user_agent"` // its product token, for robots.txt, is frozen
	KeepLinks    bool         `json:"links"`
	KeepBodies   bool         `json:"bodies"`
	Archive      bool         `json:"archive"`
	Extract      []string     `json:"extract,omitempty"` // rules, as JSON: see package extract
	Structured   bool         `json:"structured,omitempty"`

	Rendering string `json:"rendering,omitempty"` // of pages: never, auto, always
	Session   bool   `json:"session,omitempty"`   // the crawl is logged in

	Duplicates      string `json:"duplicates"`
	PruneDuplicates bool   `json:"prune_duplicates"`
}

// FrozenOption is one option that a plan freezes: the field of that name, of Plan and of
// weft.Options.
type FrozenOption struct {
	Name  string
	words func(reflect.Value) string // for people; plans with the same words agree

	// free is set where a later run may differ within what words say: it brings the new value.
	free bool
	// amendable is set where Amend adds to the list: see Plan.resume.
	amendable bool
}

// Frozen lists the frozen options, in the order in which differences are reported.
var Frozen = []FrozenOption{
	{Name: "Scope", words: text("")},
	{Name: "Canon", words: text("none")},
	{Name: "Depth", words: depth},
	{Name: "LimitPerHost", words: limit},
	{Name: "MaxRedirects", words: number},
	{Name: "MaxURLLength", words: number},
	{Name: "MaxPathDepth", words: limit},
	{Name: "MaxRepeats", words: limit},
	{Name: "MaxVariants", words: limit},
	{Name: "MaxAlike", words: limit},
	{Name: "Assets", words: text("none")},
	{Name: "External", words: yesNo},
	{Name: "Distrust", words: yesNo},
	{Name: "NoRobots", words: yesNo},
	{Name: "Sitemaps", words: yesNo},
	{Name: "UserAgent", words: productToken, free: true},
	{Name: "KeepLinks", words: yesNo},
	{Name: "KeepBodies", words: yesNo},
	{Name: "Archive", words: yesNo},
	{Name: "Extract", words: rules},
	{Name: "Structured", words: yesNo},
	{Name: "Rendering", words: text("never")},
	{Name: "Session", words: yesNo},
	{Name: "Duplicates", words: text("same")},
	{Name: "PruneDuplicates", words: yesNo},
	{Name: "Include", words: list},
	{Name: "Exclude", words: list, amendable: true},
}

func (o *FrozenOption) field(p *Plan) reflect.Value {
	return reflect.ValueOf(p).Elem().FieldByName(o.Name)
}

// agree reports whether two values of the option stand for the same crawl.
func (o *FrozenOption) agree(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice {
		return same(a.Interface().([]string), b.Interface().([]string))
	}
	return o.words(a) == o.words(b)
}

func text(empty string) func(reflect.Value) string {
	return func(v reflect.Value) string { return cmp.Or(v.String(), empty) }
}

func number(v reflect.Value) string { return fmt.Sprint(v.Int()) }

func yesNo(v reflect.Value) string { return fmt.Sprint(v.Bool()) }

func limit(v reflect.Value) string {
	if v.Int() == 0 {
		return "none"
	}
	return fmt.Sprint(v.Int())
}

func depth(v reflect.Value) string {
	switch n := v.Int(); {
	case n == 0:
		return "any number"
	case n < 0:
		return "none"
	default:
		return fmt.Sprint(n)
	}
}

func productToken(v reflect.Value) string { return robots.ProductToken(v.String()) }

func list(v reflect.Value) string { return inWords(v.Interface().([]string)) }

// rules says which fields rules have: see extract.Rule.
func rules(v reflect.Value) string {
	var all []string
	for _, text := range v.Interface().([]string) {
		var r struct {
			Name   string
			Fields []struct{ Name, Select string }
		}
		_ = json.Unmarshal([]byte(text), &r) // of a damaged plan, nothing is to be said
		for _, f := range r.Fields {
			all = append(all, strings.TrimPrefix(r.Name+"."+f.Name, ".")+"="+f.Select)
		}
	}
	return inWords(all)
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

// Seedless reports whether there is nothing to start from.
func (p *Plan) Seedless() bool { return len(p.Seeds) == 0 && !p.List }

// AllSeeds returns the seeds, with those added while the crawl ran.
func (p *Plan) AllSeeds() []string { return slices.Concat(p.Seeds, p.Added) }

// Origin says how a URL came to be a seed.
func (p *Plan) Origin(seed string) string {
	switch {
	case slices.Contains(p.Added, seed):
		return "added while the crawl ran"
	case slices.Contains(p.Seeds, seed):
		return "given"
	}
	return "in the list of seeds"
}

// inherit takes from was every frozen option that the user left unset: asked holds the options
// as given, where unset is the zero value.
func (p Plan) inherit(asked *Plan, was *Plan) Plan {
	for i := range Frozen {
		o := &Frozen[i]
		if o.field(asked).IsZero() {
			o.field(&p).Set(o.field(was))
		}
	}
	return p
}

// Continue returns the plan with which a crawl of plan p goes on when the caller requests now;
// asked has its options as given. Who gives no seeds takes those of p, and so it is with each
// option that is left unset. Its error is an *OptionError with a *PlanError.
func (p Plan) Continue(now Plan, asked *Plan) (Plan, error) {
	return p.agree(now.inherit(asked, &p), false)
}

// agree is resume, whose error it makes that of the first option that differs.
func (p Plan) agree(now Plan, amend bool) (Plan, error) {
	p, err := p.resume(now, amend)
	var differs *PlanError
	if errors.As(err, &differs) {
		first := differs.Differences[0]
		return p, &OptionError{Option: first.Option, Value: first.Now, Err: differs}
	}
	return p, err
}

// resume returns the plan with which a job of plan p continues when the caller requests now: p
// itself, as both must agree. With amend, now may add seeds and exclusions. A plan without seeds
// takes the seeds of p. Its error is a *PlanError.
func (p Plan) resume(now Plan, amend bool) (Plan, error) {
	var differ []Difference
	for i := range Frozen {
		o := &Frozen[i]
		if o.amendable {
			continue
		}
		was, is := o.field(&p), o.field(&now)
		if !o.agree(was, is) {
			differ = append(differ, Difference{Option: o.Name, Was: o.words(was), Now: o.words(is)})
		}
		if o.free {
			was.Set(is)
		}
	}
	exclude := Union(p.Exclude, p.Late)
	if amend {
		for _, re := range now.Exclude {
			if !slices.Contains(exclude, re) {
				p.Late = append(p.Late, re)
			}
		}
		p.Seeds, p.List = Union(p.Seeds, now.Seeds), p.List || now.List
		p.Guessed = Union(p.Guessed, now.Guessed)
		p.Posts = unionPosts(p.Posts, now.Posts)
	} else {
		if !now.Seedless() && (!same(p.Seeds, now.Seeds) && !same(Union(p.Seeds, p.Added), now.Seeds) || p.List != now.List) {
			differ = append(differ, Difference{Option: "Seeds", Was: p.seedWords(), Now: now.seedWords()})
		}
		if !same(p.Exclude, now.Exclude) && !same(exclude, now.Exclude) {
			differ = append(differ, Difference{Option: "Exclude", Was: inWords(exclude), Now: inWords(now.Exclude)})
		}
	}
	if len(differ) > 0 {
		return p, &PlanError{Differences: differ}
	}
	return p, nil
}

// seedWords says where the plan starts.
func (p *Plan) seedWords() string {
	switch {
	case p.List && len(p.Seeds) == 0:
		return "a list"
	case p.List:
		return inWords(p.Seeds) + " and a list"
	}
	return inWords(p.Seeds)
}

// Encode returns the plan as the store keeps it.
func (p *Plan) Encode() []byte { return encode(p) }

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("job: not JSON: " + err.Error()) // no field of a plan or a history can cause it
	}
	return b
}

// Rules returns where the crawl may go. It fails if the plan is damaged.
func (p *Plan) Rules() (r scope.Rules, err error) {
	r = scope.Rules{Scope: p.Scope, Depth: p.Depth, Assets: p.Assets, LoggedIn: p.Session, Traps: scope.Traps{Length: p.MaxURLLength, Depth: p.MaxPathDepth, Repeats: p.MaxRepeats}}
	if r.Include, err = compile(p.Include); err == nil {
		r.Exclude, err = compile(slices.Concat(p.Exclude, p.Late))
	}
	return r, err
}

// check returns what is wrong with a plan that was damaged on disk.
func (p *Plan) check() error {
	if _, err := p.Rules(); err != nil {
		return err
	}
	if _, err := weburl.ParseRules(p.Canon); err != nil {
		return err
	}
	if _, err := seed.PostsOf(p.Posts); err != nil {
		return err
	}
	_, err := p.SeedURLs()
	return err
}

// SeedURLs returns AllSeeds as URLs.
func (p *Plan) SeedURLs() ([]weburl.URL, error) {
	var all []weburl.URL
	for _, s := range p.AllSeeds() {
		u, err := weburl.Parse(s)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// LateExclusions returns the exclusions that apply to pending URLs, too.
func (p *Plan) LateExclusions() ([]*regexp.Regexp, error) { return compile(p.Late) }

func compile(texts []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, s := range texts {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, err
		}
		all = append(all, re)
	}
	return all, nil
}

// Union returns the texts of lists, each once, in their order.
func Union(lists ...[]string) []string {
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

// unionPosts is Union for what POSTs send.
func unionPosts(lists ...[]seed.Post) (all []seed.Post) {
	known := make(map[string]bool)
	for _, p := range slices.Concat(lists...) {
		if digest := p.Digest(); !known[digest] {
			known[digest] = true
			all = append(all, p)
		}
	}
	return all
}

// same reports whether two lists, each without repetitions, have the same texts.
func same(a, b []string) bool { return len(Union(a, b)) == len(a) && len(a) == len(b) }

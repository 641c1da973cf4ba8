package crawl

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"runtime"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/appshell/lessons"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/httpcache"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// planned hands on what the plan says: a crawl goes by the plan of its job, whatever was asked for.
// Each row hands one thing to one room, and has the name of the option that decides it.
var planned = []struct {
	option string
	on     func(plan, *Config)
}{
	{"Scope", func(p plan, c *Config) { c.Engine.Fetch.Scope = p.rules }},
	{"Exclude", func(p plan, c *Config) { c.Engine.Late = p.late }},
	{"Canon", func(p plan, c *Config) { c.Engine.Fetch.Canon = p.canon }},
	{"Depth", func(p plan, c *Config) { c.Engine.Frontier.Levels = p.said.Depth > 0 }},
	{"MaxRedirects", func(p plan, c *Config) { c.Engine.Frontier.MaxRedirects = p.said.MaxRedirects }},
	{"LimitPerHost", func(p plan, c *Config) { c.Engine.Frontier.LimitPerHost = p.said.LimitPerHost }},
	{"MaxVariants", func(p plan, c *Config) { c.Engine.Frontier.MaxVariants = p.said.MaxVariants }},
	{"MaxAlike", func(p plan, c *Config) { c.Engine.MaxAlike = p.said.MaxAlike }},
	{"Assets", func(p plan, c *Config) {
		c.Engine.Frontier.Beyond = p.said.Assets != scope.AssetsNone || p.said.External
	}},
	{"External", func(p plan, c *Config) { c.Engine.Fetch.Check.Beyond = p.said.External }},
	{"Distrust", func(p plan, c *Config) { c.Engine.Fetch.Distrust = p.said.Distrust }},
	{"NoRobots", func(p plan, c *Config) { c.Engine.Fetch.NoRobots = p.said.NoRobots }},
	{"NoRobots", func(p plan, c *Config) { c.Engine.Frontier.Robots = !p.said.NoRobots }},
	{"Sitemaps", func(p plan, c *Config) { c.Engine.Fetch.Sitemaps = p.said.Sitemaps }},
	{"UserAgent", func(p plan, c *Config) { c.Engine.Fetch.HTTP.UserAgent = p.said.UserAgent }},
	{"Extract", func(p plan, c *Config) { c.Engine.Fetch.Extract = p.items }},
	{"KeepLinks", func(p plan, c *Config) { c.Engine.Fetch.KeepLinks = p.said.KeepLinks }},
	{"KeepBodies", keepBodies},
	{"Archive", archive},
	{"Duplicates", func(p plan, c *Config) { c.Engine.Fetch.Duplicates = p.said.Duplicates != duplicatesOff }},
	{"Duplicates", func(p plan, c *Config) { c.Engine.Fetch.Near = p.said.Duplicates == duplicatesNear }},
	{"Duplicates", func(p plan, c *Config) { c.Engine.Duplicates = remembered(p, c) }},
	{"Rendering", rendering},
	{"PruneDuplicates", func(p plan, c *Config) { c.Engine.Fetch.Prune = p.said.PruneDuplicates }},
}

// Values of Plan.Duplicates.
const (
	duplicatesOff  = "off"
	duplicatesNear = "near"
)

// Values of Plan.Rendering that render pages.
const (
	renderAuto   = "auto"
	renderAlways = "always"
)

// plan is the plan of the crawl, with what it has as text parsed.
type plan struct {
	said  *job.Plan
	rules scope.Rules
	late  []*regexp.Regexp
	canon weburl.RuleSet
	items fetch.Extractor // nil: none
}

// read parses a plan.
func read(text *job.Plan) (p plan, err error) {
	p.said = text
	if p.rules, err = p.said.Rules(); err != nil {
		return p, err
	}
	if p.late, err = p.said.LateExclusions(); err != nil {
		return p, err
	}
	if p.canon, err = weburl.ParseRules(p.said.Canon); err != nil || !p.said.Extracts() {
		return p, err
	}
	rules := make([]extract.Rule, len(p.said.Extract))
	for i, text := range p.said.Extract {
		if err := json.Unmarshal([]byte(text), &rules[i]); err != nil {
			return p, err
		}
	}
	p.items, err = extract.New(rules, p.said.Structured)
	return p, err
}

// A crawl remembers at most maxDuplicates pages, to recognize their duplicates; each takes
// costOfDuplicate bytes. Of more, it forgets the oldest.
const (
	maxDuplicates   = 1 << 17
	costOfDuplicate = 200
)

func remembered(p plan, c *Config) int {
	if p.said.Duplicates == duplicatesOff {
		return 0
	}
	return min(maxDuplicates, c.Engine.Shares.Duplicates/costOfDuplicate)
}

// rendering has a browser render pages.
func rendering(p plan, c *Config) {
	if p.said.Rendering != renderAuto && p.said.Rendering != renderAlways {
		return
	}
	c.Browser.UserAgent = p.said.UserAgent
	c.Browser.Tabs = runtime.NumCPU() + 1
	browser := render.New(c.Browser)
	c.Engine.Tabs = browser.Tabs()
	var keep func(url, mime string, picture []byte) (string, error)
	if j := c.Engine.Job; j != nil {
		keep = j.KeepPicture
	}
	c.Engine.Fetch.Render = &fetch.Rendering{
		Assets: p.said.Assets == scope.AssetsAny, Browser: browser,
		Block: c.Block, OwnPosts: c.RenderPost, Steps: c.Steps, Screenshot: c.Screenshot, PDF: c.PDF, KeepPicture: keep,
		Cache: httpcache.New(int64(c.Engine.Memory/16), c.spillFile),
	}
	if p.said.Rendering == renderAuto {
		c.Engine.Fetch.Render.Lessons = lessons.New()
	}
}

// spillFile makes a file that is gone when it is closed, or the process ends.
func (c *Config) spillFile() (*os.File, error) {
	f, err := os.CreateTemp(c.Job.Dir, "responses-*.tmp")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// keepBodies has the job keep bodies, unless its archive does.
func keepBodies(p plan, c *Config) {
	if j := c.Engine.Job; j != nil && p.said.KeepBodies && !p.said.Archive {
		c.Engine.Fetch.KeepBody = j.KeepBody
	}
}

// archive has the job keep exchanges, without those fields of the user that are secret.
func archive(p plan, c *Config) {
	j, f := c.Engine.Job, &c.Engine.Fetch
	if j == nil || !p.said.Archive {
		return
	}
	robots := "obey"
	if p.said.NoRobots {
		robots = "ignore"
	}
	c.Engine.Archive.About = warc.Header{
		{Name: "software", Value: c.Software},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "http-header-user-agent", Value: p.said.UserAgent},
		{Name: "robots", Value: robots},
	}
	f.Archive = capture.New(j.Salt, cmp.Or(c.Digest, warc.SHA256), c.Engine.Shares.Originals)
	f.Archive.Metadata = c.Metadata
	if f.Session != nil {
		f.Archive.Holds = f.Session.Holds
	}
	for _, field := range f.HTTP.Header {
		if !field.Shown() {
			f.Archive.Secret = append(f.Archive.Secret, field.Name)
		}
	}
	f.HTTP.KeepRaw = true
}

package crawl

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/internal/view"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// Crawl is one crawl. Any goroutine may use it.
type Crawl struct {
	Engine    *engine.Crawl
	view      *view.View
	job       *job.Job         // nil: nothing is kept
	rendering *fetch.Rendering // nil: no page is rendered
}

// New opens the job, which it starts or resumes; it may wait for room on a full disk. Nothing is
// fetched before Run, which also closes the job. Its error is a *job.OptionError.
func New(cfg *Config) (*Crawl, error) {
	own := *cfg
	e := &own.Engine
	e.Disk = &engine.Disk{OnWarning: e.OnWarning}
	if jar, ok := e.Fetch.HTTP.Cookies.(interface{ Limit(bytes int) }); ok {
		jar.Limit(e.Shares.Cookies)
	}
	if own.Node != nil {
		own.Node.share(&own)
	}
	c := new(Crawl)
	plan := &own.Job.Plan
	if err := own.findBrowser(plan); err != nil {
		return nil, err
	}
	if own.Job.Dir != "" {
		own.Job.Waiting = e.Disk.Waiting
		j, err := job.Open(own.Job)
		if err != nil {
			return nil, err
		}
		c.job, e.Job, plan = j, j, &j.Plan
	}
	if plan.Session && e.Fetch.Session == nil { // of a job that resumes
		return nil, errors.Join(&job.OptionError{Option: "Session", Err: errNoSession}, c.job.Close())
	}
	if err := own.follow(plan); err != nil {
		if c.job != nil { // job.Open has checked the plan: this cannot be
			_ = c.job.Close()
		}
		return nil, &job.OptionError{Option: "Job", Value: own.Job.Dir, Err: job.Damaged("plan", err)}
	}
	if c.rendering = e.Fetch.Render; c.rendering != nil {
		if err := own.findBrowser(plan); err != nil { // of a job that resumes
			return nil, errors.Join(err, c.job.Close())
		}
		if e.OnWarning != nil {
			own.saySandbox(e.OnWarning)
		}
	}
	e.Serve = func() (stop func()) { return control.Serve(c.view, e.OnWarning) }
	c.Engine = engine.New(*e)
	c.view = &view.View{Job: c.job, Crawl: c.Engine, Version: strings.TrimPrefix(own.Software, "weft/")}
	if c.rendering != nil {
		c.view.Browser = c.browser
	}
	if own.Node != nil {
		c.view.Whole = own.Node.Whole
	}
	return c, nil
}

// errNoSession is returned for a job whose first run was logged in.
var errNoSession = errors.New("none, expected one: the job is that of a crawl that is logged in")

// findBrowser looks for the browser, if a plan has pages rendered: before anything is fetched.
func (c *Config) findBrowser(p *job.Plan) error {
	if p.Rendering != renderAuto && p.Rendering != renderAlways {
		return nil
	}
	if _, err := render.Find(c.Browser.Program); err != nil {
		return &job.OptionError{Option: "Browser", Value: c.Browser.Program, Err: err}
	}
	return nil
}

// saySandbox says how the sandbox of the browser stands, if that is not as usual.
func (c *Config) saySandbox(say func(error)) {
	program, _ := render.Find(c.Browser.Program) // findBrowser has
	switch text, isThere := render.Sandbox(program, c.Browser.Temp); {
	case !isThere:
		say(errors.New(text))
	case text != "":
		say(control.Notice(text))
	}
}

// follow hands the plan of the crawl to the rooms that follow it.
func (c *Config) follow(text *job.Plan) error {
	p, err := read(text)
	if err != nil {
		return err
	}
	for _, hand := range planned {
		hand.on(p, c)
	}
	if j := c.Engine.Job; j != nil {
		c.Engine.Fetch.Job, c.Engine.Fetch.Visit = true, max(1, j.History.Summary.Visit)
		return c.seeds(text)
	}
	return nil
}

// seeds has the crawl start from the seeds of the plan, written as they were typed for this run.
func (c *Config) seeds(p *job.Plan) error {
	urls, err := p.SeedURLs()
	if err != nil {
		return err
	}
	posts, _ := seed.PostsOf(p.Posts) // job.Open has checked the plan
	typed := make(map[weburl.URL]string)
	for _, s := range c.Engine.Seeds {
		typed[s.URL] = s.Written
	}
	c.Engine.Seeds = nil
	for _, u := range urls {
		c.Engine.Seeds = append(c.Engine.Seeds, engine.Seed{URL: u, Written: typed[u], Guessed: slices.Contains(p.Guessed, u.String()), Post: posts[u.Post()]})
	}
	return nil
}

// Run crawls until all is done, a limit is reached, Drain has emptied the crawl, or ctx is done:
// see engine.Crawl.Run. An archive that is finished has its sorted index then. What needs it makes
// it, too: a crawl that was interrupted does not wait for it.
func (c *Crawl) Run(ctx context.Context) (record.Summary, error) {
	sum, err := c.Engine.Run(ctx)
	if ended := c.endRendering(); ended != nil {
		err = errors.Join(err, ended)
	}
	if sum.Finished && c.job != nil && c.job.Plan.Archive && c.job.Files == store.Disk {
		err = errors.Join(err, cdxj.Update(filepath.Join(c.job.Dir, job.ArchiveDir), cdxj.All))
	}
	return sum, err
}

// RunOn is Run on the loop of t, next to other tasks.
func (c *Crawl) RunOn(t *aio.Task) (record.Summary, error) {
	sum, err := c.Engine.RunOn(t)
	if ended := c.endRendering(); ended != nil {
		err = errors.Join(err, ended)
	}
	return sum, err
}

// endRendering ends the browser, and lets go of what pages have shared.
func (c *Crawl) endRendering() error {
	if c.rendering == nil {
		return nil
	}
	return errors.Join(c.rendering.Browser.Close(), c.rendering.Cache.Close())
}

// Drain ends the crawl in good order: see engine.Crawl.Drain.
func (c *Crawl) Drain() { c.Engine.Drain() }

// Stats returns where the crawl is: zero before Run.
func (c *Crawl) Stats() engine.Stats { return c.Engine.Stats() }

// Figures returns the running crawl as monitoring reads it. Errors: engine.ErrEnded, that of ctx.
func (c *Crawl) Figures(ctx context.Context) (inspect.Figures, error) { return c.view.Figures(ctx) }

// browser returns figures of the browser.
func (c *Crawl) browser() *record.Browser {
	f := c.rendering.Browser.Figures()
	return &record.Browser{Tabs: c.rendering.Browser.Tabs(), Busy: f.Busy, Starts: f.Starts, Memory: f.Held, MaxMemory: f.Most}
}

// Earlier returns what the job had come to in its earlier runs; Runs is 0 if it is new.
func (c *Crawl) Earlier() record.Summary {
	if c.job == nil {
		return record.Summary{}
	}
	return c.job.History.Summary.Clone()
}

// Job returns the job's folder; "" if there is none.
func (c *Crawl) Job() string {
	if c.job == nil {
		return ""
	}
	return c.job.Dir
}

// Close lets go of the job of a crawl that is not to run: Run does so itself.
func (c *Crawl) Close() error {
	if !c.Engine.Forgo() || c.job == nil {
		return nil
	}
	return c.job.Close()
}

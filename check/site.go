package check

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// SiteOptions configure [Site] and [Files].
type SiteOptions struct {
	Options

	// Crawl has the options of the crawl. With seeds, Archive, External and Assets are those of a
	// check. Without Job, nothing is kept; a finished job is not crawled again, unless Update says so.
	Crawl      weft.Options
	NoExternal bool // do not request what lies beyond the scope

	// Run crawls in place of weft.New and Crawler.Run: to show progress, or to end the crawl early by
	// Drain. It may leave out the run of a job that is finished, and then has to let go of it; it may
	// be called twice: see ExternalFragments. nil: these two, drained by Options.Stop.
	Run func(context.Context, weft.Options) (weft.Summary, error)
}

// Site crawls a site and checks it: its pages in the scope, what they need, and each link beyond
// the scope once. A crawl that is drained, or stopped by a limit, is reported as far as it came:
// the report is about a part. Errors: those of Run, and then nothing is reported; those of Job.
func Site(ctx context.Context, o SiteOptions) (*Report, error) {
	o.Agent = cmp.Or(o.Agent, o.Crawl.HTTP.UserAgent)
	c := &o.Crawl
	subject := urls(c)
	c.Seeds = append(slices.Clip(c.Seeds), missing(c.Seeds)...)
	c.Posts = append(slices.Clip(c.Posts), missingPosts(c.Posts)...)
	s := siteCrawl{SiteOptions: &o, check: fetch.Check{All: true, HTTPS: o.Rules.Has(HTTPSAvailable)}}
	if err := s.run(ctx, !o.NoExternal); err != nil {
		return nil, s.failed(err)
	}
	if o.ExternalFragments && !s.ended.Interrupted && s.ended.Stopped == "" {
		if err := s.readExternal(ctx); err != nil {
			return nil, s.failed(err)
		}
	}
	r, err := Job(ctx, s.dir, o.Options)
	if err != nil {
		return nil, s.failed(err)
	}
	r.Subject = cmp.Or(strings.Join(subject, " "), s.dir)
	s.reported(r)
	return r, nil
}

// Files checks files of HTML and Markdown, and those in folders, hidden ones and node_modules left
// out. Links to files lead to the disk; a URL that begins with a slash, to the folder that was
// given. Each link to the Web is requested once, unless NoExternal; as whoever wrote the files may
// be anybody, it leads where links of pages may: see weft.HTTP.Distrust.
func Files(ctx context.Context, paths []string, o SiteOptions) (*Report, error) {
	o.Agent = cmp.Or(o.Agent, o.Crawl.HTTP.UserAgent)
	c := &o.Crawl
	c.Reach.Scope, c.HTTP.Distrust, c.Seeds, c.Posts = weft.ScopePage, true, nil, nil
	if !o.NoExternal {
		var err error
		if c.Seeds, err = offSite(ctx, paths, o.Options); err != nil {
			return nil, err
		}
	}
	if len(c.Seeds) == 0 || o.stopped() {
		return files(ctx, paths, "", o.Options)
	}
	s := siteCrawl{SiteOptions: &o, check: fetch.Check{HTTPS: o.Rules.Has(HTTPSAvailable)}}
	if err := s.run(ctx, false); err != nil {
		return nil, s.failed(err)
	}
	r, err := files(ctx, paths, s.dir, o.Options)
	if err != nil {
		return nil, s.failed(err)
	}
	s.reported(r)
	return r, nil
}

// siteCrawl is the crawl of a check.
type siteCrawl struct {
	*SiteOptions
	check fetch.Check  // the requests that a crawl does not make
	dir   string       // of the job
	temp  string       // the folder to remove in the end; empty: the job is kept
	ended weft.Summary // of the last run
}

// run crawls into a job.
func (s *siteCrawl) run(ctx context.Context, external bool) error {
	o := s.Crawl
	if len(o.Seeds)+len(o.Posts) > 0 || o.SeedSeq != nil { // otherwise the job has its own
		o.Keep.Archive, o.Reach.External, o.Reach.Assets = true, external, weft.AssetsScope
	}
	if o.SeedSeq != nil {
		o.SeedSeq = withMissing(o.SeedSeq)
	}
	if o.Job == "" {
		temp, err := os.MkdirTemp(s.Dir, "weft-check-*")
		if err != nil {
			return err
		}
		s.temp, o.Job = temp, filepath.Join(temp, "job")
	}
	s.dir = o.Job
	return s.crawl(ctx, o)
}

// readExternal requests the bodies of the external pages that links name a place on, as a retry of
// the job: see unread.
func (s *siteCrawl) readExternal(ctx context.Context) error {
	unread, err := unread(ctx, s.dir, s.Options)
	if err != nil || len(unread) == 0 || s.stopped() {
		return err
	}
	o := s.Crawl
	o.Seeds, o.Posts, o.SeedSeq = nil, nil, nil
	o.Job, o.Rerun.Fresh, o.Rerun.Update = s.dir, false, false
	o.Rerun.RetryFailed = func(r *weft.Record) bool { return unread[r.URL] }
	s.check.All, s.check.Body = false, ExternalBody
	return s.crawl(ctx, o)
}

// crawl runs a crawl. If Stop has ended it, the report on it is still made.
func (s *siteCrawl) crawl(ctx context.Context, o weft.Options) (err error) {
	o.Hooks.OnLink = ignoring(s.Ignore, o.Hooks.OnLink)
	*o.Unfollowed() = s.check
	run := s.Run
	if run == nil {
		run = s.alone
	}
	s.ended, err = run(ctx, o)
	if s.ended.Interrupted {
		s.Stop = nil
	}
	return err
}

// alone is SiteOptions.Run where there is none.
func (s *siteCrawl) alone(ctx context.Context, o weft.Options) (weft.Summary, error) {
	c, err := weft.New(o)
	if err != nil {
		return weft.Summary{}, err
	}
	if earlier := c.Earlier(); earlier.Finished && o.SeedSeq == nil && !o.Rerun.Amend {
		return earlier, c.Close()
	}
	if s.Stop != nil {
		defer context.AfterFunc(s.Stop, c.Drain)()
	}
	return c.Run(ctx)
}

// failed removes what is not kept.
func (s *siteCrawl) failed(err error) error {
	if s.temp != "" {
		err = cmp.Or(err, os.RemoveAll(s.temp))
	}
	return err
}

// reported notes what became of the crawl in its report, which keeps its job until it is closed.
func (s *siteCrawl) reported(r *Report) {
	r.Crawl = s.ended
	r.Interrupted = r.Interrupted || s.ended.Interrupted
	if s.temp != "" {
		r.close = append(r.close, func() error { return os.RemoveAll(s.temp) })
	}
}

// urls are the URLs that a crawl is given.
func urls(o *weft.Options) []string {
	all := slices.Clone(o.Seeds)
	for _, p := range o.Posts {
		if !slices.Contains(all, p.URL) {
			all = append(all, p.URL)
		}
	}
	return all
}

// ignoring drops links that an expression matches, before another hook judges them.
func ignoring(ignore []*regexp.Regexp, otherwise func(weburl.URL, links.Link) weft.Verdict) func(weburl.URL, links.Link) weft.Verdict {
	if len(ignore) == 0 {
		return otherwise
	}
	return func(from weburl.URL, l links.Link) (v weft.Verdict) {
		url, _, _ := strings.Cut(l.URL.String(), "#") // a page is one for all of its fragments
		switch {
		case slices.ContainsFunc(ignore, func(re *regexp.Regexp) bool { return re.MatchString(url) }):
			v = weft.Verdict{Decision: weft.Drop, Reason: "ignored"}
		case otherwise != nil:
			v = otherwise(from, l)
		}
		return v
	}
}

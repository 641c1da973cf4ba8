package check

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// Options select the links to check, the rules, and the form of findings. The zero value checks
// links.
type Options struct {
	Accept   []Range          // statuses that are ok; none: 200..299
	Ignore   []*regexp.Regexp // links whose URL matches one are not checked
	Rules    RuleSet          // zero: those of links
	Baseline *Baseline        // findings that are known; or nil
	Order    Order            // of the findings; "": ByProblem
	Dir      string           // for temporary files; "": the system's

	// ExternalFragments compares fragments with external pages, too, as far as the job has their
	// bodies. Site requests these once more, with GET, if links name a place on them.
	ExternalFragments bool

	// Canon has the canonical rules of a job that cannot say them, as its folder has no state: see
	// weft.Reach.Canon.
	Canon weburl.RuleSet
	Agent string // the User-Agent of the crawl, for what pages say to it; "": that of Crawl

	Depth     int   // Deep: pages further from a seed; 0: 5
	SlowMS    int   // Slow: pages that take longer, in milliseconds; 0: 3,000
	HugeBytes int64 // Huge: pages that are larger; 0: 2 MiB

	// Stop, when it is done, ends a check early and in good order: the crawl, which is drained, or
	// else the reading. The report is about what was checked until then. nil: never.
	Stop context.Context

	Hints Hints // said behind what they may help with

	part   string // the reason why the crawl is only a part of the site; "": it is whole
	bounds bounds
}

// Hints say in the words of whoever checks what may be done next, such as which option helps.
// Empty: nothing.
type Hints struct {
	Login    string // about a host of the seeds that asks for a login
	Private  string // about an address that is not public
	Sitemaps string // about rules that need sitemaps, where none was read
}

// about returns a hint about an outcome, to stand behind its message.
func (h *Hints) about(o *outcome) string {
	switch {
	case o.own && o.status == http.StatusUnauthorized:
		return behind(h.Login)
	case o.kind == "blocked-address":
		return behind(h.Private)
	}
	return ""
}

func behind(hint string) string {
	if hint == "" {
		return ""
	}
	return ": " + hint
}

// analysis collects the findings of a check.
type analysis struct {
	options Options
	ctx     context.Context
	report  *Report
	joins   *joins
	room    room // for findings
	reader  *Reader
	look    func(weburl.URL) (outcome, error)
	name    func(weburl.URL) string // of a target, in findings
	count   func(*Finding)          // notes a finding for its page
	named   func(end key)           // takes links that name a place, instead of findings; or nil
	err     error                   // the first
}

func newAnalysis(ctx context.Context, subject string, o Options) *analysis {
	o.Order = cmp.Or(o.Order, ByProblem)
	o.Depth, o.SlowMS, o.HugeBytes = cmp.Or(o.Depth, 5), cmp.Or(o.SlowMS, 3000), cmp.Or(o.HugeBytes, 2<<20)
	o.bounds = bounds{cmp.Or(o.bounds.links, 100_000), cmp.Or(o.bounds.disk, 256<<20)}
	return &analysis{
		options: o, ctx: ctx, reader: NewReader(cmp.Or(o.Agent, weft.DefaultUserAgent)), joins: newJoins(o.Dir, o.bounds.disk), room: roomOf(o.bounds.disk),
		count: func(*Finding) {}, name: weburl.URL.String,
		report: &Report{
			Subject: subject, Part: o.part, Order: o.Order, ctx: ctx, dir: o.Dir, findings: extsort.New(o.Dir), problems: newProblems(o.Dir, o.bounds.disk/2), baseline: o.Baseline,
			Totals: Totals{
				Rules: make(map[string]int), Statuses: make(map[string]int), Depths: make(map[int]int),
				Times: buckets(timeBounds), Sizes: buckets(sizeBounds),
			},
		},
	}
}

// fail keeps the first error.
func (a *analysis) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// interrupted is the reason of a part after Options.Stop.
const interrupted = "the check was interrupted"

// next returns errStopped if nothing more is to be read.
func (a *analysis) next() error {
	if a.err == nil && a.options.stopped() {
		return errStopped
	}
	return a.err
}

// stopped reports whether the check is to end early.
func (o *Options) stopped() bool { return o.Stop != nil && o.Stop.Err() != nil }

// ended takes in how a pass over pages ended.
func (a *analysis) ended(err error) {
	if err == errStopped {
		a.report.Part, err = interrupted, nil
	}
	a.fail(err)
}

// found adds a finding, if its rule is on and it is not known.
func (a *analysis) found(f Finding) {
	if !a.options.Rules.Has(f.Rule) {
		return
	}
	f.Level = ruleOf(f.Rule).Level
	f.clip()
	if a.options.Baseline.has(&f) {
		a.report.Totals.Known++
		return
	}
	a.count(&f)
	a.report.count(&f)
	a.fail(a.report.problems.add(&f))
	a.report.Totals.Ungrouped = a.report.problems.left
	line := a.report.line(&f)
	if !a.room.take(len(line)) {
		a.report.Totals.Unlisted++
		return
	}
	a.fail(a.report.findings.Add(line))
}

// open begins a document, until close.
func (a *analysis) open(name string) (close func()) {
	a.joins.full = false
	rooms := []*room{&a.room, &a.joins.room, &a.report.problems.room}
	for _, r := range rooms {
		r.open()
	}
	return func() {
		if a.joins.full {
			a.found(Finding{Rule: NotRead, Page: name, Message: "not all fragments and languages are compared: there are too many"})
		}
		for _, r := range rooms {
			r.close()
		}
	}
}

// bounds are those on what documents give rise to.
type bounds struct {
	links int // of one that are checked; 0: 100,000, beyond which a crawl follows none
	disk  int // of findings, comparisons and their results, each; half of problems; 0: 256 MiB
}

// requested counts a URL, by its last record and by what became of it.
func (a *analysis) requested(r *record.Record, o *outcome) {
	t := &a.report.Totals
	t.URLs++
	t.Documents.Count(r)
	t.Statuses[outcomeName(r)]++
	switch o.verdict {
	case OK:
		t.OK++
	case Broken:
		t.Broken++
	case Unknown:
		t.Unknown++
	}
}

// A document is a page or another file with links that is being read.
type document struct {
	name    string     // in findings: its URL, or the path of a file
	url     weburl.URL // of its own
	key     key
	links   int // that count
	visited func(to weburl.URL, l *links.Link, o *outcome)
	place   func(l *links.Link) (line, column int) // in the source that was rendered; or nil
}

// checked are the kinds of links that may be broken: hints are early work for a browser, and what
// looks like a URL in a script may be none.
func checked(l *links.Link) bool {
	switch l.Kind {
	case links.KindHint:
		return strings.Contains(l.Rel, "load")
	case links.KindText:
		return false
	}
	return true
}

// sent are the kinds of links that take what a page sends.
var sent = links.KindsOf(links.KindForm, links.KindPing)

// unsent changes the outcome of a target that takes what a page sends, and got nothing: that the
// server misses something, or wants another method, says that it knows the target. With post, it
// may know it by that method alone.
func unsent(o *outcome, post bool) {
	if o.verdict != Broken || o.rule != "" || o.status == 0 || o.kind != "" {
		return
	}
	switch o.status {
	case 400, 405, 411, 415, 422, 501:
		o.verdict = OK
	case 410:
	case 404:
		if post {
			o.verdict, o.message = Unknown, o.message+": it may know POST alone"
		}
	default:
		o.verdict, o.message = Unknown, o.message+": it was sent nothing"
	}
}

// link checks a link of a document.
func (a *analysis) link(d *document, l *links.Link) {
	a.fail(a.ctx.Err())
	d.links++
	a.report.Totals.Links++
	if d.links > a.options.bounds.links {
		a.report.Totals.Unchecked++
		if d.links == a.options.bounds.links+1 {
			a.found(Finding{Rule: NotRead, Page: d.name, Line: l.Line, Column: l.Column, Message: fmt.Sprintf("further links are not checked: there are more than %d", a.options.bounds.links)})
		}
		return
	}
	if !checked(l) {
		return
	}
	f := Finding{Page: d.name, Line: l.Line, Column: l.Column, Tag: l.Tag, Attr: l.Attr, Text: l.Text, URL: a.name(l.URL)}
	if d.place != nil {
		f.Line, f.Column = d.place(l)
	}
	if l.URL.IsZero() {
		f.URL = l.Raw
	}
	if a.ignores(f.URL) {
		return
	}
	a.kind(d, l)
	wrong, meant := mistyped(l.Raw, l.URL)
	switch scheme := l.URL.Scheme(); {
	case l.URL.IsZero(), wrong:
		f.Rule, f.Message, f.URL = InvalidURL, "no valid URL"+didYouMean(meant), strings.TrimSpace(l.Raw)
		a.found(f)
	case scheme == "mailto":
		if err := mailError(l.URL); err != nil {
			f.Rule, f.Message = InvalidMail, err.Error()
			a.found(f)
		}
	case scheme == "http" || scheme == "https" || scheme == "file" && d.url.Scheme() == "file":
		a.target(d, l, f, meant)
	}
}

// kind counts where a link of a file leads.
func (a *analysis) kind(d *document, l *links.Link) {
	t := &a.report.Totals.Files
	switch {
	case d.url.Scheme() != "file":
	case l.URL.Scheme() == "file":
		t.ToFiles++
	case l.URL.IsHTTP():
		t.ToWeb++
	}
}

func (a *analysis) ignores(url string) bool {
	for _, re := range a.options.Ignore {
		if re.MatchString(url) {
			return true
		}
	}
	return false
}

// loaded are the kinds of links that a browser loads as a part of the page.
var loaded = links.KindsOf(links.KindFrame, links.KindImage, links.KindStyle, links.KindScript, links.KindFont, links.KindMedia, links.KindEmbed,
	links.KindLazy)

// places are the kinds of links whose fragment names a place on a page.
var places = links.KindsOf(links.KindPage, links.KindCite)

// target checks where a link leads. f says where it stands. If that is broken, another URL may have
// been meant.
func (a *analysis) target(d *document, l *links.Link, f Finding, meant string) {
	o, err := a.look(l.URL)
	if err != nil {
		a.fail(err)
		return
	}
	if sent.Has(l.Kind) {
		if unsent(&o, l.Kind == links.KindPing || a.reader.post); l.URL.Scheme() == "file" {
			o = outcome{verdict: Unchecked} // no file takes it
		}
	}
	if d.visited != nil {
		d.visited(l.URL, l, &o)
	}
	mixed := d.url.Scheme() == "https" && l.URL.Scheme() == "http" && loaded.Has(l.Kind)
	if mixed {
		m := f
		m.Rule, m.Message = MixedContent, "loaded by http into an https page"
		a.found(m)
	}
	f.Status, f.ErrorKind, f.Error, f.Redirects = o.status, o.kind, o.err, o.chain
	if o.verdict == Broken {
		o.message += didYouMean(meant)
	}
	a.verdict(&o, f)
	if o.verdict != OK {
		return
	}
	if l.URL.Scheme() == "http" && len(o.chain) == 0 && !mixed {
		a.secure(l.URL, f)
	}
	fragment := l.URL.Fragment()
	if o.hasFragment {
		fragment = o.fragment
	}
	if name, ok := fragmentOf(fragment); ok && (places.Has(l.Kind) || l.Tag == "use") && a.options.Rules.Has(MissingFragment) {
		if a.named != nil {
			a.named(o.end)
			return
		}
		f.Rule, f.Message = MissingFragment, "no element has this id or name: "+name
		a.fail(a.joins.mention(joinAnchor, o.end, Anchor(name), &f))
	}
}

// verdict adds what the outcome of a link's target gives rise to.
func (a *analysis) verdict(o *outcome, f Finding) {
	switch {
	case o.verdict == Broken:
		f.Rule, f.Message = cmp.Or(o.rule, BrokenLink), o.message
		a.found(f)
		return
	case o.verdict == Unknown:
		f.Rule, f.Message = UnknownLink, o.message+a.options.Hints.about(o)
		if o.own && a.options.Rules.Has(OwnUnknown) {
			f.Rule = OwnUnknown
		}
		a.found(f)
		return
	case o.verdict == Unchecked && len(o.chain) == 0:
		a.report.Totals.Unchecked++
		return
	}
	if n := len(o.chain); n > 0 {
		to := o.chain[n-1].To
		switch {
		case o.permanent:
			f.Rule, f.Message = PermanentRedirect, inWords(o.chain[0].Status)+" to "+to
			a.found(f)
		case n > 1:
			f.Rule, f.Message = RedirectChain, "redirects one after another, to "+to
			a.found(f)
		}
	}
}

// secure finds out whether https answers where a link has http.
func (a *analysis) secure(u weburl.URL, f Finding) {
	if !a.options.Rules.Has(HTTPSAvailable) || u.Port() != "" {
		return
	}
	secure, err := weburl.Parse("https" + strings.TrimPrefix(u.String(), "http"))
	if err != nil {
		return
	}
	o, err := a.look(secure)
	answers := o.verdict == OK && len(o.chain) == 0
	if err == nil && o.verdict == Unchecked { // then its host counts
		if secure, err = weburl.Parse("https://" + u.Host() + "/"); err == nil {
			o, err = a.look(secure)
		}
		answers = responds(&o)
	}
	if err == nil && answers {
		f.Rule, f.Message = HTTPSAvailable, "https answers, too"
		a.found(f)
	}
}

// responds reports whether a server responds by https, perhaps that it has no page there: it has a
// valid certificate, is not overloaded, and does not lead back to http.
func responds(o *outcome) bool {
	for _, hop := range o.chain {
		if !strings.HasPrefix(hop.To, "https:") {
			return false
		}
	}
	return o.status >= 200 && o.status < 500
}

// end finishes the report.
func (a *analysis) end() (*Report, error) {
	a.room = roomOf(a.options.bounds.disk) // enough, as joins have as much
	a.fail(a.joins.each(a.ctx, a.found))
	if err := a.joins.close(); a.err == nil {
		a.err = err
	}
	if a.err != nil {
		a.report.Close()
		return nil, a.err
	}
	a.report.Interrupted = a.options.stopped()
	return a.report, nil
}

// scripts reports a page that looks empty without scripts, if there is a reason to say so.
func (a *analysis) scripts(name string, reason appshell.Reason) {
	if reason == "" {
		return
	}
	a.report.Totals.NeedScripts++
	a.found(Finding{Rule: NeedsScripts, Page: name, Message: "the page looks empty without scripts (" + shells[reason] + "), which only --render runs: links that they make are not checked"})
}

// shells are the reasons to take a page for an app shell, in words.
var shells = map[appshell.Reason]string{
	appshell.Mount: "an empty mount", appshell.NoScript: "it asks for JavaScript", appshell.Template: "a template that is not filled",
	appshell.Hollow: "an empty place for its content", appshell.NoText: "it has no text",
}

// anchors reads which names a page has, whose links do not count.
func (a *analysis) anchors(from *results.Bodies, n *target, u weburl.URL, r *record.Record) error {
	body, whole, err := from.Received(r)
	if err != nil || !whole {
		return nil // nobody knows which it lacks
	}
	text, encoding := charset.UTF8(r.Type(), body)
	facts := a.reader.Read(links.Document{Base: u, ContentType: r.Type(), Body: text, Charset: encoding}, nil, func(links.Link) bool { return true })
	if facts.Cut {
		return nil
	}
	return a.joins.has(joinAnchor, n.key, facts.Anchors)
}

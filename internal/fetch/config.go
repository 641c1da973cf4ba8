package fetch

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/appshell/lessons"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// Config configures all fetch loops of a crawl. It does not change once the loops run.
type Config struct {
	HTTP         httpclient.Options // but for Resolver, which each loop makes
	DNS          []netip.AddrPort   // name servers; empty: the system's
	NameBytes    int                // memory for names of each loop; 0: the default of package dns
	RecentBytes  int                // memory for recent URLs of each loop; 0: any
	Scope        scope.Rules
	Canon        weburl.RuleSet
	AllowPrivate bool // links may lead to private addresses
	Distrust     bool // seeds are no better than links
	Retries      int
	NoRobots     bool
	Sitemaps     bool
	Check        Check // links that are not followed

	Visit     int  // of the job: see record.Record
	Job       bool // there is one, which a later visit compares with
	KeepLinks bool
	Headers   []string       // names of the header fields that records have, in lower case
	Extract   Extractor      // of items; nil: none
	Render    *Rendering     // of pages; nil: none is rendered
	Session   *login.Session // nil: the crawl is not logged in

	// KeepBody is called from any goroutine; nil: bodies are not kept.
	KeepBody func(hash string, body []byte) (folder string, err error)

	Archive    *capture.Archive // nil: there is none
	Duplicates bool             // pages with the same body are recognized
	Near       bool             // pages with nearly the same text are, too
	Prune      bool             // links of duplicates are not followed

	Hooks Hooks
}

// Check selects the links to check that a crawl does not follow.
type Check struct {
	Beyond bool // those that lead beyond the bounds
	All    bool // those to what no crawl follows, such as where a form is sent
	HTTPS  bool // with Beyond, https is asked of each host that a link leads to by http
	Body   int  // bytes that are received of a target, by GET; 0: HEAD comes first
}

// Shared is the state that the loops of a crawl share.
type Shared struct {
	Bodies     *budget.Meter     // bodies in memory
	Rendered   *budget.Meter     // pages that are being rendered; nil: none is
	Outcomes   *budget.Meter     // big outcomes that are not saved yet
	Bounds     *scope.Bounds     // the coordinator's
	Duplicates *duplicates.Index // first pages of each content; nil: none are remembered
	Posts      seed.Posts        // bodies of seeds
	Files      dns.Files         // that say what names stand for
	Heard      Heard             // of servers
}

// Report is a loop's way to the coordinator: it posts calls of these to its loop.
type Report struct {
	Outcomes func(loop int, ended []*Outcome) // of one turn of the loop
	Network  func(guard.Network)              // links may lead to it from now on

	// Links are those of an outcome that is to come. Once they are admitted, the coordinator calls
	// admitted with how many were new, and how many there are too many of.
	Links func(links []frontier.URL, admitted func(added, tooMany int))

	// Responded says that a page has been received that is being rendered: its lease takes no worker
	// any more.
	Responded func(loop int, l Lease, a frontier.Result)
	// Errand has an errand leased: its Errand.For is an *Errand. Dropped says that one is not needed
	// any more.
	Errand  func(frontier.URL)
	Dropped func(frontier.URL)
}

// Hooks are those of weft.Hooks that a fetch loop calls.
type Hooks struct {
	OnRequest func(*Request) error
	OnLink    func(from weburl.URL, link links.Link) Verdict
	OnPage    func(context.Context, *Page) error
	OnItem    func(context.Context, *record.Item) error
}

// Request is a request that Hooks.OnRequest may change or refuse.
type Request struct {
	URL   weburl.URL // of a POST, with the fragment by which the crawl knows it
	From  string     // page that linked here; empty for a seed
	Depth int
	Tries int // earlier ones
	// Header holds fields to send besides, or instead of, those of Options, which an empty value
	// removes. The hook may change them.
	Header httpclient.Header
}

// Decision is the answer of a hook about a link.
type Decision int

// Decisions.
const (
	ByScope Decision = iota // as the options say
	// Follow goes on whatever scope, expressions, depth, nofollow and the limits on traps say, but for
	// MaxVariants and blocked ports.
	Follow
	Drop // not for this mention
)

// Verdict is the decision of Hooks.OnLink about a link.
type Verdict struct {
	Decision Decision
	Priority int    // of the URL within its host, higher first; −128 to 127
	Reason   string // of Drop: counted in Summary.NotFollowed
}

// Page is a response and its record. It is valid until OnPage returns.
type Page struct {
	Record *record.Record
	Header httpclient.Header
	Body   []byte       // decoded from its Content-Encoding, in the page's charset
	Links  []links.Link // all links, followed or not
	Text   []byte       // Body in UTF-8
	Data   string       // of its URL
	Items  []record.Item
	Addr   netip.AddrPort

	url      weburl.URL
	base     weburl.URL // of <base>; zero: url
	redirect bool       // kept, and not shown to OnPage
	checked  bool       // shown, and not kept
	added    []addition
	items    bool   // there may be some: see Extractor
	why      string // it is to be rendered; empty: it is not
	shape    lessons.Shape
	rendered []byte // the rendered document; nil: there is none
	pictures pictures
}

// addition is a URL that OnPage has added.
type addition struct {
	link links.Link
	data string
}

// MaxData bounds the data of a URL, in bytes: it stands in the queues of a crawl.
const MaxData = 4 << 10

// resolve resolves a reference as the page's own links are, so that an attribute of it can be
// passed on.
func (p *Page) resolve(ref string) (weburl.URL, error) {
	if !p.base.IsZero() {
		return p.base.Resolve(ref)
	}
	return p.url.Resolve(ref)
}

// Add is weft.Page.AddWith.
func (p *Page) Add(ref, data string) error {
	to, err := p.resolve(ref)
	switch {
	case err != nil:
		return err
	case !to.IsHTTP():
		return fmt.Errorf("%.128q: scheme %.20q, expected http or https", ref, to.Scheme())
	case len(data) > MaxData:
		return fmt.Errorf("%.128q: data of %d bytes, expected at most %d", ref, len(data), MaxData)
	case len(p.added) == maxLinks:
		return fmt.Errorf("%.128q: more than %d URLs added by one page", ref, maxLinks)
	}
	p.added = append(p.added, addition{links.Link{Raw: ref, URL: to, Tag: "hook", Attr: "add", Kind: links.KindPage}, data})
	return nil
}

// Post is weft.Page.Post.
func (p *Page) Post(post seed.Post) error {
	to, err := p.resolve(post.URL)
	if err != nil {
		return err
	}
	ref := post.URL
	post.URL = to.String()
	as, err := post.Read()
	data := post.ContentType() + "\x00" + string(post.Body)
	switch {
	case err != nil:
		return err
	case len(data) > MaxData:
		return fmt.Errorf("%.128q: type and body of %d bytes, expected at most %d", ref, len(data)-1, MaxData-1)
	case len(p.added) == maxLinks:
		return fmt.Errorf("%.128q: more than %d URLs added by one page", ref, maxLinks)
	}
	p.added = append(p.added, addition{links.Link{Raw: ref, URL: as.URL, Tag: "hook", Attr: "post", Kind: links.KindPage}, data})
	return nil
}

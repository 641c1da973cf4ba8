package weft

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/netip"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/option"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/sys/unix"
)

// Options configure a crawl, most of them in groups. The zero value of each option is its default.
// The name of an option is that of its field, without its group.
// FrozenOptions lists those that a job keeps for good; the others may differ from run to run.
type Options struct {
	// Seeds are http and https URLs; without a scheme, see ReadSeed. User and password are for their
	// origins: see HTTP.Auth.
	Seeds   []string
	Posts   []Post                   // POST requests to start from, each sent once: see Post
	SeedSeq iter.Seq2[string, error] // more of Seeds, read during the crawl; an error ends it

	Reach  Reach // the URLs that it goes to
	Traps  Traps
	Limits Limits // when it stops
	Pace   Pace
	HTTP   HTTP   // one fetch
	Render Render // pages that need scripts

	Job   string // folder of records and state; a job in it resumes. Empty: nothing is kept
	Rerun Rerun  // of the job that is in the folder
	Keep  Keep   // besides records

	Output io.Writer // a further stream of the records
	Format Format    // of Output; empty: FormatJSONL
	Fields []string  // the columns of FormatCSV, in order, by their names in JSON; empty: all

	// Memory is the crawl's budget in bytes, whatever its size; 0: 512 MiB. Bodies in flight,
	// queued URLs, tables and the store have shares of it, and no worker starts a
	// fetch while bodies exceed theirs. The rest is for the garbage collector: a program that only
	// crawls should call debug.SetMemoryLimit with the same number, as the command does. Without
	// Job queued URLs cannot spill to disk: beyond the budget the crawl warns, and continues. A
	// hook's own memory is not counted.
	Memory int

	Hooks Hooks

	Loops int         // fetch loops of Run; 0: one per core
	Loop  aio.Options // of every loop that Run makes

	unfollowed fetch.Check // see Unfollowed
}

// Reach is the set of URLs that a crawl may follow: Options.Reach.
type Reach struct {
	Scope   Scope            // of the links that are followed; empty: ScopeHost
	Depth   int              // links from a seed; 0: any number, negative: none, as with ScopePage
	Include []*regexp.Regexp // if any, follow only links that one of them matches
	Exclude []*regexp.Regexp // do not follow links that one of them matches
	Canon   weburl.RuleSet   // rules beyond the standard, by which URLs are one page; zero: none

	// Sitemaps requests the sitemaps of each host in the scope, named in its robots.txt or else
	// /sitemap.xml, and follows their entries like links. Sitemaps of a host, and their entries,
	// are one link further from a seed than the first URL of the host. With NoRobots only hosts of
	// seeds are asked, for /sitemap.xml.
	Sitemaps bool

	// Assets fetches what pages need to be shown, too: images, scripts, fonts, media and so on; of
	// none of it but style sheets are links followed. Empty: style sheets in the scope only. An
	// archive is to be shown with AssetsAny.
	Assets Assets

	// External requests, once each, what links of pages lead to beyond the scope, the depth and
	// Include, and what a nofollow bars from being followed: with HEAD, or with GET if the response
	// to that is an error. Nothing there is followed but redirects. See Record.Role.
	External bool

	NoRobots     bool // do not obey robots.txt, nor request it unless a server hangs
	MaxRedirects int  // followed from one link; 0: 10, negative: none
	// PruneDuplicates does not follow links of a page that Keep.Duplicates recognizes, if the other
	// page is on its registrable domain.
	PruneDuplicates bool
}

// Traps are limits on links, as some pages make links without end: Options.Traps. Links beyond them
// are not followed, unless they are seeds, or OnLink follows them (not beyond MaxVariants).
// Negative: any number.
type Traps struct {
	MaxURLLength int // bytes; at most 16 KiB, which negative stands for; 0: 2,048
	MaxPathDepth int // segments of a path; 0: 20
	MaxRepeats   int // of one segment at equal distances: /x/1/x/2/x has x 3 times; 0: 3
	MaxVariants  int // URLs that differ only after the first ; or ?, over all runs of a job; 0: 10,000
	// MaxAlike is the number of pages like one another in a row that say nothing new and lead to ever
	// more, after which others like them are refused, as nothing-new; 0: 500.
	MaxAlike int
}

// Limits end a crawl before it runs out of URLs: Options.Limits. Fetches in flight finish.
type Limits struct {
	Limit        int           // URLs fetched; 0: any number
	LimitPerHost int           // URLs fetched from one host, sitemaps included; 0: any number
	MaxTime      time.Duration // stop starting fetches after it; 0: no limit
}

// Pace is the rate of a crawl's requests: Options.Pace. By default a crawl requests a host's
// robots.txt first, then two URLs at once, and more while the response time holds; from an address
// of this machine as fast as it can. The limits of a host hold for all hosts of one registrable
// domain together, and for all on one address.
type Pace struct {
	// Concurrency is the most requests in flight. 0: 64, and up to 15 times as many that have
	// waited for more than a second: those take no work, and hosts that stall would hold up the
	// others.
	Concurrency  int
	PerHost      int           // of these, to one host; 0: as above
	PerDomain    int           // of these, to the hosts of one registrable domain; 0: as above
	PerAddress   int           // of these, to the hosts of one address, without a proxy; 0: as above
	Delay        time.Duration // from a response to the host's next request; 0: as robots.txt asks
	DomainDelay  time.Duration // the same, to any host of its domain; 0: Delay, negative: none
	AddressDelay time.Duration // the same, to any host on its address
	RateLimit    float64       // requests per second, to all hosts; 0: any number
	Retries      int           // after the first try, for errors that may pass; 0: 2, negative: none

	// GiveUp is the time that URLs wait for a server that has responded before and cannot be reached
	// any more, that answers nothing but 429 and 503, or whose robots.txt asks for more than 10
	// minutes between requests. Then its URLs fail, and the summary lists it. A server that never
	// responded is given up after 8 tries. 0: 2 hours; negative: any time.
	GiveUp time.Duration
}

// HTTP is the form of requests, their network and the bounds of one fetch: Options.HTTP.
type HTTP struct {
	// UserAgent is DefaultUserAgent if empty. Its product token selects the rules of robots.txt.
	UserAgent string
	Header    httpclient.Header // further fields of every request
	// Cookies are shared by all loops, so safe for concurrent use. Nil: none are sent or kept, and no
	// gate or login is passed.
	Cookies http.CookieJar
	// Session logs in: by its cookies, in place of Cookies, and by the storage that pages which are
	// rendered find. A crawl with it follows no link that logs out, and pauses when it is logged out.
	// Its job remembers that it was logged in, and nothing of the session. Of one machine only.
	Session *Session
	Auth    []httpclient.Credential // for one origin each; those of Seeds follow
	// Proxy is called by all loops; nil: none. See httpclient.Options.
	Proxy    func(scheme, host string) *httpclient.Proxy
	Insecure bool           // do not verify certificates
	RootCAs  *x509.CertPool // nil: the system's

	// HTTP1 speaks HTTP/1.1 alone, HTTP2 HTTP/2 alone. By default servers choose over TLS, and others
	// get HTTP/1.1.
	HTTP1, HTTP2 bool
	Resolve      []httpclient.Override // addresses of hosts, before any name service is asked
	DNS          []netip.AddrPort      // name servers, in this order; empty: the system's
	AllowPrivate bool                  // links may lead to private addresses: see package guard
	// Distrust says that others wrote Seeds and SeedSeq: they lead where links may, and get no
	// Authorization or Cookie of Header.
	Distrust bool

	Timeout          time.Duration // all of it, but for waiting for memory; 0: 30 s
	DialTimeout      time.Duration // resolving the name and connecting; 0: 10 s
	TLSTimeout       time.Duration // the TLS handshake; 0: 10 s
	FirstByteTimeout time.Duration // until the response begins; 0: see httpclient.Options
	IdleTimeout      time.Duration // between two pieces of a response; 0: see httpclient.Options
	MinRate          int           // bytes per second; 0: any
	MaxBody          int           // bytes of a body, as sent and as decoded; 0: 16 MiB
}

// Rerun is a further run of a job: Options.Rerun. The zero value resumes it.
type Rerun struct {
	Fresh  bool // remove a job that is in the folder first
	Update bool // recrawl a finished job's URLs; resume an unfinished one. See record.Change
	Amend  bool // Seeds, SeedSeq and Reach.Exclude may add to those of the job

	// UpdateOnly and OlderThan narrow Update to URLs whose last records UpdateOnly selects, and which
	// were asked last before so much time; nil and 0: any. Others stay as they are, and so, without
	// UpdateOnly, do URLs that are gone for long at most visits: see the page about jobs. UpdateOnly
	// is called for every record of the job, so that a URL's last call counts.
	UpdateOnly func(*Record) bool
	OlderThan  time.Duration

	// RetryFailed asks again for what an earlier run has finished: the URLs of the job whose last
	// record it selects, such as MayPass. They have a further record then, in the same visit. It is
	// called for every record of the job, so that a URL's last call counts, unless a retry was
	// interrupted, whose URLs wait already: that resumes. nil: no URL.
	RetryFailed func(*Record) bool
}

// Keep are the things that a job keeps of pages besides their records: Options.Keep.
type Keep struct {
	MinFree   int  // bytes; start no fetch while less is free on the disk of Job. 0: any
	KeepLinks bool // every link of every page, in Job/links.jsonl
	// HeaderFields are names of header fields of responses that records have as Record.Headers; at
	// most 32, and of each at most 16 values, of a KiB.
	HeaderFields []string
	KeepBodies   bool       // decoded bodies by their hash, in Job/bodies, unless Archive keeps them
	Duplicates   Duplicates // the pages recognized as duplicates; empty: DuplicatesSame

	// Extract and Structured find fields on pages, by rules and in structured data: see package
	// extract. The items are in Job/items.jsonl, and go to Hooks.OnItem.
	Extract    []extract.Rule
	Structured bool

	Archive bool // requests and responses, in Job/archive: see package warc
	// ArchiveSize is the length of a file of the archive, in bytes; 0: 1 GB. A response is never
	// split.
	ArchiveSize   int
	ArchiveDigest warc.Algorithm // of its records; empty: warc.SHA256
	// ArchiveMetadata adds metadata records: of URLs without a response, how they failed, and of
	// names, their addresses.
	ArchiveMetadata bool
}

// Unfollowed returns what a crawl on these options requests and does not follow, to be set; of its
// fields, External decides about Beyond. Only packages of this module have a use for it: check.Site
// asks more of a crawl than others do.
func (o *Options) Unfollowed() *fetch.Check { return &o.unfollowed }

// Version of Weft.
const Version = "0.1.0-dev"

// DefaultUserAgent names the crawler to the sites it visits.
const DefaultUserAgent = "weft/" + Version + " (+https://github.com/weftcrawl/weft)"

// config is Options that are checked, with their defaults filled in: see Options.Config.
type config struct {
	Options
	asked Options // as they were given

	shares  budget.Shares // of Memory
	workers int           // requests in flight, including requests that only wait
	seeds   []engine.Seed
}

// check checks o and fills in its defaults. Its error is an *OptionError.
func (o Options) check() (*config, error) {
	c := &config{Options: o, asked: o}
	for _, check := range []func() error{c.checkSeeds, c.checkNames, c.checkNumbers, c.checkTimes, c.fitsMemory, c.checkRequest, c.checkJob, c.checkExtract, c.checkHooks} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	c.fillIn()
	return c, nil
}

func (c *config) checkSeeds() error {
	if len(c.Seeds) == 0 && len(c.Posts) == 0 && c.SeedSeq == nil && c.Job == "" {
		// A resumed job has its own.
		return &OptionError{Option: "Seeds", Err: job.ErrNoSeed}
	}
	for _, s := range c.Seeds {
		from, err := ReadSeed(s)
		if err != nil {
			return &OptionError{Option: "Seeds", Err: err}
		}
		c.addSeed(from, nil)
	}
	for i := range c.Posts {
		from, err := c.Posts[i].Read()
		if err != nil {
			return &OptionError{Option: "Posts", Err: err}
		}
		c.addSeed(from, &c.Posts[i])
	}
	if _, err := seed.PostsOf(c.Posts); err != nil {
		return &OptionError{Option: "Posts", Err: err}
	}
	return nil
}

func (c *config) addSeed(s Seed, sent *Post) {
	c.seeds = append(c.seeds, engine.Seed{URL: s.URL, Written: s.Written, Guessed: s.Guessed, Post: sent})
	if s.Credential != nil {
		c.HTTP.Auth = append(slices.Clip(c.HTTP.Auth), *s.Credential)
	}
}

func (c *config) checkNames() (err error) {
	if c.Reach.Scope, err = ParseScope(string(c.Reach.Scope)); err != nil {
		return &OptionError{Option: "Scope", Err: err}
	}
	if c.Reach.Assets, err = option.ParseAssets(string(c.Reach.Assets)); err != nil {
		return &OptionError{Option: "Assets", Err: err}
	}
	for option, all := range map[string][]*regexp.Regexp{"Include": c.Reach.Include, "Exclude": c.Reach.Exclude} {
		for _, re := range all { // a plan has their text, as those of RE2
			if _, err := regexp.Compile(re.String()); err != nil {
				return &OptionError{Option: option, Value: re.String(), Err: err}
			}
		}
	}
	if c.Format, err = ParseFormat(string(c.Format)); err != nil {
		return &OptionError{Option: "Format", Err: err}
	}
	if err := record.CheckFields(c.Fields); err != nil {
		return &OptionError{Option: "Fields", Err: err}
	}
	if c.Keep.Duplicates, err = ParseDuplicates(string(c.Keep.Duplicates)); err != nil {
		return &OptionError{Option: "Duplicates", Err: err}
	}
	return nil
}

func (c *config) checkNumbers() error {
	most := maxConcurrency()
	for _, n := range []struct {
		option  string
		value   *int
		ifUnset int
	}{
		{"Concurrency", &c.Pace.Concurrency, min(64, most)},
		{"Loops", &c.Loops, runtime.GOMAXPROCS(0)},
		{"MaxBody", &c.HTTP.MaxBody, 16 << 20},
		{"Memory", &c.Memory, DefaultMemory},
		{"ArchiveSize", &c.Keep.ArchiveSize, defaultArchiveSize},
		{"Limit", &c.Limits.Limit, 0},
		{"LimitPerHost", &c.Limits.LimitPerHost, 0},
		{"PerHost", &c.Pace.PerHost, 0},
		{"PerDomain", &c.Pace.PerDomain, 0},
		{"PerAddress", &c.Pace.PerAddress, 0},
		{"MinRate", &c.HTTP.MinRate, 0},
		{"MinFree", &c.Keep.MinFree, 0},
	} {
		if *n.value < 0 {
			return invalid(n.option, strconv.Itoa(*n.value), errNegative)
		}
		*n.value = cmp.Or(*n.value, n.ifUnset)
	}
	if c.Pace.Concurrency > most {
		return invalid("Concurrency", strconv.Itoa(c.Pace.Concurrency),
			fmt.Errorf("expected at most %d, as each request takes a descriptor of this process (ulimit -n)", most))
	}
	if c.Pace.RateLimit < 0 || math.IsNaN(c.Pace.RateLimit) {
		return invalid("RateLimit", fmt.Sprint(c.Pace.RateLimit), errNegative)
	}
	if c.Traps.MaxURLLength > scope.MaxURL {
		return invalid("MaxURLLength", strconv.Itoa(c.Traps.MaxURLLength), fmt.Errorf("expected at most %d", scope.MaxURL))
	}
	return nil
}

func (c *config) checkTimes() error {
	for _, d := range []struct {
		option string
		value  time.Duration
	}{
		{"Delay", c.Pace.Delay},
		{"MaxTime", c.Limits.MaxTime},
		{"Timeout", c.HTTP.Timeout},
		{"DialTimeout", c.HTTP.DialTimeout},
		{"TLSTimeout", c.HTTP.TLSTimeout},
		{"FirstByteTimeout", c.HTTP.FirstByteTimeout},
		{"IdleTimeout", c.HTTP.IdleTimeout},
		{"OlderThan", c.Rerun.OlderThan},
	} {
		if d.value < 0 {
			return invalid(d.option, d.value.String(), errNegative)
		}
	}
	return nil
}

// fitsMemory checks that the crawl can keep within c.Memory.
func (c *config) fitsMemory() error {
	size := func(n int) string { return humanize.IBytes(uint64(n)) }
	switch {
	case c.Memory < budget.Least:
		return invalid("Memory", size(c.Memory), fmt.Errorf("expected at least %d MB, which one large page and the tables of a crawl take", budget.Least/1_000_000))
	case c.Memory/4 < c.Pace.Concurrency*budget.PerRequest:
		return invalid("Concurrency", fmt.Sprint(c.Pace.Concurrency), fmt.Errorf("expected at most %d within %s of memory, as each request takes %s plus its body, and all of them may take a quarter",
			c.Memory/4/budget.PerRequest, size(c.Memory), size(budget.PerRequest)))
	case c.Memory/budget.PageCost < c.HTTP.MaxBody:
		return invalid("MaxBody", size(c.HTTP.MaxBody), fmt.Errorf("expected at most %s within %s of memory, as a page is there as sent, as decoded and in UTF-8",
			size(c.Memory/budget.PageCost), size(c.Memory)))
	}
	return nil
}

func (c *config) checkRequest() error {
	if c.HTTP.HTTP1 && c.HTTP.HTTP2 {
		return invalid("HTTP2", "true", errors.New("expected without HTTP1"))
	}
	c.HTTP.UserAgent = cmp.Or(c.HTTP.UserAgent, DefaultUserAgent)
	if err := (httpclient.Header{{Name: "User-Agent", Value: c.HTTP.UserAgent}}).Check(); err != nil {
		return &OptionError{Option: "UserAgent", Err: err}
	}
	if err := c.HTTP.Header.Check(); err != nil {
		return &OptionError{Option: "Header", Err: err}
	}
	if c.HTTP.Session != nil {
		if c.HTTP.Cookies != nil {
			return &OptionError{Option: "Session", Err: errors.New("expected without Cookies: it has its own")}
		}
		c.HTTP.Cookies = c.HTTP.Session.inner()
	}
	var err error
	if c.Keep.HeaderFields, err = record.HeaderNames(c.Keep.HeaderFields); err != nil {
		return &OptionError{Option: "HeaderFields", Err: err}
	}
	for _, server := range c.HTTP.DNS {
		if !server.IsValid() || server.Port() == 0 {
			return invalid("DNS", server.String(), errors.New("expected an address and a port"))
		}
	}
	for _, credential := range c.asked.HTTP.Auth {
		if err := credential.Check(); err != nil {
			return &OptionError{Option: "Auth", Err: err}
		}
	}
	return nil
}

func (c *config) checkJob() error {
	switch {
	case c.Rerun.Update && c.Job == "":
		return &OptionError{Option: "Update", Err: errNoJob}
	case !c.Rerun.Update && c.Rerun.UpdateOnly != nil:
		return &OptionError{Option: "UpdateOnly", Err: errNoUpdate}
	case !c.Rerun.Update && c.Rerun.OlderThan > 0:
		return &OptionError{Option: "OlderThan", Err: errNoUpdate}
	case c.Rerun.Update && c.Rerun.Fresh:
		return &OptionError{Option: "Update", Err: errFresh}
	case c.Rerun.RetryFailed != nil && c.Job == "":
		return &OptionError{Option: "RetryFailed", Err: errNoRetry}
	case c.Rerun.RetryFailed != nil && (c.Rerun.Fresh || c.Rerun.Update):
		return &OptionError{Option: "RetryFailed", Err: errNotRetry}
	case !slices.Contains([]warc.Algorithm{"", warc.SHA256, warc.SHA1}, c.Keep.ArchiveDigest):
		return invalid("ArchiveDigest", string(c.Keep.ArchiveDigest), errors.New("expected sha256 or sha1"))
	case c.Reach.PruneDuplicates && c.Keep.Duplicates == DuplicatesOff:
		return &OptionError{Option: "PruneDuplicates", Err: errors.New("expected duplicates to be recognised: same or near")}
	case c.Render.check() != nil:
		return c.Render.check()
	case !slices.Contains([]Rendering{"", RenderNever, RenderAuto, RenderAlways}, c.Render.Rendering):
		return invalid("Rendering", string(c.Render.Rendering), errors.New("expected never, auto or always"))
	case c.Job == "" && (c.Keep.KeepLinks || c.Keep.KeepBodies || c.Keep.Archive || c.Render.takesPictures()):
		return &OptionError{Option: "Job", Err: errors.New("none, expected a folder for the links, bodies or pictures to keep")}
	}
	return nil
}

func (c *config) checkHooks() error {
	if err := c.Hooks.check(); err != nil {
		return &OptionError{Option: "Hooks", Err: err}
	}
	return nil
}

func (c *config) checkExtract() error {
	if _, err := extract.New(c.Keep.Extract, c.Keep.Structured); err != nil {
		return &OptionError{Option: "Extract", Err: err}
	}
	return nil
}

// fillIn fills in the defaults that depend on other options.
func (c *config) fillIn() {
	if c.workers = c.Pace.Concurrency; c.asked.Pace.Concurrency == 0 {
		c.workers = max(c.workers, min(16*c.workers, maxConcurrency()/2, c.Memory/4/budget.PerRequest))
	}
	c.Loops = min(c.Loops, c.Pace.Concurrency)
	c.shares = budget.Split(c.Memory, c.Loops)
	c.Pace.Retries = orDefault(c.Pace.Retries, 2)
	c.Pace.GiveUp = orDefault(c.Pace.GiveUp, defaultGiveUp)
	c.Reach.MaxRedirects = orDefault(c.Reach.MaxRedirects, 10)
	c.Traps.MaxURLLength = cmp.Or(orDefault(c.Traps.MaxURLLength, scope.DefaultURLLength), scope.MaxURL)
	c.Traps.MaxPathDepth = orDefault(c.Traps.MaxPathDepth, scope.DefaultPathDepth)
	c.Traps.MaxRepeats = orDefault(c.Traps.MaxRepeats, scope.DefaultRepeats)
	c.Traps.MaxVariants = orDefault(c.Traps.MaxVariants, scope.DefaultVariants)
	c.Traps.MaxAlike = orDefault(c.Traps.MaxAlike, scope.DefaultAlike)
}

// defaultGiveUp outlasts a restart, a deployment and most repairs, and ends within a working day.
const defaultGiveUp = 2 * time.Hour

// defaultArchiveSize is the usual size of archives, which copies and uploads bear.
const defaultArchiveSize = 1_000_000_000

// DefaultMemory is Options.Memory when that is 0.
const DefaultMemory = budget.Default

// spareDescriptors is the number of descriptors of a process in addition to one per request: files,
// loops, and connections that are kept.
const spareDescriptors = 32

// maxConcurrency returns the number of requests that may be in flight: at most 100,000, and as many
// as the process may have descriptors.
func maxConcurrency() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1000
	}
	return max(1, int(min(100_000, limit.Cur))-spareDescriptors)
}

// maxIdle returns the number of connections that are kept beside so many requests: half of the
// other descriptors. Hosts take turns: those of a broad crawl come back after thousands of others.
func maxIdle(concurrency int) int { return max(concurrency, (maxConcurrency()-concurrency)/2) }

// orDefault returns n; 0 stands for def, and a negative number for 0.
func orDefault[N int | time.Duration](n, def N) N {
	switch {
	case n == 0:
		return def
	case n < 0:
		return 0
	}
	return n
}

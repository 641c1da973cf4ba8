package engine

import (
	"container/list"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// again has URLs asked again, in the same visit, whose responses belong to other cookies than they
// would be sent now, when a redirect leads back to them: see docs/adr/0038-a-redirect-back.md. It
// remembers how URLs have ended; of what it has forgotten it asks the store. Without a jar it only
// follows redirects to another spelling of the same URL, as from /%7Eann to /~ann.
//
// Owner: the coordinator's loop.
type again struct {
	clock        *clock
	frontier     *frontier.Frontier
	admission    *admission
	committer    *committer
	progress     *progress
	fetch        *fetch.Config // with the cookies that a request would be sent
	maxRedirects int

	on        bool                // there is a jar
	kept      bool                // a store has what is forgotten here
	whole     bool                // nothing that has ended is forgotten, or older than this run
	redirects endedURLs           // URLs whose last response was a redirect
	pages     endedURLs           // the others
	leased    map[[16]byte]why    // URLs to which a redirect has led while they were leased
	pending   map[[16]byte]intent // asked again, or targets of redirects with an intent
}

// intent is the purpose of the request that redirects lead to: to pass a gate or a form.
type intent struct {
	why  why
	past []uint64 // places of the redirects, and of the page that links to the first: see placeOf
}

// why is the cause of an intent.
type why uint8

const (
	newCookie why = iota + 1 // a response has set a cookie that it was not sent, as after a login
	posted                   // it was to a POST
)

const (
	maxPending   = 1 << 14 // of again.pending
	maxSpellings = 3       // responses of a URL after which it is not asked again by another spelling
	maxPosted    = 2       // retries of a URL for POSTs: a failed login leads back to its form
)

// ended is the end of a URL.
type ended struct {
	url     frontier.URL // with what was known before the response
	record  record.Record
	cookies uint64 // hash of those sent
	batch   int    // that has it: see committer.sealed
	cost    int    // bytes
}

// endedURLs are those of URLs, by fingerprint. The oldest make room, once the store has them.
type endedURLs struct {
	at    map[[16]byte]*list.Element
	order list.List // of *ended
	bytes int
	most  int
}

func newAgain(cfg *Config) again {
	share := cfg.Shares.Again
	if cfg.Job == nil { // what is forgotten is lost, and what a store would take is free
		share += cfg.Shares.Buffer + cfg.Shares.Cache
	}
	return again{
		// Cookies of the user's own never change.
		on:    cfg.Fetch.HTTP.Cookies != nil && cfg.Fetch.HTTP.Header.Get("Cookie") == "",
		kept:  cfg.Job != nil,
		fetch: &cfg.Fetch, maxRedirects: cfg.Frontier.MaxRedirects,
		redirects: newEndedURLs(share / 2), pages: newEndedURLs(share / 2),
		leased: make(map[[16]byte]why), pending: make(map[[16]byte]intent),
	}
}

func newEndedURLs(most int) endedURLs {
	return endedURLs{at: make(map[[16]byte]*list.Element), most: most}
}

// costOfEnded is the memory of an ended URL without its texts, in bytes, roughly.
const costOfEnded = 2000

// add adds an ended URL, and reports whether no other had to make room. The store has what was in
// batches before saved.
func (s *endedURLs) add(fp [16]byte, e *ended, saved int) (whole bool) {
	s.take(fp)
	e.cost = costOfEnded + 2*len(e.record.URL) + len(e.record.Redirect) + len(e.url.From) + len(e.url.Data) + len(e.record.Title)
	s.at[fp] = s.order.PushBack(e)
	s.bytes += e.cost
	for whole = true; s.bytes > s.most; whole = false {
		oldest := s.order.Front().Value.(*ended)
		if oldest.batch >= saved {
			break
		}
		s.take(oldest.url.Fingerprint())
	}
	return whole
}

// find returns how a URL has ended; nil: it is not there.
func (s *endedURLs) find(fp [16]byte) *ended {
	if e := s.at[fp]; e != nil {
		return e.Value.(*ended)
	}
	return nil
}

// take removes a URL.
func (s *endedURLs) take(fp [16]byte) {
	if e := s.at[fp]; e != nil {
		s.bytes -= s.order.Remove(e).(*ended).cost
		delete(s.at, fp)
	}
}

// expect notes an intent with which a URL is asked.
func (a *again) expect(fp [16]byte, with intent) {
	if before, known := a.pending[fp]; (!known || before.why < with.why) && len(a.pending) < maxPending {
		a.pending[fp] = with
	}
}

// intentOf returns the intent of the redirect that an outcome is.
func (a *again) intentOf(out *fetch.Outcome) intent {
	with, begins := a.pending[out.URL.Fingerprint()], why(0)
	switch {
	case out.URL.URL.Post() != "":
		begins = posted
	case out.Cookies.New:
		begins = newCookie
	}
	if with.why = max(with.why, begins); with.why == 0 {
		return with
	}
	with.past = append(slices.Clip(with.past), placeOf(out.URL.URL.String()))
	if out.URL.Hops == 0 {
		with.past = append(with.past, placeOf(out.URL.From))
	}
	return with
}

// leadsBack takes in that an outcome redirects to a URL; known says whether that was seen before.
func (a *again) leadsBack(out *fetch.Outcome, known bool) {
	with := a.intentOf(out)
	if !known {
		if with.why > 0 {
			a.expect(out.Target.Fingerprint(), with)
		}
		return
	}
	a.pass(with)
	a.goBack(*out.Target, with.why)
}

// goBack has a URL asked again to which a redirect leads, if it is done and its response would be
// another one now.
func (a *again) goBack(to frontier.URL, with why) {
	as := []frontier.URL{to}
	if to.Role.Beyond() { // it may be crawled anyway
		to.Role = frontier.RolePage
		as = append(as, to)
	}
	for _, u := range as {
		fp := u.Fingerprint()
		if a.frontier.View().IsLeasedAs(u) {
			a.leased[fp] = max(with, a.leased[fp])
			return
		}
		for _, all := range [...]*endedURLs{&a.redirects, &a.pages} {
			if e := all.find(fp); e != nil {
				if a.isStale(&e.url, e.cookies, all == &a.redirects, with) {
					a.askAgain(e, with)
				}
				return
			}
		}
	}
	if _, pending := a.pending[to.Fingerprint()]; !pending && !a.whole && a.kept && !as[0].Role.Beyond() {
		a.findEnded(to, with)
	}
}

// isStale reports whether a URL that is done is to be asked again; cookies is the hash of those
// that were sent.
func (a *again) isStale(u *frontier.URL, cookies uint64, redirects bool, with why) bool {
	n := fetch.Responses(u.Past)
	switch {
	case n > a.maxRedirects, u.URL.Post() != "": // nothing sends a POST twice
		return false
	case with == posted && n <= maxPosted:
		return true
	}
	return (redirects || with == newCookie) && cookies != a.fetch.CookiesFor(u.URL)
}

// findEnded is goBack for a URL of which only the store may know that it is done. With which
// cookies it was asked is not known any more.
func (a *again) findEnded(to frontier.URL, with why) {
	a.admission.find(to.URL, func(found store.Entry) {
		if found.State != store.Done || found.URL.Role.Beyond() || len(found.URL.Past) == 0 {
			return
		}
		e := endedBefore(found.URL)
		if e.cookies = ^a.fetch.CookiesFor(to.URL); !a.isStale(&e.url, e.cookies, e.record.Redirect != "", with) {
			return
		}
		u := slices.Values([]weburl.URL{to.URL})
		a.admission.admit(u, u, func() {
			fp := to.Fingerprint()
			_, pending := a.pending[fp]
			if !pending && a.redirects.find(fp) == nil && a.pages.find(fp) == nil {
				// Else it has ended since.
				a.askAgain(e, with)
			}
		})
	})
}

// endedBefore returns how a URL has ended, from what the store knows of it.
func endedBefore(u frontier.URL) *ended {
	last := u.Past[len(u.Past)-1]
	r := record.Record{URL: u.URL.String(), Depth: u.Depth, Status: last.Status, ErrorKind: last.Kind, Tries: u.Tries + 1}
	if record.IsRedirect(last.Status) {
		r.Redirect = last.Reason
	}
	if u.Known != nil {
		r.Change = record.Change(u.Known.Change)
	}
	return &ended{url: u, record: r}
}

// askAgain makes a URL pending again.
func (a *again) askAgain(e *ended, with why) {
	fp := e.url.Fingerprint()
	a.redirects.take(fp)
	a.pages.take(fp)
	if len(a.pending) >= maxPending || !a.frontier.Again(a.clock.now(), e.url) {
		return
	}
	if with != posted { // else what its response redirects to follows from the POST, too
		with = 0
	}
	a.pending[fp] = intent{why: with}
	a.committer.changed()
	a.progress.discount(&e.record)
}

// wakes makes a URL pending that the visit has left as it was. It reports whether it did.
func (a *again) wakes(u frontier.URL) bool {
	fp := u.Fingerprint()
	if _, pending := a.pending[fp]; pending || len(a.pending) >= maxPending || a.redirects.find(fp) != nil || a.pages.find(fp) != nil {
		return false
	}
	if !a.frontier.Again(a.clock.now(), u) {
		return false
	}
	a.pending[fp] = intent{}
	return true
}

// pass takes in that a gate or a form is passed: URLs that have redirected there, or to the page
// that links there, are asked again.
func (a *again) pass(with intent) {
	if len(with.past) == 0 {
		return
	}
	var sent []*ended
	all := &a.redirects
	for at := all.order.Front(); at != nil; at = at.Next() {
		e := at.Value.(*ended)
		if slices.Contains(with.past, placeOf(e.record.Redirect)) && a.isStale(&e.url, e.cookies, true, with.why) {
			sent = append(sent, e)
		}
	}
	for _, e := range sent {
		u := slices.Values([]weburl.URL{e.url.URL})
		a.admission.admit(u, u, func() { // its host may have left memory
			if all.find(e.url.Fingerprint()) == e {
				a.askAgain(e, 0)
			}
		})
	}
}

// placeOf returns a hash of a URL without its query and its fragment: the query of a gate often
// names the page to come back to.
func placeOf(u string) uint64 {
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		u = u[:i]
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, u)
	return h.Sum64()
}

// endAgain takes in the outcome of a lease, which has ended.
func (a *again) leaseEnded(out *fetch.Outcome) {
	if out.Robots != nil || out.URL.Resolve || out.Postpone || out.Await {
		return
	}
	u := out.URL
	fp := u.Fingerprint()
	with, wanted := a.leased[fp]
	delete(a.leased, fp)
	if out.Retry {
		return
	}
	expected := a.pending[fp]
	delete(a.pending, fp)
	u.Known = out.Before
	if respelled(out) && fetch.Responses(u.Past) < maxSpellings {
		u.Written = out.Target.Written
		a.askAgain(&ended{url: u, record: *out.Record}, expected.why)
		return
	}
	if !a.on {
		return
	}
	all := &a.redirects
	if out.Target == nil {
		all = &a.pages
		a.pass(expected)
	}
	short := *out.Record // of which its end is of use
	short.Description, short.H1, short.Canonical, short.Headers = "", "", "", nil
	e, saved := &ended{url: u, record: short, cookies: out.Cookies.Hash, batch: a.committer.sealed}, a.committer.saved
	if !a.kept {
		saved = math.MaxInt
	}
	a.whole = all.add(fp, e, saved) && a.whole
	if wanted {
		a.goBack(u, with)
	}
}

// refused takes in that a URL is refused: it ends without a response.
func (a *again) refused(u weburl.URL) {
	if a.on {
		delete(a.pending, u.Fingerprint())
	}
}

// respelled reports whether an outcome redirects to another spelling of its URL.
func respelled(out *fetch.Outcome) bool {
	return out.Target != nil && out.Target.Written != out.URL.Written && out.Target.Fingerprint() == out.URL.Fingerprint()
}

// received is goBack for a URL that another node has found by a redirect.
func (a *again) received(u frontier.URL) {
	if !a.on || u.Hops == 0 {
		return
	}
	with := why(0)
	if from, err := weburl.Parse(u.From); err == nil && from.Post() != "" {
		with = posted
	}
	a.goBack(u, with)
}

package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Counters count the URLs of a crawl, or of one visit of a job, over all its runs. Each URL
// is in exactly one of Pending, InFlight, Done, Refused, OverLimit and OverVariants.
type Counters struct {
	Pending      int `json:"pending"`                 // waiting
	InFlight     int `json:"in_flight"`               // being fetched, with requests for robots.txt
	Done         int `json:"done"`                    // fetched, with a response or an error
	Refused      int `json:"refused"`                 // by robots.txt, an exclusion or a dead host
	OverLimit    int `json:"over_limit"`              // cut by LimitPerHost
	OverVariants int `json:"over_variants,omitempty"` // cut by MaxVariants

	Failed    int `json:"failed"`             // of Done, those with an error
	Pages     int `json:"pages"`              // of Done, HTML with status 200, or unchanged, in scope
	Redirects int `json:"redirects"`          // of Done
	Assets    int `json:"assets,omitempty"`   // fetched beyond the scope: RoleAsset
	External  int `json:"external,omitempty"` // links checked: RoleExternal
	Hosts     int `json:"hosts"`              // seen
	Skipped   int `json:"skipped,omitempty"`  // of earlier visits, not asked by this one

	// Of the visit, from the second one on; 0 before: see Change.
	Visit      int   `json:"visit,omitempty"` // 1 is the first
	Unchanged  int   `json:"unchanged,omitempty"`
	Changed    int   `json:"changed,omitempty"`
	Gone       int   `json:"gone,omitempty"`
	New        int   `json:"new,omitempty"`
	BytesSaved int64 `json:"bytes_saved,omitempty"` // that 304 responses spared

	Robots int   `json:"robots"` // requests for robots.txt
	Bytes  int64 `json:"bytes"`  // received
}

// Recorded returns the number of URLs that have a record.
func (c *Counters) Recorded() int { return c.Done + c.Refused }

// ItemCounts counts the finds of rules for fields.
type ItemCounts struct {
	Items int `json:"items,omitempty"` // lines of items.jsonl
	// Missing counts items without a required field, by its name after that of the rule:
	// "product.price".
	Missing map[string]int `json:"missing_fields,omitempty"`
}

// ScriptCounts count the pages that a crawl has seen without their content.
type ScriptCounts struct {
	NeedScripts int    `json:"need_scripts,omitempty"`         // pages with Record.NeedsScripts
	NeedsFirst  string `json:"need_scripts_example,omitempty"` // URL of the first
	Rendered    int    `json:"rendered,omitempty"`             // pages that a browser has rendered
	NotRendered int    `json:"not_rendered,omitempty"`         // and those that it could not
}

// Unrendered counts the pages of one kind that a browser could not render.
type Unrendered struct {
	Kind  string `json:"kind"` // Rendered.ErrorKind; "other" beyond 20 of them
	Pages int    `json:"pages"`
	First string `json:"example,omitempty"` // URL of the first
}

// unrendered adds n to the counter of a page's kind.
func (s *Summary) unrendered(r *Record, n int) {
	if r.Rendered == nil || r.Rendered.Error == "" || r.Rendered.AsReceived == RenderedLearned {
		return
	}
	kind := r.Rendered.ErrorKind
	at := func(kind string) int {
		return slices.IndexFunc(s.Unrendered, func(u Unrendered) bool { return u.Kind == kind })
	}
	i := at(kind)
	if i < 0 && len(s.Unrendered) >= maxUnrendered {
		kind = "other"
		i = at(kind)
	}
	if i < 0 && n > 0 {
		i = len(s.Unrendered)
		s.Unrendered = append(s.Unrendered, Unrendered{Kind: kind})
	}
	if i < 0 {
		return // an earlier version has counted it
	}
	switch u := &s.Unrendered[i]; {
	case u.Pages+n <= 0:
		s.Unrendered = slices.Delete(s.Unrendered, i, i+1)
	case n < 0 && u.First == r.URL:
		u.Pages, u.First = u.Pages+n, ""
	default:
		u.Pages, u.First = u.Pages+n, cmp.Or(u.First, r.URL)
	}
}

// tallyRendered adds n to the counter of what became of a page in a browser.
func (c *ScriptCounts) tallyRendered(r *Rendered, n int) {
	switch {
	case r == nil, r.AsReceived == RenderedLearned:
	case r.Error != "":
		c.NotRendered += n
	default:
		c.Rendered += n
	}
}

// CountScripts adds a page with its Record.NeedsScripts, if that is not empty.
func (c *ScriptCounts) CountScripts(url, reason string) {
	if reason == "" {
		return
	}
	if c.NeedScripts++; c.NeedsFirst == "" {
		c.NeedsFirst = url
	}
}

func (c *ScriptCounts) discountScripts(r *Record) {
	if r.NeedsScripts == "" {
		return
	}
	if c.NeedScripts--; c.NeedsFirst == r.URL {
		c.NeedsFirst = ""
	}
}

// Summary is the result of a crawl.
type Summary struct {
	Counters
	Started    time.Time     `json:"started"`
	Elapsed    time.Duration `json:"elapsed_ns"`
	Duplicates int           `json:"duplicates"` // URLs with the body of another
	Near       int           `json:"near"`       // URLs with nearly the text of another
	// SeedsFetched counts seeds, and targets of their redirects, with a status of 2xx or unchanged; on
	// a recrawl, seeds that newly redirect, too.
	SeedsFetched int              `json:"seeds_fetched"`
	Statuses     map[int]Count    `json:"statuses"`      // by status
	ContentTypes map[string]Count `json:"content_types"` // responses with a body, by media type
	Errors       map[string]Count `json:"errors"`        // by error kind
	ItemCounts
	ScriptCounts
	// Unrendered sorts those of NotRendered: at most 20 kinds, then "other".
	Unrendered []Unrendered `json:"not_rendered_by,omitempty"`

	NotFollowed map[string]int `json:"not_followed"`  // by reason: weft.Reasons, or OnLink's own
	GivenUp     []GivenUp      `json:"given_up"`      // origins whose URLs were refused, the first 20
	MoreGivenUp int            `json:"more_given_up"` // further ones
	Traps       []string       `json:"traps"`         // 20 endless paths, as http://h/cal/#/#/
	MoreTraps   int            `json:"more_traps"`    // further ones
	Opened      []string       `json:"opened"`        // hosts that redirects of seeds opened: 20
	FirstError  string         `json:"first_error"`   // the first URL that failed, and why
	Slowest     []Record       `json:"slowest"`       // responses, at most 10; long texts are cut
	Broken      []Broken       `json:"broken"`        // 10 of each error kind and status, 100 of all
	Stopped     string         `json:"stopped"`       // limit that ended it: "limit", "max-time" or ""
	Interrupted bool           `json:"interrupted"`   // URLs are left, because of Drain or the context
	Finished    bool           `json:"finished"`      // no URL is left
	Runs        int            `json:"runs"`          // runs of the visit, with this one
	Narrowed    bool           `json:"narrowed"`      // the visit asks chosen URLs of the job only
}

// GivenUp is an origin whose URLs were refused: it did not respond, or let the crawl wait, for too
// long.
type GivenUp struct {
	Origin string `json:"origin"`
	Kind   string `json:"kind"`   // the error kind of its URLs
	Reason string `json:"reason"` // from the Web
	URLs   int    `json:"urls"`   // that were waiting
}

// Count is a number of URLs and the bytes received for them.
type Count struct {
	URLs  int   `json:"urls"`
	Bytes int64 `json:"bytes"`
}

const (
	maxContentTypes = 100 // further ones count as "other"
	maxMediaType    = 100 // bytes: longer ones, too; the longest registered one has 82
	maxOpened       = 20
	maxGivenUp      = 20
	maxTraps        = 20
	maxSlowest      = 10
	maxUnrendered   = 20
)

// NewSummary returns an empty summary.
func NewSummary() Summary {
	return Summary{
		Statuses: make(map[int]Count), ContentTypes: make(map[string]Count),
		Errors: make(map[string]Count), NotFollowed: make(map[string]int),
	}
}

// Clone returns a copy that shares nothing.
func (s Summary) Clone() Summary {
	s.Statuses, s.ContentTypes = maps.Clone(s.Statuses), maps.Clone(s.ContentTypes)
	s.Errors, s.NotFollowed, s.Missing = maps.Clone(s.Errors), maps.Clone(s.NotFollowed), maps.Clone(s.Missing)
	s.GivenUp, s.Traps = slices.Clone(s.GivenUp), slices.Clone(s.Traps)
	s.Opened, s.Slowest, s.Broken = slices.Clone(s.Opened), slices.Clone(s.Slowest), slices.Clone(s.Broken)
	s.Unrendered = slices.Clone(s.Unrendered)
	return s
}

// Count adds a record.
func (s *Summary) Count(r *Record) {
	s.Bytes += r.Bytes
	s.broken(r)
	if r.Status != 0 {
		s.Statuses[r.Status] = s.Statuses[r.Status].plus(r.Bytes)
		s.slow(r)
	}
	if r.BodyBytes > 0 {
		t := strings.ToLower(MediaType(r.Type()))
		if _, known := s.ContentTypes[t]; !known && len(s.ContentTypes) >= maxContentTypes || len(t) > maxMediaType {
			t = "other"
		}
		s.ContentTypes[t] = s.ContentTypes[t].plus(r.Bytes)
	}
	if r.ErrorKind != "" {
		s.Errors[r.ErrorKind] = s.Errors[r.ErrorKind].plus(r.Bytes)
		if s.FirstError == "" {
			s.FirstError = r.URL + ": " + r.ErrorKind + ": " + cut(r.Error)
		}
	}
	s.CountScripts(r.URL, r.NeedsScripts)
	s.tally(r, 1)
}

// CountItem adds an item. Its fields are those of rules, so their number is bounded.
func (s *Summary) CountItem(i *Item) {
	s.Items++
	for _, name := range i.Missing {
		if s.Missing == nil {
			s.Missing = make(map[string]int)
		}
		s.Missing[i.FieldName(name)]++
	}
}

// Discount takes back what Count has added for a record whose URL is pending again, and was refused
// or done. The bytes stay: they were received.
func (s *Summary) Discount(r *Record, refused bool) {
	if s.Pending++; refused {
		s.Refused--
	} else {
		s.Done--
	}
	if r.Status != 0 {
		discount(s.Statuses, r.Status, r.Bytes)
	}
	if r.BodyBytes > 0 {
		t := strings.ToLower(MediaType(r.Type()))
		if _, known := s.ContentTypes[t]; !known {
			t = "other"
		}
		discount(s.ContentTypes, t, r.Bytes)
	}
	if r.ErrorKind != "" {
		discount(s.Errors, r.ErrorKind, r.Bytes)
		if strings.HasPrefix(s.FirstError, r.URL+": ") {
			s.FirstError = ""
		}
	}
	s.discountScripts(r)
	s.tally(r, -1)
	s.Broken = slices.DeleteFunc(s.Broken, func(b Broken) bool { return b.URL == r.URL })
	s.Slowest = slices.DeleteFunc(s.Slowest, func(slow Record) bool { return slow.URL == r.URL })
}

func discount[K comparable](all map[K]Count, key K, bytes int64) {
	c := all[key]
	if c.URLs <= 1 {
		delete(all, key)
		return
	}
	all[key] = Count{c.URLs - 1, c.Bytes - bytes}
}

// tally adds n to the counters that a record counts in.
func (s *Summary) tally(r *Record, n int) {
	if r.Depth == 0 && r.ErrorKind == "" && r.IsFetched() {
		s.SeedsFetched += n
	}
	if r.Redirect != "" {
		s.Redirects += n
	}
	s.tallyRendered(r.Rendered, n)
	s.unrendered(r, n)
	if r.DuplicateOf != "" {
		s.Duplicates += n
	}
	if r.NearDuplicateOf != "" {
		s.Near += n
	}
	switch {
	case r.Role == "" && r.IsPage():
		s.Pages += n
	case r.Role == RoleAsset && r.IsFetched():
		s.Assets += n
	case r.Role == RoleExternal && (r.Tries > 0 || r.IsBroken()): // by robots.txt it is not checked
		s.External += n
	}
	switch r.Change {
	case ChangeUnchanged:
		s.Unchanged += n
	case ChangeChanged:
		s.Changed += n
	case ChangeGone:
		s.Gone += n
	case ChangeNew:
		s.New += n
	}
}

// Failed returns how many done URLs have an error: of errors, by kind, those of refused URLs are
// the others.
func Failed(errors map[string]Count, refused int) int {
	n := -refused
	for _, e := range errors {
		n += e.URLs
	}
	return max(0, n)
}

// GiveUp adds an origin that was given up.
func (s *Summary) GiveUp(g GivenUp) {
	if len(s.GivenUp) >= maxGivenUp {
		s.MoreGivenUp++
		return
	}
	s.GivenUp = append(s.GivenUp, g)
}

// Trap adds the shape of a trap.
func (s *Summary) Trap(shape string) {
	if len(s.Traps) >= maxTraps {
		s.MoreTraps++
		return
	}
	s.Traps = append(s.Traps, shape)
}

// Fruitless reports whether the crawl has ended without a seed fetched: its server, its proxy or
// the network was not there.
func (s *Summary) Fruitless() bool {
	return s.Finished && s.Visit <= 1 && s.SeedsFetched == 0 && s.Pages == 0
}

// Open adds a host that a seed's redirect brought into scope.
func (s *Summary) Open(host string) {
	if len(s.Opened) < maxOpened && !slices.Contains(s.Opened, host) {
		s.Opened = append(s.Opened, host)
	}
}

func (c Count) plus(bytes int64) Count { return Count{c.URLs + 1, c.Bytes + bytes} }

// slow keeps the slowest responses, the slowest first.
func (s *Summary) slow(r *Record) {
	if len(s.Slowest) == maxSlowest && r.TotalMS <= s.Slowest[maxSlowest-1].TotalMS {
		return
	}
	slower := func(r Record, ms float64) int { return cmp.Compare(ms, r.TotalMS) }
	i, _ := slices.BinarySearchFunc(s.Slowest, r.TotalMS, slower)
	short := *r // a target may be 200 KB long, and each commit saves the summary
	short.Redirect, short.Error, short.Canonical = cut(r.Redirect), cut(r.Error), cut(r.Canonical)
	short.Description, short.H1, short.Headers = "", "", nil
	s.Slowest = slices.Insert(s.Slowest, i, short)
	if len(s.Slowest) > maxSlowest {
		s.Slowest = s.Slowest[:maxSlowest]
	}
}

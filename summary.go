package weft

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
)

// Summary is what a crawl has come to.
type Summary struct {
	Started      time.Time
	Elapsed      time.Duration
	Done         int // URLs finished
	Pages        int // of these, answered 200 with HTML, or 304 where that has not changed
	Redirects    int
	Duplicates   int              // URLs with the body of another
	Near         int              // URLs with nearly the text of another
	Robots       int              // robots.txt asked for
	SeedsFetched int              // of the seeds, and of what they redirect to, those answered with a status of 2xx, or unchanged; at a later visit those that redirect and did not at first, too
	Statuses     map[int]Count    // by status
	ContentTypes map[string]Count // of answers with a body, by media type
	Errors       map[string]Count // by error kind: see Kinds
	NotFollowed  map[string]int   // mentions of links, by reason: see Reasons; or as OnLink says
	Opened       []string         // hosts that are in scope because a seed redirects there, at most 20
	FirstError   string           // the URL that failed first, and why, as FetchError puts it
	Slowest      []Record         // answers that took longest, at most 10
	Bytes        int64            // received
	Pending      int              // URLs left, if it was interrupted or has stopped
	OverLimit    int              // URLs that LimitPerHost has cut
	OverVariants int              // URLs that MaxVariants has cut
	Stopped      string           // the limit that ended it, "limit" or "max-time"; or ""
	Interrupted  bool             // URLs are left because of Drain or the context
	Finished     bool             // none are left
	Runs         int              // of the job's visit, with this one: all of this is of all of them together

	Visit      int // of the job: 1, and one more with each that Options.Update has begun
	Unchanged  int // URLs, by Change; all four are 0 in the first visit
	Changed    int
	Gone       int
	New        int
	BytesSaved int64 // that answers of 304 have spared
}

// clone returns a copy that shares nothing.
func (s Summary) clone() Summary {
	s.Statuses, s.ContentTypes = maps.Clone(s.Statuses), maps.Clone(s.ContentTypes)
	s.Errors, s.NotFollowed = maps.Clone(s.Errors), maps.Clone(s.NotFollowed)
	s.Opened, s.Slowest = slices.Clone(s.Opened), slices.Clone(s.Slowest)
	return s
}

// Count is a number of URLs and what they weighed.
type Count struct {
	URLs  int
	Bytes int64 // received
}

// maxContentTypes bounds ContentTypes: the Web chooses their names. The rest is
// counted as "other".
const maxContentTypes = 100

// maxOpened bounds Opened: a list of seeds may have millions that redirect.
const maxOpened = 20

// maxSlowest bounds Slowest.
const maxSlowest = 10

func newSummary() Summary {
	return Summary{
		Statuses: make(map[int]Count), ContentTypes: make(map[string]Count),
		Errors: make(map[string]Count), NotFollowed: make(map[string]int),
	}
}

func (s *Summary) count(r *Record) {
	s.Done++
	s.Bytes += r.Bytes
	if r.Status != 0 {
		s.Statuses[r.Status] = s.Statuses[r.Status].plus(r.Bytes)
		s.slow(r)
	}
	if r.BodyBytes > 0 {
		t := strings.ToLower(mediaType(r.ContentType))
		if _, known := s.ContentTypes[t]; !known && len(s.ContentTypes) >= maxContentTypes {
			t = "other"
		}
		s.ContentTypes[t] = s.ContentTypes[t].plus(r.Bytes)
	}
	if r.ErrorKind != "" {
		s.Errors[r.ErrorKind] = s.Errors[r.ErrorKind].plus(r.Bytes)
		if s.FirstError == "" {
			s.FirstError = (&FetchError{r}).Error()
		}
	}
	if r.Depth == 0 && r.ErrorKind == "" && r.isFetched() {
		s.SeedsFetched++
	}
	if r.Redirect != "" {
		s.Redirects++
	}
	if r.DuplicateOf != "" {
		s.Duplicates++
	}
	if r.NearDuplicateOf != "" {
		s.Near++
	}
	if r.isPage() {
		s.Pages++
	}
	switch r.Change {
	case ChangeUnchanged:
		s.Unchanged++
	case ChangeChanged:
		s.Changed++
	case ChangeGone:
		s.Gone++
	case ChangeNew:
		s.New++
	}
}

// opened notes that a seed's redirect has brought a host into scope.
func (s *Summary) opened(host string) {
	if len(s.Opened) < maxOpened && !slices.Contains(s.Opened, host) {
		s.Opened = append(s.Opened, host)
	}
}

// notFollowed counts links that are not followed.
func (s *Summary) notFollowed(links []dropped) {
	for _, n := range links {
		s.NotFollowed[n.reason] += n.n
	}
}

func (c Count) plus(bytes int64) Count { return Count{c.URLs + 1, c.Bytes + bytes} }

// slow keeps the slowest answers, the slowest first.
func (s *Summary) slow(r *Record) {
	if len(s.Slowest) == maxSlowest && r.TotalMS <= s.Slowest[maxSlowest-1].TotalMS {
		return
	}
	i, _ := slices.BinarySearchFunc(s.Slowest, r.TotalMS, func(r Record, ms float64) int { return cmp.Compare(ms, r.TotalMS) })
	s.Slowest = slices.Insert(s.Slowest, i, *r)
	if len(s.Slowest) > maxSlowest {
		s.Slowest = s.Slowest[:maxSlowest]
	}
}

// Stats is a crawl at one moment.
type Stats struct {
	Elapsed   time.Duration
	Paused    []string // why no URL is begun; empty: they are
	Done      int      // URLs finished
	Pages     int
	Redirects int
	Errors    int // URLs with an error
	Refused   int // of these, kept from being fetched by robots.txt
	Pending   int // URLs that wait
	InFlight  int // requests under way
	Hosts     int // seen
	Bytes     int64
	Memory    int64               // bytes that the process has for its heap, stacks and tables
	MaxMemory int64               // Options.Memory
	Slowest   []frontier.HostStat // hosts under way with the longest response time, at most 5
}

// mediaType is a Content-Type without its parameters.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.TrimSpace(t)
}

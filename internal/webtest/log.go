package webtest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is what a server notes of one. Times are those of the loop: right to the
// length of a turn, which is below a millisecond unless the machine is busy.
type Request struct {
	Host   string     `json:"host"`   // the Host field
	Target string     `json:"target"` // path and query
	Addr   netip.Addr `json:"addr"`   // the client connected to
	Status int        `json:"status"` // 0: no whole answer was sent
	Start  time.Time  `json:"start"`  // the request was there
	End    time.Time  `json:"end"`    // the answer was sent, or the client gone; zero: neither yet
}

// URL returns what was asked for.
func (r Request) URL() string { return "http://" + r.Host + r.Target }

// Log is the requests that servers got. It may be used from any goroutine.
type Log struct {
	w io.Writer

	mu struct {
		sync.Mutex
		requests []Request // in the order of Start; if w is nil
		lines    *bufio.Writer
		n        int
		err      error
	}
}

// NewLog returns an empty log. If w is not nil, finished requests are written to
// it, a JSON object on a line each, and are not kept in memory. Flush before w is
// read.
func NewLog(w io.Writer) *Log {
	l := &Log{w: w}
	l.mu.lines = bufio.NewWriterSize(w, 64<<10)
	return l
}

// begin notes that a request is there; the function it returns, that it was answered.
func (l *Log) begin(r Request) (end func(status int, at time.Time)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.mu.n
	l.mu.n++
	if l.w == nil {
		l.mu.requests = append(l.mu.requests, r)
	}
	return func(status int, at time.Time) {
		l.mu.Lock()
		defer l.mu.Unlock()
		r.Status, r.End = status, at
		switch l.w {
		case nil:
			l.mu.requests[i] = r
			return
		case io.Discard:
			return
		}
		line, err := json.Marshal(r)
		if err == nil {
			_, err = l.mu.lines.Write(append(line, '\n'))
		}
		if l.mu.err == nil {
			l.mu.err = err
		}
	}
}

// Len returns how many requests came.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.n
}

// Requests returns what came so far, in the order of Start; nothing if the log is written.
func (l *Log) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.mu.requests)
}

// Flush brings all lines to the writer. It returns the first error of writing.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return nil
	}
	if l.mu.err == nil {
		l.mu.err = l.mu.lines.Flush()
	}
	return l.mu.err
}

// Politeness judges the requests so far.
func (l *Log) Politeness() *Politeness { return Judge(slices.Values(l.Requests())) }

// ReadLog yields the requests of a log that was written. An error ends it.
func ReadLog(r io.Reader) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 4*maxHead)
		for n := 1; lines.Scan(); n++ {
			var req Request
			if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
				yield(req, fmt.Errorf("log: line %d: %w", n, err))
				return
			}
			if !yield(req, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Request{}, fmt.Errorf("log: %w", err))
		}
	}
}

// Politeness is how a crawler treated the servers.
type Politeness struct {
	Hosts     map[string]Manners // by Host field, see Web.Authority
	Sites     map[string]Manners // by registrable domain, see Web.Site
	Addresses map[netip.Addr]Manners
	Asked     map[string]int // how often, by URL
}

// Manners are how a crawler treated one server.
type Manners struct {
	Requests   int
	SmallGap   time.Duration // the smallest from the end of all earlier answers to the start of a request; -1: there was one request
	MostAtOnce int           // requests under way
}

// Judge computes the politeness of requests, in any order. robots.txt counts like
// any other.
func Judge(requests iter.Seq[Request]) *Politeness {
	hosts, sites, addresses := make(map[string][]span), make(map[string][]span), make(map[netip.Addr][]span)
	asked := make(map[string]int)
	for r := range requests {
		s := span{r.Start.UnixNano(), r.End.UnixNano()}
		if r.End.IsZero() {
			s.end = 1<<63 - 1
		}
		site := r.Host
		if _, after, ok := strings.Cut(r.Host, "."); ok && strings.HasPrefix(site, "h") {
			site, _, _ = strings.Cut(after, ":")
		}
		hosts[r.Host] = append(hosts[r.Host], s)
		sites[site] = append(sites[site], s)
		addresses[r.Addr] = append(addresses[r.Addr], s)
		asked[r.URL()]++
	}
	return &Politeness{mannersBy(hosts), mannersBy(sites), mannersBy(addresses), asked}
}

func mannersBy[K comparable](spans map[K][]span) map[K]Manners {
	m := make(map[K]Manners, len(spans))
	for k, s := range spans {
		m[k] = mannersOf(s)
	}
	return m
}

// Repeated yields the URLs that were asked for more than once, and how often.
func (p *Politeness) Repeated() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for url, n := range p.Asked {
			if n > 1 && !yield(url, n) {
				return
			}
		}
	}
}

// span is when a request was under way: nanoseconds.
type span struct{ start, end int64 }

func mannersOf(spans []span) Manners {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	m := Manners{Requests: len(spans), SmallGap: -1}
	var ends []int64 // of those under way
	for i, s := range spans {
		if i > 0 { // where earlier ones last longer than the one before, there was a gap of 0 already
			gap := time.Duration(max(0, s.start-spans[i-1].end))
			if m.SmallGap < 0 || gap < m.SmallGap {
				m.SmallGap = gap
			}
		}
		ends = slices.DeleteFunc(ends, func(end int64) bool { return end <= s.start })
		ends = append(ends, s.end)
		m.MostAtOnce = max(m.MostAtOnce, len(ends))
	}
	return m
}

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

// Request is the log entry of a request. Times are those of the loop, exact to the length of a
// turn: less than a millisecond unless the machine is busy.
type Request struct {
	Host   string     `json:"host"`   // the Host field
	Target string     `json:"target"` // path and query
	Addr   netip.Addr `json:"addr"`   // that the client connected to
	Status int        `json:"status"` // 0: no complete response was sent
	Start  time.Time  `json:"start"`  // the request was complete
	End    time.Time  `json:"end"`    // the response was sent, or the client had gone; zero: neither
}

// URL returns the requested URL.
func (r Request) URL() string { return "http://" + r.Host + r.Target }

// Log is a request log of servers. Any goroutine may use it.
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

// NewLog returns an empty log. If w is not nil, the log writes finished requests to it, one JSON
// object per line, and does not keep them in memory. Call Flush before reading w.
func NewLog(w io.Writer) *Log {
	l := &Log{w: w}
	l.mu.lines = bufio.NewWriterSize(w, 64<<10)
	return l
}

// begin logs a request; end logs its response.
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

// Len returns the number of requests.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.n
}

// Requests returns the requests so far, in the order of Start; none if the log is written.
func (l *Log) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.mu.requests)
}

// Flush writes all buffered lines. It returns the first write error.
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

// ReadLog yields the requests of a written log. An error ends it.
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

// Politeness is a crawler's treatment of the servers.
type Politeness struct {
	Hosts     map[string]Manners // by Host field, see Web.Authority
	Sites     map[string]Manners // by registrable domain, see Web.Site
	Addresses map[netip.Addr]Manners
	Asked     map[string]int // number of requests by URL
}

// Manners are a crawler's treatment of one host, domain or address.
type Manners struct {
	Requests   int
	SmallGap   time.Duration // the smallest, after all earlier responses; -1: only one request
	MostAtOnce int           // concurrent requests
}

// Judge computes the politeness of requests, in any order. robots.txt counts like any other URL.
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

// Repeated yields the URLs requested more than once, with the number of requests.
func (p *Politeness) Repeated() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for url, n := range p.Asked {
			if n > 1 && !yield(url, n) {
				return
			}
		}
	}
}

// span is the duration of a request, in Unix nanoseconds.
type span struct{ start, end int64 }

func mannersOf(spans []span) Manners {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	m := Manners{Requests: len(spans), SmallGap: -1}
	var ends []int64 // of requests in flight
	for i, s := range spans {
		if i > 0 { // if an earlier one lasts longer than the previous one, there was a gap of 0 already
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

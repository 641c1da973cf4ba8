package webtest

import "time"

// Framing is how the end of a body is told.
type Framing uint8

const (
	Length  Framing = iota // Content-Length
	Chunked                // Transfer-Encoding
	Close                  // the end of the connection
)

// Fault is what is wrong with an answer.
type Fault uint8

const (
	Whole       Fault = iota // nothing
	Drop                     // no answer, the connection ends
	CutLength                // the connection ends before Content-Length
	CutChunks                // the connection ends within a chunk
	Garbage                  // no HTTP
	FalseCoding              // Content-Encoding: gzip, and it is not
	ShortLength              // more bytes come than Content-Length says
	StallHead                // nothing comes, and no end
	StallBody                // half a body comes, and no end
	Drip                     // a body comes a little at a time, without end
	Bomb                     // gzip of a small body that makes a huge one
)

// endless reports whether it is for the client to end the answer.
func (f Fault) endless() bool { return f == StallHead || f == StallBody || f == Drip }

// faults are those of broken answers, by n modulo their number, and what becomes
// of the URL.
var faults = [...]struct {
	fault Fault
	fate  Fate
}{
	{Drop, Fate{Error: ErrorEarlyEnd}},
	{CutLength, Fate{Error: ErrorEarlyEnd}},
	{CutChunks, Fate{Error: ErrorEarlyEnd}},
	{Garbage, Fate{Error: ErrorProtocol}},
	{FalseCoding, Fate{Error: ErrorEncoding}},
	{ShortLength, Fate{Status: 200}},
}

// hostilities are what hostile answers do.
var hostilities = [...]struct {
	fault Fault
	fate  Fate
}{
	{Drip, Fate{Error: ErrorStall}},
	{Bomb, Fate{Error: ErrorBomb}},
}

// failures are the statuses of what always fails.
var failures = [...]int{500, 501, 502, 504}

// Answer is what a server says to one request.
type Answer struct {
	Status  int
	Header  []string      // "Name: value", without what Framing and Gzip say
	Body    []byte        // without Gzip
	Delay   time.Duration // before it
	Framing Framing
	Gzip    bool // where the client takes it
	Fault   Fault

	RetryAfter time.Duration // 0: none is asked for
	RetryDate  bool          // it is asked for by a date, not as seconds
}

// Answer returns the answer to a GET request with this Host field and target, when
// there have been so many for the same place before.
func (w *Web) Answer(host, target string, before int) Answer {
	p, ok := w.locate(host, target)
	if !ok {
		return Answer{Status: 421} // Misdirected Request
	}
	return w.answer(p, before)
}

func (w *Web) answer(p place, before int) Answer {
	a := Answer{Status: 200, Header: []string{"Content-Type: text/html; charset=utf-8"}}
	a.Delay = w.delay(p)
	if before < w.fails(p) {
		return w.refuse(a, p)
	}
	d := w.dice(saltFraming, p)
	switch roll := d.roll(10); {
	case roll >= 9:
		a.Framing = Close
	case roll >= 6:
		a.Framing = Chunked
	}
	a.Gzip = d.roll(3) == 0
	switch p.kind {
	case none:
		a.Status = 404
		a.Body = []byte("<title>Not here</title><a href=\"/decoy/404\">x</a>")
	case page, private, missing, day, maze, toldPage:
		w.describe(&a, p)
	case hop, loop:
		w.redirect(&a, p, &d)
	case failing:
		a.Status = failures[int(p.n)%len(failures)]
		a.Body = []byte("<title>Wrong</title><a href=\"/decoy/5xx\">x</a>")
	case stalled:
		a.Body, a.Framing, a.Gzip = []byte(filler), Length, false
		a.Fault = StallHead + Fault(p.n%2)
	case broken:
		a.Body, a.Framing, a.Gzip = []byte(filler), Length, false
		a.Fault = faults[int(p.n)%len(faults)].fault
	case hostile:
		a.Body, a.Framing, a.Gzip = []byte(filler), Length, false
		a.Fault = hostilities[int(p.n)%len(hostilities)].fault
	case asset:
		t := &assetTypes[int(p.n)%len(assetTypes)]
		a.Header[0], a.Gzip = "Content-Type: "+t.contentType, false
		a.Body = fill([]byte(t.begin), d.roll(4096), &d)
	case sitemapFile:
		w.sitemap(&a, p)
	case robotsTxt:
		a.Header[0] = "Content-Type: text/plain"
		switch kind := w.robots(int(p.host)); {
		case kind == robotsNone:
			a.Status = 404
		case kind == robotsClosed:
			a.Status = 503
		case kind == robotsMoved && p.sub == 0:
			a.Status = 301
			a.Header = append(a.Header, "Location: "+w.target(w.next(p)))
		default:
			a.Body = w.robotsText(int(p.host))
		}
	}
	return a
}

// describe answers with a page.
func (w *Web) describe(a *Answer, p place) {
	links := w.links(p)
	a.Body = w.html(p, links)
	if p.kind == missing {
		a.Status = []int{404, 410}[p.n%2]
	}
	if cs := w.charset(p); cs.labelled {
		a.Header[0] = "Content-Type: text/html; charset=" + cs.name
	} else {
		a.Header[0] = "Content-Type: text/html"
	}
	for _, l := range links {
		if l.spell == header {
			a.Header = append(a.Header, "Link: <"+w.url(l.to)+">; rel=\"next\"")
		}
	}
}

// redirect answers with one of the redirects, its Location spelled one way or another.
func (w *Web) redirect(a *Answer, p place, d *dice) {
	to := w.next(p)
	location := w.target(to)
	switch roll := d.roll(4); {
	case roll == 1:
		location = "//" + w.Authority(int(to.host)) + location
	case to.host != p.host || roll == 2:
		location = w.url(to)
	case roll == 0:
		location += "#part"
	case to.kind == p.kind: // in the same folder
		location = location[len(w.target(place{host: p.host, kind: p.kind, n: p.n}))-1:]
	}
	a.Status = redirects[int(p.n+p.sub)%len(redirects)]
	a.Header = append(a.Header, "Location: "+location)
	a.Body = []byte("<title>Moved</title><a href=\"/decoy/3xx\">x</a>")
}

// fails returns how often a place refuses before it answers.
func (w *Web) fails(p place) int {
	d := w.dice(saltFlaky, p)
	switch {
	case p.kind == page && p.n > 0 && d.unit() < w.cfg.Rates.Flaky:
	case p.kind == robotsTxt && p.sub == 0 && w.robots(int(p.host)) == robotsShy:
	default:
		return 0
	}
	return 1 + d.roll(w.cfg.Fails)
}

// refuse answers that the client is to come again.
func (w *Web) refuse(a Answer, p place) Answer {
	a.Status = w.refusal(p)
	if p.kind == page && p.n/2%2 == 0 {
		a.RetryAfter, a.RetryDate = time.Second, p.n/4%2 == 1
	}
	return a
}

// refusal is the status of a refusing place.
func (w *Web) refusal(p place) int {
	if p.kind == page && p.n%2 == 0 {
		return 429
	}
	return 503
}

// delay is how long it takes a place to answer.
func (w *Web) delay(p place) (d time.Duration) {
	if w.cfg.Latency > 0 {
		roll := w.dice(saltLatency, p)
		d = time.Duration(roll.unit() * float64(w.cfg.Latency))
	}
	if w.slow(p) {
		d += w.cfg.SlowDelay
	}
	return d
}

// slow reports whether a place takes SlowDelay.
func (w *Web) slow(p place) bool {
	return p.kind == page && p.n > 0 && w.has(saltSlow, p, w.cfg.Rates.Slow) ||
		p.host > 0 && w.has(saltSlowHost, place{host: p.host}, w.cfg.Rates.SlowHost)
}

package webtest

import "time"

// Framing is a response's mark of the end of its body.
type Framing uint8

const (
	Length  Framing = iota // Content-Length
	Chunked                // Transfer-Encoding
	Close                  // the end of the connection
)

// Fault is a defect of a response.
type Fault uint8

const (
	Whole       Fault = iota // none
	Drop                     // the connection ends without a response
	CutLength                // the connection ends before Content-Length
	CutChunks                // the connection ends within a chunk
	Garbage                  // not HTTP
	FalseCoding              // Content-Encoding: gzip, but the body is not
	ShortLength              // more bytes than Content-Length
	StallHead                // no byte, and no end
	StallBody                // half a body, and no end
	Drip                     // an endless body, a few bytes at a time
	Bomb                     // a small gzip body that decompresses to a huge one
)

// endless reports whether only the client can end the response.
func (f Fault) endless() bool { return f == StallHead || f == StallBody || f == Drip }

// faults are the faults of broken resources, by n modulo their number, with the fate of the URL.
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

// hostilities are the faults of hostile resources.
var hostilities = [...]struct {
	fault Fault
	fate  Fate
}{
	{Drip, Fate{Error: ErrorStall}},
	{Bomb, Fate{Error: ErrorBomb}},
}

// failures are the statuses of resources that always fail.
var failures = [...]int{500, 501, 502, 504}

// Response is a server's response to one request.
type Response struct {
	Status  int
	Header  []string      // "Name: value", without the fields of Framing and Gzip
	Body    []byte        // before Gzip
	Delay   time.Duration // before the response
	Framing Framing
	Gzip    bool // if the client accepts it
	Fault   Fault

	RetryAfter time.Duration // 0: no such field
	RetryDate  bool          // as a date, not in seconds
	until      time.Time     // that date, once the response has it
}

// Response returns the response to a GET request with a Host field and target, after a number of
// earlier requests for the same resource.
func (w *Web) Response(host, target string, before int) Response {
	p, ok := w.locate(host, target)
	if !ok {
		return Response{Status: 421} // Misdirected Request
	}
	return w.respond(p, before)
}

func (w *Web) respond(p resource, before int) Response {
	a := Response{Status: 200, Header: []string{"Content-Type: text/html; charset=utf-8"}}
	a.Delay = w.delay(p)
	if before < w.fails(p) {
		return w.refuse(a, p)
	}
	d := w.draws.dice(saltFraming, p)
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
	case page, private, missing, day, maze, listedPage:
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

// describe fills in a page.
func (w *Web) describe(a *Response, p resource) {
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

// redirect fills in a redirect, whose Location is spelled in one of several ways.
func (w *Web) redirect(a *Response, p resource, d *dice) {
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
		location = location[len(w.target(resource{host: p.host, kind: p.kind, n: p.n}))-1:]
	}
	a.Status = redirects[int(p.n+p.sub)%len(redirects)]
	a.Header = append(a.Header, "Location: "+location)
	a.Body = []byte("<title>Moved</title><a href=\"/decoy/3xx\">x</a>")
}

// refuse fills in a refusal, some with a Retry-After.
func (w *Web) refuse(a Response, p resource) Response {
	a.Status = w.refusal(p)
	if p.kind == page && p.n/2%2 == 0 {
		a.RetryAfter, a.RetryDate = time.Second, p.n/4%2 == 1
	}
	return a
}

// refusal returns the status of a refusal.
func (w *Web) refusal(p resource) int {
	if p.kind == page && p.n%2 == 0 {
		return 429
	}
	return 503
}

// delay returns how long a resource takes to respond.
func (w *Web) delay(p resource) (d time.Duration) {
	if w.cfg.Latency > 0 {
		roll := w.draws.dice(saltLatency, p)
		d = time.Duration(roll.unit() * float64(w.cfg.Latency))
	}
	if w.slow(p) {
		d += w.cfg.SlowDelay
	}
	return d
}

// slow reports whether a resource takes SlowDelay.
func (w *Web) slow(p resource) bool {
	return p.kind == page && p.n > 0 && w.draws.has(saltSlow, p, w.cfg.Rates.Slow) ||
		p.host > 0 && w.draws.has(saltSlowHost, resource{host: p.host}, w.cfg.Rates.SlowHost)
}

// fails returns how often a resource refuses at first.
func (w *Web) fails(p resource) int {
	d := w.draws.dice(saltFlaky, p)
	switch {
	case p.kind == page && p.n > 0 && d.unit() < w.cfg.Rates.Flaky:
	case p.kind == robotsTxt && p.sub == 0 && w.robots(int(p.host)) == robotsShy:
	default:
		return 0
	}
	return 1 + d.roll(w.cfg.Fails)
}

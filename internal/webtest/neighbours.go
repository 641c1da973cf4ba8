package webtest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Neighbour is a site, or many, that may hurt the healthy sites of a crawl.
type Neighbour struct {
	Name        string
	Short, Long int      // origins, or what the name counts, in tests and in full
	Flags       []string // that the crawl needs
	Loops       int      // fetch loops of the crawl; 0: any number

	serve  func(n int) http.HandlerFunc
	ports  func() (int, io.Closer, error) // of the healthy host, to link to; nil: none
	alias  bool                           // one more origin is at the healthy site's address
	single bool                           // there is one origin
}

// Neighbours are the scenarios of make proof-neighbours.
func Neighbours() []Neighbour {
	each := func(h http.HandlerFunc) func(int) http.HandlerFunc {
		return func(int) http.HandlerFunc { return h }
	}
	return []Neighbour{
		{Name: "links to closed ports of the healthy host", Short: 40, Long: 300, ports: refusingPort},
		{Name: "links to silent ports of the healthy host", Short: 4, Long: 100, ports: mutePort},
		{Name: "origins that send 15 MB at 300 KB a second", Short: 20, Long: 60, serve: each(trickle(15<<20, 6<<20, 300<<10))},
		{Name: "origins that send 1 MB at 40 KB a second", Short: 100, Long: 1000, serve: each(trickle(1<<20, 256<<10, 40<<10))},
		{Name: "origins whose heads come at a byte a second", Short: 100, Long: 1000, serve: each(slowHead)},
		{Name: "origins that ask for an hour, one at the same address", Short: 10, Long: 60, serve: each(retryLater("3600")), alias: true},
		{Name: "origins of 50 pages that stall", Short: 60, Long: 600, serve: each(stall)},
		{Name: "origins that respond 503 or 429 for ever", Short: 20, Long: 60, serve: each(retryLater(""))},
		{Name: "origins with a Crawl-delay of an hour", Short: 20, Long: 60, serve: each(delayed)},
		{Name: "origins of 16 MB in windows-874, gzip, 2 loops", Short: 0, Long: 60, Loops: 2, serve: each(thai)},
		{Name: "origins of 16 MB in windows-874, gzip, 8 loops", Short: 2, Long: 60, Loops: 8, serve: each(thai)},
		{Name: "origins of 16 MB in windows-874, gzip, 16 loops", Short: 0, Long: 60, Loops: 16, serve: each(thai)},
		{Name: "sitemaps that decompress to 50 MB", Short: 1, Long: 20, Flags: []string{"--sitemaps"}, serve: each(sitemapBomb)},
		{Name: "honest sitemaps of 50,000 URLs on one origin", Short: 1, Long: 100, Flags: []string{"--sitemaps"}, serve: sitemaps, single: true},
		{Name: "origins with an honest sitemap of 50,000 URLs", Short: 0, Long: 100, Flags: []string{"--sitemaps"}, serve: each(sitemaps(1))},
		{Name: "sitemaps of the same 50,000 URLs on one origin", Short: 0, Long: 100, Flags: []string{"--sitemaps"}, serve: sameSitemaps, single: true},
		{Name: "origins of pages that amplify by <base>", Short: 1, Long: 40, serve: each(amplify)},
	}
}

// knownFrom is the number of pages of the healthy site that are sent before the crawl hears of the
// neighbour.
const knownFrom = 20

// Places of the sites, on loopback addresses: the healthy one, and the first origin of others.
const (
	healthyAddr    = "127.2.0.1"
	elsewhereAddr  = "127.2.1.1"
	neighboursFrom = 127<<24 | 3<<16 | 1
)

// Healthy is a site whose pages come within Latency each, and perhaps a neighbour beside it.
type Healthy struct {
	Home  string          // its first page, which links to all others
	Seeds []string        // Home, and a page of another site, which links to the neighbour
	Flags []string        // that the crawl needs
	Whole <-chan struct{} // closed when every page was sent

	pages   int
	latency time.Duration
	links   string // to the neighbour
	known   chan struct{}
	whole   chan struct{}
	closers closers
	mu      struct {
		sync.Mutex
		sent map[string]bool
	}
}

// ServeHealthy serves a healthy site of a number of pages beside n of a neighbour; 0: none.
func ServeHealthy(pages int, latency time.Duration, beside Neighbour, n int) (_ *Healthy, err error) {
	h := &Healthy{pages: pages, latency: latency, known: make(chan struct{}), whole: make(chan struct{})}
	h.Whole, h.mu.sent = h.whole, make(map[string]bool)
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	home, err := h.listen(healthyAddr, h.respond)
	if err != nil {
		return nil, err
	}
	h.Home, h.Flags = "http://"+home+"/", beside.Flags
	h.Seeds = []string{h.Home}
	if n == 0 {
		return h, nil
	}
	elsewhere, err := h.listen(elsewhereAddr, h.linkToNeighbour)
	if err != nil {
		return nil, err
	}
	h.Seeds, h.Flags = append(h.Seeds, "http://"+elsewhere+"/"), append([]string{"--scope", "any"}, h.Flags...)
	if beside.ports != nil {
		return h, h.reserve(beside.ports, n)
	}
	at, err := h.listen("0.0.0.0", beside.serve(n))
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(at) // a listener has one
	if beside.alias {
		h.links = "<a href=http://neighbour.test:" + port + "/>"
		h.Flags = append(h.Flags, "--resolve", "neighbour.test:"+port+":"+healthyAddr)
	}
	if beside.single {
		n = 1
	}
	for i := range n {
		ip := neighboursFrom + i
		h.links += fmt.Sprintf("<a href=http://127.%d.%d.%d:%s/>", ip>>16&255, ip>>8&255, ip&255, port)
	}
	return h, nil
}

// listen serves an address at a free port.
func (h *Healthy) listen(addr string, handler http.HandlerFunc) (at string, err error) {
	ln, err := net.Listen("tcp", addr+":0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: handler}
	h.closers = append(h.closers, s)
	go func() { _ = s.Serve(ln) }() // until it is closed
	return ln.Addr().String(), nil
}

// reserve makes links to n ports of the healthy host.
func (h *Healthy) reserve(port func() (int, io.Closer, error), n int) error {
	var all sync.WaitGroup
	var failed error
	for range n { // at once: a mute port takes a time-out each
		all.Go(func() {
			p, c, err := port()
			h.mu.Lock()
			defer h.mu.Unlock()
			if err != nil {
				failed = err
				return
			}
			h.closers = append(h.closers, c)
			h.links += fmt.Sprintf("<a href=http://%s:%d/>", healthyAddr, p)
		})
	}
	all.Wait()
	return failed
}

// linkToNeighbour serves a page that links to the neighbour, once the crawl knows the healthy site.
func (h *Healthy) linkToNeighbour(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	select {
	case <-h.known:
	case <-r.Context().Done():
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, h.links) // the crawler may leave
}

// respond serves a page of the healthy site.
func (h *Healthy) respond(w http.ResponseWriter, r *http.Request) {
	wait(r, h.latency)
	if n, err := strconv.Atoi(r.URL.Path[1:]); r.URL.Path != "/" && (err != nil || n >= h.pages) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	var b strings.Builder
	fmt.Fprintf(&b, "<p>Page %s of a healthy site.</p>", r.URL.Path)
	if r.URL.Path == "/" {
		for i := range h.pages - 1 {
			fmt.Fprintf(&b, "<a href=/%d>", i+1)
		}
	}
	_, _ = io.WriteString(w, b.String()) // the crawler may leave
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.sent[r.URL.Path] {
		return
	}
	h.mu.sent[r.URL.Path] = true
	switch len(h.mu.sent) {
	case knownFrom:
		close(h.known)
	case h.pages:
		close(h.whole)
	}
}

// Sent returns how many pages of the healthy site were sent.
func (h *Healthy) Sent() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.mu.sent)
}

// Close ends the servers.
func (h *Healthy) Close() error { return h.closers.Close() }

// wait waits, until the client leaves at most; false: it has left.
func wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// trickle returns a handler that announces size bytes, sends the first of them at once, and the
// rest at a rate per second.
func trickle(size, first, rate int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, err := io.WriteString(w, strings.Repeat("<p>", first/3))
		for err == nil && wait(r, time.Second/4) {
			_, err = io.WriteString(w, strings.Repeat("x", rate/4))
			w.(http.Flusher).Flush()
		}
	}
}

// slowHead sends a head at a byte a second.
func slowHead(w http.ResponseWriter, r *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	head := "HTTP/1.1 200 OK\r\nX-Field: " + strings.Repeat("x", 1000)
	if r.URL.Path == "/robots.txt" {
		// The crawler may leave.
		_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; i < len(head) && err == nil; i++ {
		_, err = io.WriteString(c, head[i:i+1])
		<-tick.C
	}
}

// retryLater responds 503 or 429 to everything but robots.txt, with a Retry-After field if there is
// a value for it.
func retryLater(after string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		status := http.StatusServiceUnavailable
		if strings.HasPrefix(r.Host, "127.3.0.1") {
			status = http.StatusTooManyRequests
		}
		w.WriteHeader(status)
	}
}

// stall serves a page of 50 links to pages that never come.
func stall(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/robots.txt":
		http.NotFound(w, r)
	case "/":
		w.Header().Set("Content-Type", "text/html")
		for i := range 50 {
			fmt.Fprintf(w, "<a href=/%d>", i)
		}
	default:
		<-r.Context().Done()
	}
}

// delayed serves a robots.txt that asks for an hour between requests, and ten pages.
func delayed(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		_, _ = io.WriteString(w, "User-agent: *\nCrawl-delay: 3600\n") // the crawler may leave
		return
	}
	w.Header().Set("Content-Type", "text/html")
	for i := range 10 {
		fmt.Fprintf(w, "<a href=/%d>", i)
	}
}

// zip compresses a beginning and repetitions of a piece up to a size.
func zip(begin, piece string, size int) []byte {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, begin)
	pieces := strings.Repeat(piece, 1+64<<10/len(piece))
	for n := 0; n < size; n += len(pieces) {
		_, _ = io.WriteString(z, pieces[:min(len(pieces), size-n)])
	}
	_ = z.Close() // like the writes before: a strings.Builder fails never
	return []byte(b.String())
}

var zippedThai = sync.OnceValue(func() []byte { return zip("", "\xa1\xd2\xc3 ", 16<<20) })

// thai sends a short body that becomes one of 16 MB, and nearly three times as much in UTF-8.
func thai(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=windows-874")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(zippedThai()) // the crawler may leave
}

var zippedSitemap = sync.OnceValue(func() []byte {
	return zip("<urlset>", "<url><loc>/the-path-of-a-page-of-the-site</loc></url>\n", 50<<20)
})

// sitemapBomb names ten sitemaps of 50 MB, compressed.
func sitemapBomb(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/robots.txt":
		for i := range 10 {
			fmt.Fprintf(w, "Sitemap: http://%s/map/%d.xml.gz\n", r.Host, i)
		}
	case strings.HasPrefix(r.URL.Path, "/map/"):
		w.Header().Set("Content-Type", "application/gzip")
		_, _ = w.Write(zippedSitemap()) // the crawler may leave
	}
}

// sitemaps names n sitemaps of 50,000 different URLs.
func sitemaps(n int) http.HandlerFunc { return mapped(n, func(at string) string { return at }) }

// sameSitemaps names n sitemaps of the same 50,000 URLs.
func sameSitemaps(n int) http.HandlerFunc { return mapped(n, func(string) string { return "" }) }

// mapped names n sitemaps, whose URLs begin with the prefix for the path of each.
func mapped(n int, prefix func(at string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			for i := range n {
				fmt.Fprintf(w, "Sitemap: http://%s/map/%d.xml\n", r.Host, i)
			}
		case strings.HasPrefix(r.URL.Path, "/map/"):
			w.Header().Set("Content-Type", "application/xml")
			_, _ = w.Write(urlset("http://" + r.Host + prefix(r.URL.Path))) // the crawler may leave
		}
	}
}

// urlset returns a sitemap of 50,000 URLs below a prefix. It takes a millisecond, as the healthy
// site has the same server.
func urlset(prefix string) []byte {
	b := []byte("<urlset>")
	for i := range 50_000 {
		b = append(append(b, "<url><loc>"...), prefix...)
		b = strconv.AppendInt(append(b, "/a/page/of/the/site/"...), int64(i), 10)
		b = append(b, "</loc></url>\n"...)
	}
	return append(b, "</urlset>"...)
}

// manyLinks are the links of a page of amplify.
var manyLinks = sync.OnceValue(func() string {
	var b strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&b, "<a href=%d>", i)
	}
	return b.String()
})

// amplify serves short pages whose <base> makes megabytes of links.
func amplify(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	last := r.URL.Path[max(0, len(r.URL.Path)-10):]
	// The crawler may leave.
	_, _ = fmt.Fprintf(w, "<base href=/%s%s/>%s", strings.Repeat("x", 1800), strings.ReplaceAll(last, "/", "_"), manyLinks())
}

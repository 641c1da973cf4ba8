package fetch_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestLongPagesAreReadInTurn checks that when many pages arrive at once, each long one is parsed in
// a loop iteration of its own, and that they do not delay a short one.
func TestLongPagesAreReadInTurn(t *testing.T) {
	const n = 8
	long := "<a href=/next>" + strings.Repeat("a long page ", 100_000)
	short := "<a href=/next>a short page"
	netw := aiotest.NewNet(aiotest.NetOptions{})
	netw.Host("site.test", "10.0.0.1")
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})

	turn, found, ticking := 0, 0, false
	var tick func()
	tick = func() {
		if turn++; ticking && found < n+1 {
			loop.CallSoon(tick)
		}
	}
	read := make(map[int][]string) // request targets by loop iteration
	o := weft.Options{Seeds: []string{"http://site.test/short"}, Pace: weft.Pace{PerHost: n + 1}, Reach: weft.Reach{NoRobots: true, Scope: weft.ScopePage}}
	o.Hooks.OnLink = func(from weburl.URL, _ links.Link) weft.Verdict {
		if !ticking {
			ticking = true
			loop.CallSoon(tick)
		}
		found++
		read[turn] = append(read[turn], from.RequestTarget())
		return weft.Verdict{}
	}
	for i := range n {
		o.Seeds = append(o.Seeds, fmt.Sprintf("http://site.test/long/%d", i))
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(task *aio.Task, conn aio.Conn) error {
		defer conn.Close()
		r := aio.NewReader(loop, conn)
		defer r.Close()
		head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return crawltest.Ignore(err, io.EOF)
		}
		body := short
		if strings.Contains(string(head), " /long/") {
			body = long
		}
		w := crawltest.Writer(task, conn)
		if _, err := fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)-1]); err != nil {
			return err
		}
		if err := task.SleepUntil(aiotest.Epoch.Add(time.Second)); err != nil {
			// All pages complete at once.
			return err
		}
		_, err = w.Write([]byte(body[len(body)-1:]))
		return err
	}
	err = loop.Run(t.Context(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("site", func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for {
						conn, err := ln.Accept(task)
						if err != nil {
							return crawltest.Ignore(err, aio.ErrClosed)
						}
						g.Go("server", func(task *aio.Task) error { return serve(task, conn) })
					}
				})
			})
			defer ln.Close()
			_, err := c.RunOn(task)
			ticking = false
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for turn, targets := range read {
		longs := 0
		for _, target := range targets {
			if pages++; strings.HasPrefix(target, "/long/") {
				longs++
			} else if turn > 0 {
				t.Errorf("the short page was parsed in iteration %d", turn)
			}
		}
		if longs > 1 {
			t.Errorf("iteration %d: %q were parsed together", turn, targets)
		}
	}
	if pages != n+1 {
		t.Errorf("%d pages parsed, expected %d", pages, n+1)
	}
}

// TestTooManyLinks checks that only the first 100,000 links of a page are followed.
func TestTooManyLinks(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/":   strings.Repeat("<a href=http://b.test/>", 99_999) + crawltest.Links("/in", "/beyond"),
		"http://a.test/in": strings.Repeat("<a href=http://b.test/>", 100_000),
	}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
	if len(got) != 2 || sum.NotFollowed["too-many"] != 1 || sum.NotFollowed["scope"] != 199_999 {
		t.Errorf("%d records, not followed: %v", len(got), sum.NotFollowed)
	}
}

// TestLongLinks checks that a small page whose links become huge, by a long base or by its own long
// URL, costs no more than others, and that an overlong URL is not requested.
func TestLongLinks(t *testing.T) {
	base := func(n int, links string) string {
		return "<base href=http://a.test/" + strings.Repeat("a", n) + "/>" + links
	}
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "<a href=%d>", i)
	}
	at := "http://a.test/" + strings.Repeat("p", 3<<10)
	for name, c := range map[string]struct {
		w    crawltest.Web
		seed string
		want map[string]int
	}{
		"a base":         {w: crawltest.Web{"http://a.test/": base(8<<10, many.String())}, want: map[string]int{"too-many": 1, "depth": mostLinkText(8<<10+many.Len()) / (8<<10 + 30)}},
		"a longer one":   {w: crawltest.Web{"http://a.test/": base(60<<10, many.String())}, want: map[string]int{"too-many": 1, "too-long": mostLinkText(60<<10+many.Len()) / (60<<10 + 30)}},
		"a foreign one":  {w: crawltest.Web{"http://a.test/": "<base href=foo:/" + strings.Repeat("a", 60<<10) + "/>" + many.String()}, want: map[string]int{"too-many": 1}},
		"the page's own": {w: crawltest.Web{at: strings.Repeat("<a href=//b.test/>", 12_000)}, seed: at, want: map[string]int{"too-many": 1, "scope": maxLinkText / (3<<10 + 31)}},
		"one link":       {w: crawltest.Web{"http://a.test/": "<a href=/" + strings.Repeat("a", 16<<10) + "><a href=b>"}, want: map[string]int{"too-long": 1, "depth": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.seed == "" {
				c.seed = "http://a.test/"
			}
			_, sum, _ := c.w.Crawl(t, weft.Options{Seeds: []string{c.seed}, Reach: weft.Reach{Depth: -1}})
			for reason, n := range c.want {
				if got := sum.NotFollowed[reason]; got < n*99/100 || got > n*101/100 {
					t.Errorf("%s: %d, expected about %d: %v", reason, got, n, sum.NotFollowed)
				}
			}
		})
	}
}

// maxLinkText is the limit for the text of all links of a page and its own URL with each, in bytes.
const maxLinkText = 32 << 20

// mostLinkText is the limit for the text of all links of a page of n bytes.
func mostLinkText(n int) int { return 256<<10 + 16*n }

// TestLongSitemapTakesTurns checks that a long sitemap is read in parts, whose URLs are admitted
// before the next is read, and between which everything else on the loop has its turn.
func TestLongSitemapTakesTurns(t *testing.T) {
	const entries = 20_000
	netw := aiotest.NewNet(aiotest.NetOptions{})
	netw.Host("a.test", "10.0.0.1")
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		if _, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192); err != nil {
			return crawltest.Ignore(err, io.EOF)
		}
		var b strings.Builder
		b.WriteString("<urlset>")
		for i := range entries {
			fmt.Fprintf(&b, "<url><loc>http://a.test/a/page/of/the/site/%d</loc></url>", i)
		}
		_, err := fmt.Fprintf(crawltest.Writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n%s</urlset>", &b)
		return err
	}
	turns, first, last := 0, 0, 0
	var tick func()
	o := weft.Options{Seeds: []string{"http://a.test/sitemap.xml"}, Reach: weft.Reach{Sitemaps: true, NoRobots: true}, Limits: weft.Limits{Limit: 1}}
	o.Hooks.OnLink = func(weburl.URL, links.Link) weft.Verdict {
		if first == 0 {
			first = 1
			tick()
		}
		last = turns
		return weft.Verdict{}
	}
	read, ended := 0, false
	o.Hooks.OnRecord = func(r *weft.Record) { read, ended = last, true }
	got, sum := crawltest.CrawlServed(t, netw, o, serve, func(l *aio.Loop, _ *crawl.Crawl) {
		tick = func() {
			if turns++; !ended {
				l.CallSoon(tick)
			}
		}
	})
	if r := got["http://a.test/sitemap.xml"]; r.NewLinks != entries || sum.Pending != entries {
		t.Errorf("%d new links and %d pending URLs, expected %d", r.NewLinks, sum.Pending, entries)
	}
	if read < 12 {
		t.Errorf("read in %d turns, expected 12 at least", read)
	}
}

// TestLongPageTakesTurns checks that a long page is read in parts, between which everything else
// on the loop has its turn, and the page of another host is read.
func TestLongPageTakesTurns(t *testing.T) {
	for name, bulk := range map[string]string{"text": "\xa1\xd2\xc3 ", "paragraphs": "<p>\xa1\xd2\xc3", "tags": "<b></b>"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			netw := aiotest.NewNet(aiotest.NetOptions{})
			netw.Host("long.test", "10.0.0.1")
			netw.Host("short.test", "10.0.0.2")
			var reading aio.Event
			serve := func(task *aio.Task, conn aio.Conn) error {
				r := aio.NewReader(task.Loop(), conn)
				defer r.Close()
				request, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
				if err != nil {
					return crawltest.Ignore(err, io.EOF)
				}
				page := "<a href=/>"
				if bytes.Contains(request, []byte("long.test")) {
					page = "<a href=/first></a>" + strings.Repeat(bulk, 4<<20/len(bulk)) + "<nav></nav><a href=/last>"
				} else if err := reading.Wait(task); err != nil {
					return err
				}
				_, err = fmt.Fprintf(crawltest.Writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=windows-874\r\n\r\n%s", page)
				return err
			}
			turns, within, ended := 0, 0, false
			var tick func()
			var order []string
			o := weft.Options{Seeds: []string{"http://long.test/", "http://short.test/"}, Reach: weft.Reach{NoRobots: true, Depth: 1}}
			o.Hooks.OnLink = func(on weburl.URL, l links.Link) weft.Verdict {
				if order = append(order, l.URL.String()); l.URL.RequestTarget() == "/first" {
					reading.Set()
					tick()
				}
				within = turns
				return weft.Verdict{Decision: weft.Drop}
			}
			o.Hooks.OnRecord = func(r *weft.Record) { ended = ended || r.URL == "http://long.test/" }
			crawltest.CrawlServed(t, netw, o, serve, func(l *aio.Loop, _ *crawl.Crawl) {
				tick = func() {
					if turns++; !ended {
						l.CallSoon(tick)
					}
				}
			})
			if want := []string{"http://long.test/first", "http://short.test/", "http://long.test/last"}; !slices.Equal(order, want) {
				t.Errorf("links in the order %q, expected %q", order, want)
			}
			if within < 20 {
				t.Errorf("read in %d turns, expected 20 at least", within)
			}
		})
	}
}

// TestManyBigPages checks that pages of many links on hosts that nothing is known of hold up each
// other, until their links are saved, but not a host that responds promptly.
func TestManyBigPages(t *testing.T) {
	t.Parallel()
	const hosts, prompt, most = 20, 8, 8
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("prompt.test", "10.0.0.1")
	o := weft.Options{Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{PerHost: 1}, Limits: weft.Limits{Limit: hosts + prompt}}
	for i := range prompt {
		o.Seeds = append(o.Seeds, fmt.Sprintf("http://prompt.test/%d", i))
	}
	for i := range hosts {
		name := fmt.Sprintf("big%d.test", i)
		netw.Host(name, fmt.Sprintf("10.0.1.%d", i))
		o.Seeds = append(o.Seeds, "http://"+name+"/")
	}
	var anchors strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&anchors, "<a href=%d>", i)
	}
	big := "<base href=/" + strings.Repeat("x", 1800) + "/>" + anchors.String()
	var asked, sent aio.Event // the last prompt page, and all big ones
	bigs := 0
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		request, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return crawltest.Ignore(err, io.EOF)
		}
		page, isBig := "<a href=/x>", !bytes.Contains(request, []byte("prompt.test"))
		if isBig {
			page, err = big, asked.Wait(task)
		} else if bytes.Contains(request, fmt.Appendf(nil, "/%d ", prompt-1)) {
			asked.Set()
			err = sent.Wait(task)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(crawltest.Writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s", page)
		if isBig {
			if bigs++; bigs == hosts {
				sent.Set()
			}
		}
		return err
	}
	before := make(map[string]bool) // hosts whose page was read before the last one of the prompt host
	found := false
	o.Hooks.OnLink = func(on weburl.URL, _ links.Link) weft.Verdict {
		found = found || on.String() == fmt.Sprintf("http://prompt.test/%d", prompt-1)
		if !found {
			before[on.Hostname()] = true
		}
		return weft.Verdict{}
	}
	crawltest.CrawlServed(t, netw, o, serve, func(*aio.Loop, *crawl.Crawl) {})
	if !found || len(before) > most {
		t.Errorf("found %v after the pages of %d hosts, expected true after at most %d", found, len(before), most)
	}
}

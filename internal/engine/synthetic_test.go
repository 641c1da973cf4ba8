package engine_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// site is a small synthetic web on one host that counts its requests.
type site struct {
	pages map[string]page // by path and query
	hits  map[string]int  // requests, by path and query
	most  int             // peak of concurrent requests
	now   int             // concurrent requests
}

type page struct {
	status   int
	location string
	body     string
	how      string        // "", "chunked", "gzip", "close" or "drop" (break each connection)
	fails    int           // number of 503 responses before the page
	delay    time.Duration // before the response
}

// newSite generates n pages from a seed: a tree of pages with links up, down and across in every
// syntax, redirects that form chains and loops, dead links, and late and broken responses.
func newSite(seed uint64, n int) *site {
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := &site{pages: make(map[string]page), hits: make(map[string]int)}
	path := func(i int) string {
		if i == 0 {
			return "/"
		}
		return fmt.Sprintf("/d%d/p%d.html", i%7, i)
	}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "<!doctype html><title>page %d</title><!-- <a href=/comment> -->", i)
		link := func(to string) {
			switch rnd.IntN(6) {
			case 0:
				fmt.Fprintf(&b, `<a href="%s#part">x</a>`, to)
			case 1:
				fmt.Fprintf(&b, "<A HREF='//site.test%s'>x</A>", to)
			case 2:
				fmt.Fprintf(&b, "<area href=http://site.test:80%s>", to)
			case 3:
				fmt.Fprintf(&b, `<iframe src="/d9/..%s"></iframe>`, to)
			case 4:
				fmt.Fprintf(&b, `<link rel=next href=" %s ">`, to)
			default:
				fmt.Fprintf(&b, `<a href="%s">x</a>`, to)
			}
		}
		for c := 3*i + 1; c <= 3*i+3 && c < n; c++ { // makes all pages reachable
			link(path(c))
		}
		for range rnd.IntN(6) {
			link(path(rnd.IntN(n)))
		}
		if i%5 == 0 {
			link(fmt.Sprintf("/go/%d", i)) // a redirect
		}
		if i%11 == 0 {
			link(fmt.Sprintf("/dead/%d", i))
		}
		b.WriteString(`<a href="http://elsewhere.test/">out</a><a href="mailto:x@site.test">mail</a><script>"<a href=/script>"</script>`)
		p := page{status: 200, body: b.String(), how: []string{"", "", "chunked", "gzip", "close"}[rnd.IntN(5)]}
		if i > 0 {
			p.delay = time.Duration(rnd.IntN(50)) * time.Millisecond
			if i%13 == 0 {
				p.fails = 1 + rnd.IntN(2)
			}
		}
		s.pages[path(i)] = p
		if i%5 == 0 { // two hops to a page that other pages link to
			s.pages[fmt.Sprintf("/go/%d", i)] = page{status: 301, location: fmt.Sprintf("/hop/%d", i/10)}
			s.pages[fmt.Sprintf("/hop/%d", i/10)] = page{status: 302, location: "http://site.test" + path(rnd.IntN(n))}
		}
	}
	root := s.pages["/"]
	root.body += `<a href="/loop/a">loop</a><a href="/drop">drop</a><a href="/gone">gone</a><a href="/long/0">long</a>`
	s.pages["/"] = root
	s.pages["/loop/a"] = page{status: 302, location: "b"}
	s.pages["/loop/b"] = page{status: 302, location: "a"}
	s.pages["/drop"] = page{how: "drop"}
	s.pages["/gone"] = page{status: 410, body: `<a href="/behind-an-error">x</a>`}
	for i := range 15 { // longer than the limit of redirects
		s.pages[fmt.Sprintf("/long/%d", i)] = page{status: 307, location: fmt.Sprintf("/long/%d", i+1)}
	}
	return s
}

// response returns the page for a target, or a 404.
func (s *site) response(target string) page {
	if p, ok := s.pages[target]; ok {
		return p
	}
	return page{status: 404, body: "no such page"}
}

// truth walks the site without any of the crawler's code. It returns the final status, 0 for no
// response, of every target that a crawl must finish.
func (s *site) truth(maxRedirects int) map[string]int {
	type step struct {
		target    string
		redirects int
	}
	done := make(map[string]int)
	queue := []step{{"/", maxRedirects}}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		if _, seen := done[v.target]; seen {
			continue
		}
		p := s.response(v.target)
		done[v.target] = p.status
		if p.location != "" && v.redirects > 0 {
			to := strings.TrimPrefix(p.location, "http://site.test")
			if !strings.HasPrefix(to, "/") {
				to = v.target[:strings.LastIndex(v.target, "/")+1] + to
			}
			queue = append(queue, step{to, v.redirects - 1})
		}
		if p.status != 200 {
			continue
		}
		for _, prefix := range []string{`<a href="`, "<A HREF='", "<area href=", `<iframe src="`, `<link rel=next href="`} {
			for rest := p.body; ; {
				_, after, ok := strings.Cut(rest, prefix)
				if !ok {
					break
				}
				rest = after
				to := strings.TrimSpace(after[:strings.IndexAny(after, `"'>`)])
				to, _, _ = strings.Cut(to, "#")
				for _, host := range []string{"//site.test", "http://site.test:80", "/d9/.."} {
					to = strings.TrimPrefix(to, host)
				}
				if strings.HasPrefix(to, "/") && to != "/comment" && to != "/script" {
					queue = append(queue, step{to, maxRedirects})
				}
			}
		}
	}
	return done
}

// serve accepts connections on ln until it is closed.
func (s *site) serve(task *aio.Task, ln aio.Listener) error {
	return task.Group(func(g *aio.Group) error {
		for {
			c, err := ln.Accept(task)
			if errors.Is(err, aio.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			g.Go("server", func(task *aio.Task) error { return s.talk(task, c) })
		}
	})
}

func (s *site) talk(task *aio.Task, c aio.Conn) error {
	defer c.Close()
	r := aio.NewReader(task.Loop(), c)
	defer r.Close()
	for {
		head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		target := strings.Fields(string(head))[1]
		s.now++
		s.most = max(s.most, s.now)
		p := s.response(target)
		if err := task.Sleep(p.delay); err != nil {
			return err
		}
		s.now--
		s.hits[target]++
		if p.how == "drop" {
			return nil
		}
		if s.hits[target] <= p.fails {
			p = page{status: 503}
		}
		if _, err := c.Write(task, p.bytes()); err != nil {
			return err
		}
		if p.how == "close" {
			return nil
		}
	}
}

func (p page) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d x\r\nContent-Type: text/html; charset=utf-8\r\n", p.status)
	if p.location != "" {
		fmt.Fprintf(&b, "Location: %s\r\n", p.location)
	}
	switch p.how {
	case "chunked":
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for piece := range slices.Chunk([]byte(p.body), 97) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(piece), piece)
		}
		b.WriteString("0\r\n\r\n")
	case "gzip":
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		io.WriteString(w, p.body)
		w.Close()
		fmt.Fprintf(&b, "Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", z.Len(), z.Bytes())
	case "close":
		fmt.Fprintf(&b, "Connection: close\r\n\r\n%s", p.body)
	default:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(p.body), p.body)
	}
	return b.Bytes()
}

// TestSyntheticSite checks that a generated site has what the tests rely on.
func TestSyntheticSite(t *testing.T) {
	truth := newSite(1, 200).truth(10)
	statuses := make(map[int]int)
	for _, status := range truth {
		statuses[status]++
	}
	if statuses[200] != 200 || statuses[301] != 40 || statuses[404] == 0 || statuses[410] != 1 || statuses[0] != 1 || statuses[307] != 11 {
		t.Errorf("statuses of the ground truth: %v", statuses)
	}
	if _, ok := truth["/behind-an-error"]; ok {
		t.Error("the ground truth follows a link on an error page")
	}
}

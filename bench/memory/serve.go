//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// size is the length of the large bodies, in bytes: the most that Weft reads.
const size = 16 << 20

// server is an HTTP server on a free port of this machine.
type server struct {
	port  string
	close func() error
}

func serve(handler http.HandlerFunc, config *tls.Config) (server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return server{}, err
	}
	if config != nil {
		ln = tls.NewListener(ln, config)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = s.Serve(ln) }() // until it is closed
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return server{port, func() error { stop(); return s.Close() }}, err
}

// slow sends a large body, within at least a quarter of a second.
func slow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", fmt.Sprint(size))
	piece := bytes.Repeat([]byte("x"), size/100)
	for left := size; left > 0; left -= len(piece) {
		piece = piece[:min(left, len(piece))]
		if _, err := w.Write(piece); err != nil {
			return
		}
		time.Sleep(2500 * time.Microsecond)
	}
}

// stalled sends a large body without its last byte.
func stalled(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", fmt.Sprint(size))
	_, _ = w.Write(bytes.Repeat([]byte("x"), size-1)) // the crawler may leave
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

var zipped = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(bytes.Repeat([]byte("x"), size))
	_ = z.Close()
	return b.Bytes()
})

var zippedThai = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(bytes.Repeat([]byte("\xa1\xd2\xc3 "), size/4))
	_ = z.Close()
	return b.Bytes()
})

// thai sends a short body that decompresses to the largest allowed size, and nearly takes three
// times as much in UTF-8.
func thai(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=windows-874")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(zippedThai()) // the crawler may leave
}

// longHead sends a head that is nearly as long as Weft reads, and a short body.
func longHead(w http.ResponseWriter, _ *http.Request) {
	for i := range 600 {
		w.Header().Set(fmt.Sprintf("X-Field-%d", i), strings.Repeat("x", 80))
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<p>A page.")) // the crawler may leave
}

// bomb sends a short body that decompresses to the largest allowed size.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(zipped())
}

// longRobots serves long rules, different for each host, and small pages.
func longRobots(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/robots.txt" {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<a href=/a><a href=/b><a href=/c>")) // the crawler may leave
		return
	}
	b := []byte("User-agent: *\n")
	for i := 0; len(b) < 500_000; i++ {
		b = fmt.Appendf(b, "Disallow: /%s/%d/*.php$\n", r.Host, i)
	}
	_, _ = w.Write(b)
}

var zippedSitemap = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintln(z, "<urlset>")
	const words = "the-first-words-of-a-path/and-some-of-its-second-part/which-go-on-in-the-third/and-are-as-long-as-others-"
	for i := range 100_000 {
		fmt.Fprintf(z, "<url><loc>/%s%06d.html</loc></url>\n", words, i) // of the host that sends it
	}
	fmt.Fprintln(z, "</urlset>")
	_ = z.Close()
	return b.Bytes()
})

// longSitemap serves no robots.txt, a sitemap of the largest size that Weft reads, and small pages.
func longSitemap(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/robots.txt":
		http.NotFound(w, r)
	case "/sitemap.xml":
		w.Header().Set("Content-Type", "application/gzip")
		_, _ = w.Write(zippedSitemap()) // the crawler may leave
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>A page.")) // the same
	}
}

// sitePages is the number of pages of the site.
const sitePages = 2000

// page serves a site whose pages link to fifty others each.
func page(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	b := fmt.Appendf(nil, "<!DOCTYPE html><html lang=en><title>Page %d</title><body>", n)
	for i := range 50 {
		b = fmt.Appendf(b, "<p>This is a paragraph of some words, the %dth of page %d, and it leads <a href='/%d' class=link>to another page</a>, of which it says something.</p>\n", i, n, (n*7+i*i)%sitePages)
		b = append(b, "<div class='box'><span>And there is text without links, as on most pages, so that there is something to be read beside them.</span></div>\n"...)
	}
	_, _ = w.Write(b) // the crawler may leave
}

// manyLinks sends pages of 10,000 links that no other page has.
func manyLinks(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "<a href='%s/some-page-of-this-site-%d'>", strings.TrimSuffix(r.URL.Path, "/"), i)
	}
	_, _ = w.Write([]byte(b.String())) // the crawler may leave
}

// longLinks sends a page of 64 links, each to a page of 200 KB whose base URL expands its links to
// 40 MB.
func longLinks(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	var b strings.Builder
	if r.URL.Path == "/" {
		for i := range 64 {
			fmt.Fprintf(&b, "<a href=/%d>", i)
		}
	} else {
		fmt.Fprintf(&b, "<base href='%s/%s/'>", r.URL.Path, strings.Repeat("x", 2000))
		for i := range 20_000 {
			fmt.Fprintf(&b, "<a href=%d>", i)
		}
	}
	_, _ = w.Write([]byte(b.String())) // the crawler may leave
}

//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/aio/aiotest"
)

// The two ways that are made of Coroutine.
var coroutineWays = []Way{Futures, Scheduler}

// A town is a small site that has what a crawl meets.
type town struct {
	*httptest.Server
	asked   atomic.Int32 // requests
	now     atomic.Int32 // requests under way
	most    atomic.Int32 // at once
	waiting chan string  // the paths of requests that get no answer
}

func newTown(t *testing.T) *town {
	t.Helper()
	s := &town{waiting: make(chan string, 100)}
	html := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, body)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", html(`<a href="a">a</a> <a href="/b/#top">b</a> <a href="b/">b</a> <a href="/moved">m</a> <a href="/none">404</a>
		<a href="empty">e</a> <a href="early">early</a> <a href="large">l</a> <a href="round">r</a> <a href="http://elsewhere.example/">x</a>`))
	mux.HandleFunc("/a", html(`<a href="./">home</a>`))
	mux.HandleFunc("/b/{$}", html(`<a href="../a">a</a> <a href="only-here">c</a>`))
	mux.HandleFunc("/b/only-here", html(`no link`))
	mux.Handle("/moved", http.RedirectHandler("/b/target#part", http.StatusMovedPermanently))
	mux.HandleFunc("/b/target", html(`arrived`))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	mux.HandleFunc("/empty", html(``))
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(largeBody)
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "not a hundred bytes")
	})
	mux.HandleFunc("/wait/{n}", func(_ http.ResponseWriter, r *http.Request) {
		s.waiting <- r.URL.Path
		<-r.Context().Done() // the client has gone
	})
	mux.HandleFunc("/waits", html(`<a href="/wait/1">1</a> <a href="/wait/2">2</a> <a href="/wait/3">3</a>`))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		now := s.now.Add(1)
		defer s.now.Add(-1)
		for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

var largeBody = bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB

// told is what a page is in a test: URL, status, size or error.
func told(p Page) string {
	if p.Err != nil {
		return p.URL + " error"
	}
	return fmt.Sprintf("%s %d %d", p.URL, p.Status, len(p.Body))
}

func TestFetch(t *testing.T) {
	for _, way := range coroutineWays {
		t.Run(way.Name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			site := newTown(t)
			refused := "http://" + refusedAddress(t) + "/"
			urls := []string{
				site.URL + "/a", site.URL + "/none", refused, site.URL + "/large", site.URL + "/empty",
				"ftp://example.com/", site.URL + "/early", site.URL + "/moved", "http://127.0.0.1:70000/", site.URL + "/a",
			}
			want := []string{"200 21", "404 19", "error", "200 1048576", "200 0", "error", "error", "301 49", "error", "200 21"}
			for _, atOnce := range []int{1, 3, 100} {
				pages, err := way.Fetch(t.Context(), urls, atOnce)
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range pages {
					if got := told(p); got != urls[i]+" "+want[i] {
						t.Errorf("%d at once: %s (%v), expected %s", atOnce, got, p.Err, want[i])
					}
				}
				if !bytes.Equal(pages[3].Body, largeBody) {
					t.Error("the large body came back changed")
				}
				if len(pages) != len(urls) {
					t.Errorf("%d pages of %d URLs", len(pages), len(urls))
				}
			}
			if pages, err := way.Fetch(t.Context(), nil, 3); len(pages) > 0 || err != nil {
				t.Errorf("of no URLs it made %v, %v", pages, err)
			}
		})
	}
}

// refusedAddress is one where nobody listens.
func refusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestCrawl(t *testing.T) {
	want := []string{"/ 200", "/a 200", "/b/ 200", "/b/only-here 200", "/b/target 200", "/early 0", "/empty 200", "/large 200", "/moved 301", "/none 404", "/round 302"}
	for _, way := range coroutineWays {
		for _, atOnce := range []int{1, 3, 100} {
			t.Run(fmt.Sprintf("%s, %d at once", way.Name, atOnce), func(t *testing.T) {
				aiotest.CheckLeaks(t)
				site := newTown(t)
				pages, err := way.Crawl(t.Context(), site.URL+"/#root", atOnce)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, p := range pages {
					if p.URL == site.URL+"/early" {
						p.Status = 0 // it has one, and an error
					}
					got = append(got, fmt.Sprint(strings.TrimPrefix(p.URL, site.URL), " ", p.Status))
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("it fetched\n%q, expected\n%q", got, want)
				}
				if n := int(site.asked.Load()); n != len(want) {
					t.Errorf("the site was asked %d times for %d pages", n, len(want))
				}
			})
		}
	}
}

func TestCrawlOfNothing(t *testing.T) {
	for _, way := range coroutineWays {
		root := "http://" + refusedAddress(t) + "/"
		pages, err := way.Crawl(t.Context(), root, 2)
		if err != nil || len(pages) != 1 || pages[0].Err == nil {
			t.Errorf("%s: a crawl of nobody gave %v, %v", way.Name, pages, err)
		}
		if pages, err := way.Crawl(t.Context(), "no URL", 2); err == nil {
			t.Errorf("%s: a crawl of no URL gave %v", way.Name, pages)
		}
	}
}

// At most so many requests are under way, and when they all wait, that many are.
func TestAtOnceAndCancel(t *testing.T) {
	for _, way := range coroutineWays {
		t.Run(way.Name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			site := newTown(t)
			urls := []string{site.URL + "/a", site.URL + "/b/"}
			for i := range 6 {
				urls = append(urls, fmt.Sprint(site.URL, "/wait/", i))
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				for range 3 {
					<-site.waiting
				}
				cancel(errOops)
			}()
			pages, err := way.Fetch(ctx, urls, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(pages) != len(urls) || told(pages[0]) != urls[0]+" 200 21" || pages[1].Err != nil {
				t.Errorf("what was fetched before it was cancelled is gone: %v", pages)
			}
			for i, p := range pages[2:] {
				if p.URL != urls[i+2] || !errors.Is(p.Err, errOops) {
					t.Errorf("after it was cancelled: %s: %v", p.URL, p.Err)
				}
			}
			if most := site.most.Load(); most != 3 {
				t.Errorf("%d requests were under way at once, expected 3", most)
			}

			if pages, err := way.Fetch(ctx, urls, 3); err != nil || !errors.Is(pages[0].Err, errOops) {
				t.Errorf("cancelled before it began, it returned %v, %v", pages, err)
			}
		})
	}
}

func TestCrawlCanceled(t *testing.T) {
	for _, way := range coroutineWays {
		t.Run(way.Name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			site := newTown(t)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for range 2 {
					<-site.waiting
				}
				cancel()
			}()
			pages, err := way.Crawl(ctx, site.URL+"/waits", 2)
			if err != nil || len(pages) != 1 || pages[0].Status != 200 {
				t.Errorf("it returned %v, %v; expected the page that it had", pages, err)
			}
		})
	}
}

// With no descriptor to be had the way fails, and gives back those that it had.
func TestNoDescriptors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel connects those whom nobody accepts, too
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	urls := slices.Repeat([]string{"http://" + l.Addr().String() + "/"}, 50)
	for _, way := range coroutineWays {
		t.Run(way.Name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			lowest, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // of those that are free
			if err != nil {
				t.Fatal(err)
			}
			unix.Close(lowest)
			var limit unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			less := limit
			less.Cur = uint64(lowest) + 20
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &less); err != nil {
				t.Fatal(err)
			}
			pages, err := way.Fetch(t.Context(), urls, len(urls))
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(err, unix.EMFILE) || len(pages) != len(urls) {
				t.Errorf("it returned %d pages and %v, expected EMFILE", len(pages), err)
			}
			for i, p := range pages {
				if p.URL != urls[i] || p.Err == nil {
					t.Errorf("page %d: %q, %v; expected an error", i, p.URL, p.Err)
				}
			}
		})
	}
}

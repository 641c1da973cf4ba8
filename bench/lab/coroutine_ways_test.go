//go:build linux

package lab

import (
	"errors"
	"net"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/aio/aiotest"
)

// The two ways built on Coroutine.
var coroutineWays = []Way{Futures, Scheduler}

// A crawl of a host that does not respond gives a page with an error; a crawl of no URL fails.
func TestCrawlOfNothing(t *testing.T) {
	for _, way := range coroutineWays {
		root := "http://" + refused(t) + "/"
		pages, err := way.Crawl(t.Context(), root, 2)
		if err != nil || len(pages) != 1 || pages[0].Err == nil {
			t.Errorf("%s: a crawl of nobody gave %v, %v", way.Name, pages, err)
		}
		if pages, err := way.Crawl(t.Context(), "no URL", 2); err == nil {
			t.Errorf("%s: a crawl of no URL gave %v", way.Name, pages)
		}
	}
}

// Without a free descriptor the way fails, and closes its own.
func TestNoDescriptors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel completes connections without accept
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	urls := slices.Repeat([]string{"http://" + l.Addr().String() + "/"}, 50)
	for _, way := range coroutineWays {
		t.Run(way.Name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			lowest, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // the lowest free one
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

//go:build linux

package lab

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/weburl"
)

// Threads runs the code of blocking.go, unchanged, in many threads: while one sleeps in the kernel,
// others run. That is why people love threads: code need not know about them, until two of them
// want the same thing; see [threadedCrawl].
//
// A thread costs a stack in the kernel and one outside, and each wait takes two thread switches, at
// the moments the kernel chooses.
var Threads = Way{
	Name:  "threads",
	About: "sleeps in the kernel for each page, each in a thread of its own",
	Fetch: threadsFetch,
	Crawl: threadsCrawl,
}

// maxThreads is the most threads that a way starts. At 10,000 the Go runtime ends the program, and
// it needs some for itself.
const maxThreads = 9_000

func threadsFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	work := make(chan int, len(urls))
	for i := range urls {
		work <- i
	}
	close(work)
	pages := make([]Page, len(urls))
	err := onThreads(min(atOnce, len(urls)), func() {
		known := make(addresses) // one per thread: a shared map would need a lock
		for i := range work {
			pages[i] = blockingGet(ctx, known, urls[i])
		}
	})
	return pages, err
}

func threadsCrawl(ctx context.Context, root string, atOnce int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	c := &threadedCrawl{}
	c.changed.L = &c.mu
	c.mu.todo = []string{first.Canonical().String()}
	c.mu.seen = map[string]bool{c.mu.todo[0]: true}
	err = onThreads(atOnce, func() {
		known := make(addresses)
		for {
			u, ok := c.take(ctx)
			if !ok {
				return
			}
			page := blockingGet(ctx, known, u)
			c.give(page, page.Next())
		}
	})
	return c.mu.pages, err
}

// onThreads runs work on n threads and waits until all have returned.
func onThreads(n int, work func()) error {
	if n > maxThreads {
		return fmt.Errorf("lab: %d threads: expected at most %d", n, maxThreads)
	}
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			// From here on the goroutine is its thread: the runtime runs it on no other,
			// runs no other on this one, and ends the thread with the goroutine.
			runtime.LockOSThread()
			if unix.Gettid() == unix.Getpid() {
				// Except the first thread of a process, which Go cannot end: it would park
				// for ever, so it is unlocked.
				defer runtime.UnlockOSThread()
			}
			work()
		})
	}
	running.Wait()
	return nil
}

// threadedCrawl is the state that the threads of a crawl share. Any of them may interrupt any other
// anywhere, so every access holds the lock. Without it the program would still compile, and mostly
// work.
type threadedCrawl struct {
	mu struct {
		sync.Mutex
		todo  []string
		seen  map[string]bool
		busy  int // threads that are fetching, and may find more to do
		pages []Page
	}
	changed sync.Cond // todo or busy
}

// take returns the next URL, or false when the crawl is over: nothing is left to do, and no thread
// could find more. A thread that finds the list empty must not leave earlier.
func (c *threadedCrawl) take(ctx context.Context) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.mu.todo) == 0 && c.mu.busy > 0 {
		c.changed.Wait() // releases the lock and sleeps in futex(2)
	}
	if len(c.mu.todo) == 0 || ctx.Err() != nil {
		return "", false
	}
	next := c.mu.todo[0]
	c.mu.todo = c.mu.todo[1:]
	c.mu.busy++
	return next, true
}

// give stores a page and the URLs that it leads to.
func (c *threadedCrawl) give(page Page, next []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.busy--
	c.mu.pages = append(c.mu.pages, page)
	for _, u := range next {
		if !c.mu.seen[u] {
			c.mu.seen[u] = true
			c.mu.todo = append(c.mu.todo, u)
		}
	}
	c.changed.Broadcast() // wakes all: this may have been the last page
}

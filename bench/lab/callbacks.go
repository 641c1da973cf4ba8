//go:build linux

package lab

import (
	"cmp"
	"context"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/weburl"
)

// Callbacks fetches many pages at once in one thread, which sleeps until one of them can proceed: a
// selector returns the sockets that are ready, and a loop calls the function registered for each.
// It is nearly as fast and small as can be. The reader pays the price: see the end of this file.
var Callbacks = Way{
	Name:  "callbacks",
	About: "one thread asks epoll which sockets are ready, and calls their callbacks",
	Fetch: callbacksFetch,
	Crawl: callbacksCrawl,
}

func callbacksFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	c := callbackCrawl{atOnce: atOnce, known: make(addresses), urlsTodo: slices.Clone(urls)}
	for _, u := range urls { // first: a look-up blocks, and later it would hold up all others
		if target, err := ParseTarget(u); err == nil {
			_, _ = c.known.resolve(ctx, target.Host)
		}
	}
	err := c.run(ctx)
	for _, u := range c.urlsTodo { // not fetched: ctx is done
		c.pages = append(c.pages, Page{URL: u, Err: cmp.Or(ctx.Err(), err)})
	}
	return c.pages, err
}

func callbacksCrawl(ctx context.Context, root string, atOnce int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	c := callbackCrawl{atOnce: atOnce, known: make(addresses), seenURLs: make(map[string]bool)}
	c.add(first.Canonical().String())
	err = c.run(ctx)
	return c.pages, err
}

// callbackCrawl is a crawl. One thread runs all of it, one callback after the other, without a
// lock.
type callbackCrawl struct {
	atOnce   int
	loop     callbackLoop
	known    addresses
	urlsTodo []string
	seenURLs map[string]bool // nil: follow no links
	inFlight map[*fetcher]bool
	pages    []Page // in the order of their starts
}

func (c *callbackCrawl) add(u string) {
	if !c.seenURLs[u] {
		c.seenURLs[u] = true
		c.urlsTodo = append(c.urlsTodo, u)
	}
}

// run fetches urlsTodo, and the URLs that pages lead to, until none is left.
func (c *callbackCrawl) run(ctx context.Context) error {
	if err := c.loop.open(); err != nil {
		return err
	}
	defer c.loop.close()
	c.inFlight = make(map[*fetcher]bool)
	for {
		for len(c.urlsTodo) > 0 && len(c.inFlight) < c.atOnce && ctx.Err() == nil {
			f := &fetcher{crawl: c, at: len(c.pages), fd: -1}
			c.pages = append(c.pages, Page{URL: c.urlsTodo[0]})
			c.urlsTodo = c.urlsTodo[1:]
			c.inFlight[f] = true
			f.fetch(ctx)
		}
		if len(c.inFlight) == 0 && (len(c.urlsTodo) == 0 || ctx.Err() != nil) {
			return nil
		}
		err := c.loop.turn()
		if gone := cmp.Or(err, ctx.Err()); gone != nil {
			for f := range c.inFlight {
				f.done(gone)
			}
		}
		if err != nil {
			return err
		}
	}
}

// fetcher fetches one page: fetch, then connected, then readResponse, then done. Each does what it
// can do now, registers the function to call when more can be done, and returns. The fields carry
// what the next one needs.
type fetcher struct {
	crawl    *callbackCrawl
	at       int // the index of its page
	fd       int
	request  []byte // the rest to send
	response []byte
}

func (f *fetcher) fetch(ctx context.Context) {
	target, err := ParseTarget(f.crawl.pages[f.at].URL)
	if err != nil {
		f.done(err)
		return
	}
	to, err := f.crawl.known.resolve(ctx, target.Host)
	if err != nil {
		f.done(err)
		return
	}
	f.request = target.Request
	f.fd, err = unix.Socket(to.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		f.done(os.NewSyscallError("socket", err))
		return
	}
	// EINPROGRESS: the kernel has started to connect. When it has finished, the socket is writable.
	if err := unix.Connect(f.fd, to.sockaddr); err != nil && err != unix.EINPROGRESS {
		f.done(os.NewSyscallError("connect", err))
		return
	}
	if err := f.crawl.loop.register(f.fd, unix.EPOLLOUT, f.connected); err != nil {
		f.done(err)
	}
}

// connected runs when the socket is writable: connected, or failed.
func (f *fetcher) connected() {
	// connect has long returned. Its outcome is a property of the socket.
	errno, err := unix.GetsockoptInt(f.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	if err != nil {
		f.done(os.NewSyscallError("connect", err))
		return
	}
	n, err := unix.Write(f.fd, f.request)
	if err == unix.EAGAIN {
		return // the loop calls connected again when there is room
	}
	if err != nil {
		f.done(os.NewSyscallError("write", err))
		return
	}
	f.request = f.request[n:]
	if len(f.request) > 0 {
		return // likewise
	}
	if err := f.crawl.loop.register(f.fd, unix.EPOLLIN, f.readResponse); err != nil {
		f.done(err)
	}
}

// readResponse runs when something has arrived: bytes, or the end of the response.
func (f *fetcher) readResponse() {
	chunk := f.crawl.loop.chunk[:]
	n, err := unix.Read(f.fd, chunk)
	if err == unix.EAGAIN {
		return
	}
	if err != nil {
		f.done(os.NewSyscallError("read", err))
		return
	}
	f.response = append(f.response, chunk[:n]...)
	if n == 0 || len(f.response) > maxResponse {
		f.done(nil)
	}
}

// done ends a fetch in any state. Every path must call it exactly once.
func (f *fetcher) done(err error) {
	c := f.crawl
	delete(c.inFlight, f)
	if f.fd >= 0 {
		c.loop.unregister(f.fd)
		_ = unix.Close(f.fd)
	}
	page := ParsePage(c.pages[f.at].URL, f.response)
	if err != nil {
		page.Err = err
	}
	c.pages[f.at] = page
	if c.seenURLs != nil {
		for _, next := range page.Next() {
			c.add(next)
		}
	}
}

// callbackLoop calls functions when descriptors are ready for them.
type callbackLoop struct {
	epoll     int
	callbacks map[int]func() // by descriptor
	chunk     [16 << 10]byte // read buffer, shared: no callback keeps it
}

func (l *callbackLoop) open() (err error) {
	l.callbacks = make(map[int]func())
	l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return os.NewSyscallError("epoll_create1", err)
}

func (l *callbackLoop) close() { _ = unix.Close(l.epoll) }

// register has the loop call fn whenever fd is ready: writable (unix.EPOLLOUT), readable (EPOLLIN),
// or broken, which epoll always reports.
func (l *callbackLoop) register(fd int, event uint32, fn func()) error {
	op := unix.EPOLL_CTL_ADD
	if l.callbacks[fd] != nil {
		op = unix.EPOLL_CTL_MOD
	}
	l.callbacks[fd] = fn
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: event, Fd: int32(fd)}))
}

// unregister forgets a descriptor that is about to be closed; closing removes it from the kernel's
// list.
func (l *callbackLoop) unregister(fd int) { delete(l.callbacks, fd) }

// turn sleeps until some descriptors are ready, at most 100 ms so that the caller can check its
// context, and calls their functions. However many it watches, the kernel returns only the ready
// ones: the advantage of epoll over its elders, select and poll.
func (l *callbackLoop) turn() error {
	var ready [128]unix.EpollEvent
	n, err := unix.EpollWait(l.epoll, ready[:], 100)
	if err == unix.EINTR { // by a signal
		return nil
	}
	if err != nil {
		return os.NewSyscallError("epoll_wait", err)
	}
	// A function may close only its own descriptor, and none opens one before the turn is
	// over. So no event can belong to an earlier descriptor with the same number.
	for _, event := range ready[:n] {
		l.callbacks[int(event.Fd)]()
	}
	return nil
}

// What callbacks cost to read
//
// Compare fetcher with blockingExchange in blocking.go, which does the same:
//
//   - One function is now four, and no line states their order. To find what follows connected,
//     look for what it registers.
//   - Its variables are now fields. Only the author knows which function sets which.
//   - Its loops are now functions that are called again: "return" in connected means "continue".
//   - "return err" has nobody to return to. When readResponse fails, its callers are turn and run.
//     No stack trace shows that connected registered it, for fetch, for the page with that link.
//     The error of a crawl of a thousand pages names the loop.
//   - "defer unix.Close(fd)" is now a rule for people: every path calls done, once. Never, and the
//     crawl waits for ever; twice, and another fetch loses its descriptor. Nothing checks it.
//   - To cancel is to return early, and here nothing waits that could return. So the crawl keeps a
//     list of all fetches in flight.
//   - One more step (a proxy, TLS, a redirect followed in place) is not one more line but more
//     functions, fields and paths.
//
// A coroutine gives each fetch its own stack back, and keeps the loop: aio.go.

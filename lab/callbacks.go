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

// Callbacks fetches many pages at once in one thread, which sleeps until one of them can go
// on: a selector tells which sockets are ready, and a loop calls the function that each left
// with it. It is nearly as fast and small as can be. The price is paid by who reads it: see the
// end of this file.
var Callbacks = Way{
	Name:  "callbacks",
	About: "one thread asks epoll which sockets are ready, and calls their callbacks",
	Fetch: callbacksFetch,
	Crawl: callbacksCrawl,
}

func callbacksFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	c := callbackCrawl{atOnce: atOnce, known: make(addresses), urlsTodo: slices.Clone(urls)}
	for _, u := range urls { // before: a look-up blocks, and later it would hold up all others
		if target, err := ParseTarget(u); err == nil {
			_, _ = c.known.of(ctx, target.Host)
		}
	}
	err := c.run(ctx)
	for _, u := range c.urlsTodo { // left, when ctx is done
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

// callbackCrawl is a crawl. One thread runs all of it, one callback after the other: no lock.
type callbackCrawl struct {
	atOnce   int
	loop     callbackLoop
	known    addresses
	urlsTodo []string
	seenURLs map[string]bool // nil: no link is followed
	underWay map[*fetcher]bool
	pages    []Page // in the order in which they were begun
}

func (c *callbackCrawl) add(u string) {
	if !c.seenURLs[u] {
		c.seenURLs[u] = true
		c.urlsTodo = append(c.urlsTodo, u)
	}
}

// run fetches what is to do, and what that leads to, until there is nothing left.
func (c *callbackCrawl) run(ctx context.Context) error {
	if err := c.loop.open(); err != nil {
		return err
	}
	defer c.loop.close()
	c.underWay = make(map[*fetcher]bool)
	for {
		for len(c.urlsTodo) > 0 && len(c.underWay) < c.atOnce && ctx.Err() == nil {
			f := &fetcher{crawl: c, at: len(c.pages), fd: -1}
			c.pages = append(c.pages, Page{URL: c.urlsTodo[0]})
			c.urlsTodo = c.urlsTodo[1:]
			c.underWay[f] = true
			f.fetch(ctx)
		}
		if len(c.underWay) == 0 && (len(c.urlsTodo) == 0 || ctx.Err() != nil) {
			return nil
		}
		err := c.loop.turn()
		if gone := cmp.Or(err, ctx.Err()); gone != nil {
			for f := range c.underWay {
				f.done(gone)
			}
		}
		if err != nil {
			return err
		}
	}
}

// fetcher fetches one page: fetch, then connected, then readResponse, then done. Each does what
// can be done now, says what is to be called when more can be done, and returns. What the next
// one needs to know is in the fields.
type fetcher struct {
	crawl   *callbackCrawl
	at      int // the index of its page
	fd      int
	request []byte // what is still to be sent
	answer  []byte
}

func (f *fetcher) fetch(ctx context.Context) {
	target, err := ParseTarget(f.crawl.pages[f.at].URL)
	if err != nil {
		f.done(err)
		return
	}
	to, err := f.crawl.known.of(ctx, target.Host)
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
	// EINPROGRESS: the kernel has begun to connect. When it is done, the socket is writable.
	if err := unix.Connect(f.fd, to.sockaddr); err != nil && err != unix.EINPROGRESS {
		f.done(os.NewSyscallError("connect", err))
		return
	}
	if err := f.crawl.loop.register(f.fd, unix.EPOLLOUT, f.connected); err != nil {
		f.done(err)
	}
}

// connected is called when the socket is writable: connected, or not to be had.
func (f *fetcher) connected() {
	// connect has long returned. What became of it is a property of the socket.
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
		return // this is called again when there is room
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

// readResponse is called when something has come: bytes, or the end of the answer.
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
	f.answer = append(f.answer, chunk[:n]...)
	if n == 0 || len(f.answer) > maxAnswer {
		f.done(nil)
	}
}

// done ends a fetch, wherever it was. Every path must lead here exactly once.
func (f *fetcher) done(err error) {
	c := f.crawl
	delete(c.underWay, f)
	if f.fd >= 0 {
		c.loop.unregister(f.fd)
		_ = unix.Close(f.fd)
	}
	page := ParsePage(c.pages[f.at].URL, f.answer)
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
	chunk     [16 << 10]byte // to read into: one for all, as none keeps it
}

func (l *callbackLoop) open() (err error) {
	l.callbacks = make(map[int]func())
	l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return os.NewSyscallError("epoll_create1", err)
}

func (l *callbackLoop) close() { _ = unix.Close(l.epoll) }

// register has fn called whenever fd is ready: unix.EPOLLOUT to be written to, EPOLLIN to be
// read; or broken, which is always told.
func (l *callbackLoop) register(fd int, event uint32, fn func()) error {
	op := unix.EPOLL_CTL_ADD
	if l.callbacks[fd] != nil {
		op = unix.EPOLL_CTL_MOD
	}
	l.callbacks[fd] = fn
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: event, Fd: int32(fd)}))
}

// unregister is for a descriptor that is about to be closed, which takes it from the kernel's list.
func (l *callbackLoop) unregister(fd int) { delete(l.callbacks, fd) }

// turn sleeps until some descriptors are ready, at most 100 ms so that the caller may look at
// its context, and calls their functions. However many are watched, the kernel returns only
// those that are ready: that is what epoll has over its elders, select and poll.
func (l *callbackLoop) turn() error {
	var ready [128]unix.EpollEvent
	n, err := unix.EpollWait(l.epoll, ready[:], 100)
	if err == unix.EINTR { // by a signal
		return nil
	}
	if err != nil {
		return os.NewSyscallError("epoll_wait", err)
	}
	// A function may close its own descriptor, no other; and none is opened before the turn
	// is over. So no event can be of an earlier descriptor that had the same number.
	for _, event := range ready[:n] {
		l.callbacks[int(event.Fd)]()
	}
	return nil
}

// What callbacks cost to read
//
// Compare fetcher with blockingExchange in blocking.go, which does the same:
//
//   - One function has become four, and no line says in which order they run. To find what
//     follows on connected one looks for who is registered in it.
//   - Its variables have become fields. Which of them are set in which function is known to who
//     wrote it.
//   - Its loops have become functions that are called again: "return" in connected means
//     "continue".
//   - "return err" has nobody to return to. When readResponse fails, its callers are turn and
//     run: that connected registered it, for fetch, for the page with that link, is in no stack
//     trace. The error of a crawl of a thousand pages names the loop.
//   - "defer unix.Close(fd)" has become a rule for people: every path calls done, once. Never:
//     the crawl waits for ever. Twice: a stranger's descriptor is closed. Nothing checks it.
//   - To cancel is to return early, and here nothing is waiting that could return. So a list is
//     kept of all that is under way.
//   - One more step (a proxy, TLS, a redirect followed in place) is not one more line, but more
//     functions, fields and paths.
//
// A coroutine gives each fetch its own stack back, and keeps the loop: aio.go.

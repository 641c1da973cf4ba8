//go:build linux

package lab

import (
	"cmp"
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/weburl"
)

// Blocking is where the road begins: one page after the other. Each system call returns when
// it has done what it was asked for, however long that takes; meanwhile the thread sleeps in
// the kernel and the program does nothing at all. What it costs is time: that of all pages is
// added up.
var Blocking = Way{
	Name:  "blocking",
	About: "sleeps in the kernel for each page, one after the other",
	Fetch: blockingFetch,
	Crawl: blockingCrawl,
}

func blockingFetch(ctx context.Context, urls []string, _ int) ([]Page, error) {
	known := make(addresses)
	pages := make([]Page, len(urls))
	for i, u := range urls {
		pages[i] = blockingGet(ctx, known, u)
	}
	return pages, nil
}

// blockingCrawl is the whole of a crawl: a list of what is to be done, and the set of what was
// ever on it. All other ways have these two as well, and differ in who may touch them when.
func blockingCrawl(ctx context.Context, root string, _ int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	known := make(addresses)
	todo := []string{first.Canonical().String()}
	seen := map[string]bool{todo[0]: true}
	var pages []Page
	for len(todo) > 0 && ctx.Err() == nil {
		page := blockingGet(ctx, known, todo[0])
		todo = todo[1:]
		pages = append(pages, page)
		for _, next := range page.Next() {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return pages, nil
}

// blockingGet fetches one page.
func blockingGet(ctx context.Context, known addresses, rawURL string) Page {
	if ctx.Err() != nil {
		return Page{URL: rawURL, Err: ctx.Err()}
	}
	answer, err := blockingExchange(ctx, known, rawURL)
	page := ParsePage(rawURL, answer)
	if err := cmp.Or(ctx.Err(), err); err != nil { // ctx first: then it was not the server who ended the answer
		page.Err = err
	}
	return page
}

// blockingExchange sends the request and returns all that comes, until the server ends the
// connection. Keep this function in mind: what it does is what every way does, and no other
// way says it as plainly, before coroutines do.
func blockingExchange(ctx context.Context, known addresses, rawURL string) ([]byte, error) {
	target, err := ParseTarget(rawURL)
	if err != nil {
		return nil, err
	}
	to, err := known.of(ctx, target.Host)
	if err != nil {
		return nil, err
	}

	fd, err := unix.Socket(to.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	defer breakOff(ctx, fd)()

	// Sleeps until the server's kernel has answered: a round trip.
	if err := unix.Connect(fd, to.sockaddr); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	// Returns when the kernel has taken the bytes to send, perhaps not all; it sleeps only
	// when its buffer is full.
	for request := target.Request; len(request) > 0; {
		n, err := unix.Write(fd, request)
		if err != nil {
			return nil, os.NewSyscallError("write", err)
		}
		request = request[n:]
	}
	// Sleeps until something has come. How much, the network decides.
	var answer []byte
	chunk := make([]byte, 16<<10)
	for len(answer) <= maxAnswer {
		n, err := unix.Read(fd, chunk)
		if err != nil {
			return answer, os.NewSyscallError("read", err)
		}
		if n == 0 { // the server has closed its end
			break
		}
		answer = append(answer, chunk[:n]...)
	}
	return answer, nil
}

// breakOff lets no call wait for fd once ctx is done. A thread that sleeps in a system call
// hears nothing of ctx: another thread has to take away what it waits for. The function
// returned must be called before fd is closed: its number may soon be another socket's.
func breakOff(ctx context.Context, fd int) (stop func()) {
	broken := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = unix.SetNonblock(fd, true)        // a call to come does not sleep
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // a call that sleeps returns
		close(broken)
	})
	return func() {
		if !cancel() {
			<-broken
		}
	}
}

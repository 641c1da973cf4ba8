//go:build linux

package lab

import (
	"cmp"
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/weburl"
)

// Blocking is the start of the road: one page after the other. Each system call returns when it has
// finished, however long that takes; meanwhile the thread sleeps in the kernel and the program does
// nothing at all. The price is time: the sum over all pages.
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

// blockingCrawl is a whole crawl: a list of URLs to do, and the set of all URLs that were ever on
// it. Every other way has the same two, and differs in who may touch them when.
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
	response, err := blockingExchange(ctx, known, rawURL)
	page := ParsePage(rawURL, response)
	if err := cmp.Or(ctx.Err(), err); err != nil { // ctx first: it ended the response, not the server
		page.Err = err
	}
	return page
}

// blockingExchange sends the request and returns all bytes until the server closes the connection.
// Keep this function in mind: every way does the same, and none says it as plainly before
// coroutines come in.
func blockingExchange(ctx context.Context, known addresses, rawURL string) ([]byte, error) {
	target, err := ParseTarget(rawURL)
	if err != nil {
		return nil, err
	}
	to, err := known.resolve(ctx, target.Host)
	if err != nil {
		return nil, err
	}

	fd, err := unix.Socket(to.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	defer breakOff(ctx, fd)()

	// Sleeps for a round trip, until the server's kernel accepts.
	if err := unix.Connect(fd, to.sockaddr); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	// Returns when the kernel has taken some of the bytes to send; it sleeps only while the
	// kernel's buffer is full.
	for request := target.Request; len(request) > 0; {
		n, err := unix.Write(fd, request)
		if err != nil {
			return nil, os.NewSyscallError("write", err)
		}
		request = request[n:]
	}
	// Sleeps until some bytes arrive. How many, the network decides.
	var response []byte
	chunk := make([]byte, 16<<10)
	for len(response) <= maxResponse {
		n, err := unix.Read(fd, chunk)
		if err != nil {
			return response, os.NewSyscallError("read", err)
		}
		if n == 0 { // the server has closed its end
			break
		}
		response = append(response, chunk[:n]...)
	}
	return response, nil
}

// breakOff ends all waits for fd once ctx is done. A thread that sleeps in a system call does not
// see ctx, so another thread has to shut the socket down. The caller must call stop before it
// closes fd, whose number may soon belong to another socket.
func breakOff(ctx context.Context, fd int) (stop func()) {
	broken := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = unix.SetNonblock(fd, true)        // later calls do not sleep
		_ = unix.Shutdown(fd, unix.SHUT_RDWR) // a sleeping call returns
		close(broken)
	})
	return func() {
		if !cancel() {
			<-broken
		}
	}
}

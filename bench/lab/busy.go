//go:build linux

package lab

import (
	"cmp"
	"context"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Busy fetches many pages at once in one thread, with nothing but non-blocking sockets. A call on
// such a socket does what it can do now; if that is nothing, it returns EAGAIN. So the thread tries
// them all in turn, again and again. It is as fast as can be, and burns a whole processor to wait.
// It lacks a way to ask "which of these?" and sleep meanwhile: a selector, see callbacks.go.
var Busy = Way{
	Name:  "busy",
	About: "asks all sockets in turn, without a pause, and never sleeps",
	Fetch: busyFetch,
}

func busyFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	known := make(addresses)
	for _, u := range urls { // first: a look-up blocks, and later it would hold up all others
		if target, err := ParseTarget(u); err == nil {
			_, _ = known.resolve(ctx, target.Host)
		}
	}

	pages := make([]Page, len(urls))
	chunk := make([]byte, 16<<10) // one for all sockets: none keeps it between two calls
	var inFlight []*busySocket
	for next := 0; next < len(urls) || len(inFlight) > 0; {
		for ; next < len(urls) && len(inFlight) < atOnce; next++ {
			s, err := busyBegin(ctx, known, urls[next])
			if err != nil {
				pages[next] = Page{URL: urls[next], Err: err}
				continue
			}
			s.page = &pages[next]
			s.page.URL = urls[next]
			inFlight = append(inFlight, s)
		}
		inFlight = slices.DeleteFunc(inFlight, func(s *busySocket) bool {
			done, err := s.try(chunk)
			err = cmp.Or(ctx.Err(), err)
			if !done && err == nil {
				return false
			}
			_ = unix.Close(s.fd)
			*s.page = ParsePage(s.page.URL, s.response)
			if err != nil {
				s.page.Err = err
			}
			return true
		})
	}
	return pages, nil
}

// busySocket is a fetch in flight: the variables of blockingExchange, as fields.
type busySocket struct {
	page     *Page // of the URL
	fd       int
	request  []byte // the rest to send
	response []byte
}

func busyBegin(ctx context.Context, known addresses, rawURL string) (*busySocket, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	target, err := ParseTarget(rawURL)
	if err != nil {
		return nil, err
	}
	to, err := known.resolve(ctx, target.Host)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(to.family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// EINPROGRESS: the kernel has started to connect.
	if err := unix.Connect(fd, to.sockaddr); err != nil && err != unix.EINPROGRESS {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return &busySocket{fd: fd, request: target.Request}, nil
}

// try does what it can do now, and reports whether the fetch is done.
func (s *busySocket) try(chunk []byte) (done bool, err error) {
	for len(s.request) > 0 {
		n, err := unix.Write(s.fd, s.request)
		if err == unix.EAGAIN { // not connected yet, or the kernel's buffer is full
			return false, nil
		}
		if err != nil { // a failed connect, too
			return true, os.NewSyscallError("write", err)
		}
		s.request = s.request[n:]
	}
	n, err := unix.Read(s.fd, chunk)
	if err == unix.EAGAIN { // nothing has arrived
		return false, nil
	}
	if err != nil {
		return true, os.NewSyscallError("read", err)
	}
	s.response = append(s.response, chunk[:n]...)
	return n == 0 || len(s.response) > maxResponse, nil
}

//go:build linux

package lab

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// futureFetcher fetches on a loop. All its tasks share its fields without a lock: between two waits
// a task has the whole program to itself.
type futureFetcher struct {
	loop  *Loop
	known addresses
	buf   [16 << 10]byte // the bytes of the last read
}

// connect returns a connected socket.
func (f *futureFetcher) connect(to address) *async[int] {
	return newAsync("connect", func(y *awaiter) (int, error) {
		if to.err != nil {
			return 0, to.err
		}
		fd, err := unix.Socket(to.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
		// connect(2) of a non-blocking socket only starts. When the socket is writable, it
		// has finished, and SO_ERROR holds the outcome.
		err = unix.Connect(fd, to.sockaddr)
		if errors.Is(err, unix.EINPROGRESS) {
			err = f.loop.ready(y, fd, unix.EPOLLOUT)
			if err == nil {
				var code int
				if code, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); code != 0 {
					err = unix.Errno(code)
				}
			}
		}
		if err != nil {
			unix.Close(fd)
			return 0, err
		}
		return fd, nil
	})
}

// write writes all of data.
func (f *futureFetcher) write(fd int, data []byte) *async[none] {
	return newAsync("write", func(y *awaiter) (none, error) {
		for len(data) > 0 {
			n, err := unix.Write(fd, data)
			switch {
			case err == nil:
				data = data[n:]
			case errors.Is(err, unix.EAGAIN): // the kernel's buffer is full
				if err := f.loop.ready(y, fd, unix.EPOLLOUT); err != nil {
					return none{}, err
				}
			case !errors.Is(err, unix.EINTR):
				return none{}, err
			}
		}
		return none{}, nil
	})
}

// read returns some bytes, valid until the next wait; none at the end.
func (f *futureFetcher) read(fd int) *async[[]byte] {
	return newAsync("read", func(y *awaiter) ([]byte, error) {
		for {
			n, err := unix.Read(fd, f.buf[:])
			switch {
			case err == nil:
				return f.buf[:n], nil
			case errors.Is(err, unix.EAGAIN): // nothing has arrived yet
				if err := f.loop.ready(y, fd, unix.EPOLLIN); err != nil {
					return nil, err
				}
			case !errors.Is(err, unix.EINTR):
				return nil, err
			}
		}
	})
}

// readAll returns all bytes up to the end, or a little more than maxResponse; with an error, the
// bytes before it.
func (f *futureFetcher) readAll(fd int) *async[[]byte] {
	return newAsync("readAll", func(y *awaiter) ([]byte, error) {
		var all []byte
		for {
			some, err := await(y, f.read(fd))
			all = append(all, some...)
			if err != nil || len(some) == 0 || len(all) > maxResponse {
				return all, err
			}
		}
	})
}

// fetch is the whole fetch, and reads like blockingExchange.
func (f *futureFetcher) fetch(rawURL string) *async[Page] {
	return newAsync("fetch "+rawURL, func(y *awaiter) (Page, error) {
		target, err := ParseTarget(rawURL)
		if err != nil {
			return Page{}, err
		}
		fd, err := await(y, f.connect(f.known[target.Host]))
		if err != nil {
			return Page{}, err
		}
		defer unix.Close(fd)
		if _, err := await(y, f.write(fd, target.Request)); err != nil {
			return Page{}, err
		}
		response, err := await(y, f.readAll(fd))
		return ParsePage(rawURL, response), err
	})
}

// page is fetch with the error in the page, unless the error ends everything: the task is
// cancelled, or no descriptor is left.
func (f *futureFetcher) page(y *awaiter, rawURL string) (Page, error) {
	page, err := await(y, f.fetch(rawURL))
	if err == nil {
		return page, nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return Page{}, err
	}
	page.URL, page.Err = rawURL, err
	return page, nil
}

// runFutures runs a coroutine on a loop of its own, with the addresses of the URLs' hosts resolved.
func runFutures(ctx context.Context, urls []string, main func(f *futureFetcher) *async[none]) error {
	if ctx.Err() != nil {
		return nil
	}
	loop, err := NewLoop()
	if err != nil {
		return err
	}
	defer loop.Close()
	f := &futureFetcher{loop: loop, known: make(addresses)}
	for _, u := range urls { // first: a look-up blocks, and later it would hold up all tasks
		if target, err := ParseTarget(u); err == nil {
			_, _ = f.known.resolve(ctx, target.Host)
		}
	}
	if err := loop.Run(ctx, main(f)); ctx.Err() == nil {
		return err
	}
	return nil // its error follows from ctx
}

func fetchFutures(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	pages := make([]Page, len(urls))
	next := 0 // index in urls
	err := runFutures(ctx, urls, func(f *futureFetcher) *async[none] {
		worker := func(y *awaiter) (none, error) {
			for next < len(urls) {
				i := next
				next++
				page, err := f.page(y, urls[i])
				if err != nil {
					return none{}, err
				}
				pages[i] = page
			}
			return none{}, nil
		}
		return newAsync("main", func(y *awaiter) (none, error) {
			var workers []*Task[none]
			for range min(atOnce, len(urls)) {
				workers = append(workers, Go(f.loop, newAsync("worker", worker)))
			}
			return none{}, gather(y, f.loop, workers)
		})
	})
	for i := range pages {
		if pages[i].URL == "" { // no worker got to it
			pages[i] = Page{URL: urls[i], Err: cmp.Or(context.Cause(ctx), err)}
		}
	}
	return pages, err
}

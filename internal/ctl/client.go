package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var (
	// ErrNobody is returned by Dial when no crawl answers: there is no socket, or nobody
	// behind it.
	ErrNobody = errors.New("no crawl is running")

	// ErrSilent is returned by Dial and Ask when a crawl has the socket open and does not
	// begin to answer.
	ErrSilent = errors.New("the crawl does not answer; is it stopped?")

	// ErrProtocol is what an error of Ask is when the other side speaks another protocol.
	ErrProtocol = errors.New("another protocol")
)

// Error is what a crawl answers when it cannot do as it is told.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Client asks a crawl.
type Client struct {
	dir  string
	http http.Client
}

// answerWithin is how long a crawl may take to begin to answer. A server does so before it
// looks at what it is asked.
const answerWithin = 5 * time.Second

// Dial finds the crawl that runs in the job in dir. Errors: ErrNobody, ErrSilent, or one of
// the system.
func Dial(ctx context.Context, dir string) (*Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWithin, ErrSilent)
	defer cancel()
	c := &Client{dir: dir}
	c.http.Transport = &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx, dir) },
		DisableKeepAlives: true,
	}
	conn, err := connect(ctx, dir)
	switch {
	case err == nil:
		return c, conn.Close()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNobody
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("socket %s: %w", filepath.Join(dir, Name), err)
}

// Ask has a command answered, by any number of values; an error comes last. It is an
// *Error if the crawl has given it, ErrProtocol, ErrNobody or ErrSilent; or the crawl has
// ended before it had answered.
func Ask[T any](ctx context.Context, c *Client, command string, args ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		late := time.AfterFunc(answerWithin, func() { cancel(ErrSilent) })
		res, err := c.post(ctx, command, args)
		late.Stop()
		if err != nil {
			yield(none, cmp.Or(context.Cause(ctx), err))
			return
		}
		defer res.Body.Close()
		lines := json.NewDecoder(res.Body)
		for {
			var l struct {
				Value *T     `json:"value"`
				Error string `json:"error"`
			}
			err := lines.Decode(&l)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(none, fmt.Errorf("the crawl has ended while it answered: %w", err))
				return
			case l.Error != "":
				yield(none, &Error{l.Error})
				return
			case l.Value != nil && !yield(*l.Value, nil):
				return
			}
		}
	}
}

func (c *Client) post(ctx context.Context, command string, args []string) (*http.Response, error) {
	form := strings.NewReader(url.Values{"arg": args}.Encode())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://weft"+prefix+command, form)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := c.http.Do(req)
	var failed *url.Error
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNobody
	case errors.As(err, &failed):
		return nil, fmt.Errorf("socket %s: %w", filepath.Join(c.dir, Name), failed.Err)
	case err != nil:
		return nil, err
	}
	if speaks := res.Header.Get(versionHeader); speaks != strconv.Itoa(Protocol) {
		_ = res.Body.Close() // nothing in it is of interest
		return nil, fmt.Errorf("%w: the crawl speaks %.16q, this is %d: ask with the version of weft that runs it", ErrProtocol, speaks, Protocol)
	}
	return res, nil
}

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
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var (
	// ErrNobody is returned by Dial and Ask when no crawl runs: there is no socket, nobody listens
	// on it, or it is that of another user.
	ErrNobody = errors.New("no crawl is running")

	// ErrSilent is returned by Dial and Ask when a crawl has the socket open and does not respond.
	ErrSilent = errors.New("the crawl does not respond; is it stopped?")

	// ErrProtocol is wrapped by an error of Ask when the other side speaks another protocol.
	ErrProtocol = errors.New("another protocol")
)

// Error is the error of a command that the crawl could not carry out.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Client sends commands to a crawl.
type Client struct {
	dir  string
	http http.Client
}

// respondWithin is the time that a crawl has to start its response. A server does so before it runs
// the command.
const respondWithin = 5 * time.Second

// Dial finds the crawl that runs in the job in dir. Errors: ErrNobody, ErrSilent, or one of the
// system.
func Dial(ctx context.Context, dir string) (*Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, respondWithin, ErrSilent)
	defer cancel()
	c := &Client{dir: dir}
	c.http.Transport = &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return connect(ctx, dir) },
		DisableKeepAlives: true,
	}
	if info, err := os.Lstat(filepath.Join(dir, Name)); err == nil && info.Mode()&fs.ModeSocket == 0 {
		return nil, ErrNobody // a job from elsewhere may have a link to the socket of another server
	}
	conn, err := connect(ctx, dir)
	switch {
	case err == nil:
		return c, conn.Close()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrPermission):
		return nil, ErrNobody
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("socket %s: %w", filepath.Join(dir, Name), err)
}

// Ask sends a command and yields the values of its reply; an error comes last. It is an *Error of
// the crawl, ErrProtocol, ErrNobody, ErrSilent, or reports that the crawl ended during its reply.
func Ask[T any](ctx context.Context, c *Client, command string, args ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		late := time.AfterFunc(respondWithin, func() { cancel(ErrSilent) })
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
				yield(none, fmt.Errorf("the crawl ended during its reply: %w", err))
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
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrPermission):
		return nil, ErrNobody
	case errors.As(err, &failed):
		return nil, fmt.Errorf("socket %s: %w", filepath.Join(c.dir, Name), failed.Err)
	case err != nil:
		return nil, err
	}
	if speaks := res.Header.Get(versionHeader); speaks != strconv.Itoa(Protocol) {
		_ = res.Body.Close() // its contents do not matter
		return nil, fmt.Errorf("%w: the crawl speaks %.16q, this is %d: use the version of weft that runs it", ErrProtocol, speaks, Protocol)
	}
	return res, nil
}

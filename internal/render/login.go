package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Login is a form to log in with. Unlike a page that is rendered, it has real time, and may lead to
// other pages; what it stores stays until it is done.
type Login struct {
	URL string

	// Fields are filled in as they come, on one page or on several: a name or a CSS selector, and a
	// value.
	Fields [][2]string
	Submit string // CSS selector of the button; empty: that of the form with the password

	// Selector, Text or Matches say that the person is logged in: an element or a text of the page,
	// or its URL. Without any, no page may ask for a password any more.
	Selector string
	Text     string
	Matches  func(url string) bool // nil: none

	// Fetch answers each request, those for documents included: see Page.Fetch.
	Fetch func(context.Context, *Request) (*Response, error)
}

// State is that of a browser in which a person is logged in.
type State struct {
	Page    string   // URL of the page that asked for the password, or a first field
	Form    []string // selectors of the fields that were found there
	URL     string   // of the page at the end
	Cookies []Cookie
	Stores  []Store
}

// LoginError is the error of a login that has ended early, with the page at its end.
type LoginError struct {
	URL    string // of the page at the end
	Reason string
}

func (e *LoginError) Error() string {
	at := withoutQuery(e.URL)
	if strings.HasPrefix(e.Reason, at) { // of its request
		return e.Reason
	}
	return at + ": " + e.Reason
}

// withoutQuery returns a URL without what may be secret: a form without a script, or with a broken
// one, puts its fields into the query.
func withoutQuery(url string) string {
	url, fragment, has := strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	if fragment, _, _ = strings.Cut(fragment, "?"); has {
		url += "#" + fragment
	}
	return url
}

const (
	loginTime     = 5 * time.Minute        // for all
	loginRequests = 2000                   // the most of all pages
	loginStep     = 200 * time.Millisecond // between two looks
	loginQuiet    = 5 * time.Second        // without requests: the page will not change any more
	loginLost     = 10 * time.Second       // the same, of one in vain
	loginSettled  = time.Second            // the same, of one that shows no form
	loginWait     = 30 * time.Second       // for what is waited for
)

//go:embed login.js
var loginScript string

// LogIn logs in. Errors: those of Render, a *LoginError.
func (r *Renderer) LogIn(ctx context.Context, l *Login) (*State, error) {
	b, err := r.running(ctx)
	if err != nil {
		return nil, err
	}
	ctx, own, stop := b.own.within(ctx, loginTime)
	defer stop()
	t, err := b.openWith(ctx, "") // a login may need what its pages hand on to each other
	if err != nil {
		return nil, err
	}
	defer b.give(t, false)
	page := &Page{URL: l.URL, Fetch: l.Fetch, Limits: Limits{Requests: loginRequests}}
	in := &loggingIn{run: newRun(ctx, t, page, own, &b.own, b.total), of: l, left: l.Fields}
	in.run.travels = true
	t.set(in.run)
	if err := in.run.show(ctx); err != nil {
		if why := in.refused(""); why != "" {
			err = &LoginError{l.URL, why}
		}
		return nil, err
	}
	if err := in.logIn(ctx); err != nil {
		return nil, err
	}
	return in.state(ctx)
}

// loggingIn is a login on its way.
type loggingIn struct {
	run   *run
	of    *Login
	left  [][2]string // fields that are not filled in yet
	found State
	quiet time.Time // since when no request is under way; zero: one is
}

// view is a look at the page.
type view struct {
	URL             string
	Password, Found bool
}

// logIn fills in the fields, page by page, and waits for the sign of success.
func (l *loggingIn) logIn(ctx context.Context) error {
	for len(l.left) > 0 {
		if err := l.fill(ctx); err != nil {
			return err
		}
		if err := l.submit(ctx); err != nil {
			return err
		}
	}
	return l.until(ctx, "it does not show that the login has succeeded", func(v view, quiet time.Duration) (bool, error) {
		failed := l.refused(v.URL)
		switch {
		case l.succeeded(v):
			return true, nil
		case quiet < loginSettled:
			return false, nil
		case failed != "":
			return false, &LoginError{l.of.URL, failed}
		case !l.hasSign() && !v.Password:
			return true, nil
		case v.Password && quiet >= loginQuiet:
			return false, &LoginError{v.URL, "it asks for the password again: the login has failed"}
		}
		return false, nil
	})
}

// refused returns why the page at a URL is none; "": it is one. The browser shows one of its own,
// which has no URL of http, in place of a document that it does not get.
func (l *loggingIn) refused(url string) string {
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	for _, x := range slices.Backward(l.run.doc.Refused) {
		if x.Type == TypeDocument && (x.URL == url || !strings.HasPrefix(url, "http")) {
			return fmt.Sprintf("%s: %s", withoutQuery(x.URL), x.Reason)
		}
	}
	return ""
}

func (l *loggingIn) hasSign() bool {
	return l.of.Selector != "" || l.of.Text != "" || l.of.Matches != nil
}

func (l *loggingIn) succeeded(v view) bool {
	return v.Found || l.of.Matches != nil && l.of.Matches(v.URL)
}

// fill fills in the fields that are there, when one is.
func (l *loggingIn) fill(ctx context.Context) error {
	return l.until(ctx, fmt.Sprintf("it has no field %.128q", l.left[0][0]), func(v view, quiet time.Duration) (bool, error) {
		var by []string
		secure := strings.HasPrefix(l.of.URL, "https:")
		if secure && strings.HasPrefix(v.URL, "http:") {
			return false, &LoginError{v.URL, "it is not https, as the URL of the login is: nothing is filled in there"}
		}
		text, _ := json.Marshal(l.left) // texts are JSON always
		if err := l.call(ctx, fmt.Sprintf("fill(%s, %t)", text, secure), &by); err != nil {
			return false, err
		}
		var left [][2]string
		var form []string
		for i, selector := range by {
			if selector == "" && i < len(l.left) {
				left = append(left, l.left[i])
			} else {
				form = append(form, selector)
			}
		}
		if len(form) == 0 {
			return false, nil
		}
		if v.Password || l.found.Page == "" {
			l.found.Page, l.found.Form = withoutQuery(v.URL), form
		}
		l.left = left
		return true, nil
	})
}

// submit submits what was filled in.
func (l *loggingIn) submit(ctx context.Context) error {
	missing := "it has no form around the last field: name the button to press"
	if l.of.Submit != "" {
		missing = fmt.Sprintf("it has no button %.128q that can be pressed", l.of.Submit)
	}
	return l.until(ctx, missing, func(v view, quiet time.Duration) (bool, error) {
		var came string
		err := l.call(ctx, "submit("+string(quoted(l.of.Submit))+")", &came)
		return came == "done", err
	})
}

// until looks at the page until done says so. Looks at a page that is being left fail, and count
// for nothing.
func (l *loggingIn) until(ctx context.Context, otherwise string, done func(v view, quiet time.Duration) (bool, error)) error {
	last := view{URL: l.of.URL}
	l.quiet = time.Time{}
	tick := time.NewTicker(loginStep)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < loginWait && l.quietFor() < loginLost || l.isBusy(); {
		var v view
		err := l.call(ctx, fmt.Sprintf("look(%s, %s)", quoted(l.of.Selector), quoted(l.of.Text)), &v)
		if err == nil {
			last = v
			var is bool
			if is, err = done(v, l.quietFor()); is {
				return nil
			}
		}
		var failed *LoginError
		if errors.As(err, &failed) || errors.Is(err, errGone) || errors.Is(err, errCrashed) {
			return err
		}
		select {
		case <-tick.C:
		case <-l.run.tab.conn.ended:
			return errGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return &LoginError{last.URL, otherwise}
}

// isBusy reports whether a request or a frame is under way.
func (l *loggingIn) isBusy() bool {
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	return l.run.pending > 0 || len(l.run.frames.loading) > 0
}

// quietFor returns for how long nothing has been under way.
func (l *loggingIn) quietFor() time.Duration {
	switch {
	case l.isBusy():
		l.quiet = time.Time{}
		return 0
	case l.quiet.IsZero():
		l.quiet = time.Now()
	}
	return time.Since(l.quiet)
}

// loginOf is the place of the functions of login.js in the world of steps.js.
const loginOf = "globalThis[Symbol.for('weft login')]"

// call calls a function of login.js.
func (l *loggingIn) call(ctx context.Context, call string, result any) error {
	return l.run.evaluate(ctx, "("+loginOf+" ??= "+loginScript+")."+call, result)
}

// state reads what the browser has.
func (l *loggingIn) state(ctx context.Context) (*State, error) {
	t := l.run.tab
	var stored Store
	var now view
	if err := l.until(ctx, "its storage cannot be read", func(v view, _ time.Duration) (bool, error) {
		now = v
		err := l.call(ctx, "stored()", &stored)
		return err == nil, err
	}); err != nil {
		return nil, err
	}
	s := l.found
	if s.URL = now.URL; len(stored.Items) > 0 {
		s.Stores = []Store{stored}
	}
	all, err := cookiesOf(ctx, t.conn, t.context)
	s.Cookies = all
	return &s, err
}

package weft

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// ErrLogin is returned when a site does not log in: wrapped by how far that has come.
var ErrLogin = errors.New("not logged in")

// check refuses a recipe that has no meaning.
func (l *Login) check() error {
	if len(l.Fields) == 0 {
		return errors.New("no fields, expected those of the form")
	}
	for name, text := range map[string]string{"success": l.Success, "signed-out": l.SignedOut} {
		if err := login.CheckSign(text); err != nil {
			return fmt.Errorf("%s %.128q: %w", name, text, err)
		}
	}
	return nil
}

// LogIn carries out a recipe in a browser, and writes the session to a file that its user alone may
// read. The requests are made by Weft's client, as those of [Rendered]; POSTs go to the
// sites of the URL and of the pages that are shown. Errors: ErrLogin; those of Fetch, of o.
func LogIn(ctx context.Context, l Login, file string, o FetchOptions) error {
	if err := l.check(); err != nil {
		return err
	}
	o.HTTP.Cookies, o.HTTP.Session = nil, nil // the browser has them
	f, err := newFetcher(l.URL, o)
	if err != nil {
		return err
	}
	state, err := f.logIn(ctx, &l)
	var failed *render.LoginError
	if errors.As(err, &failed) {
		return fmt.Errorf("%w: %w", ErrLogin, failed)
	}
	if err != nil {
		return err
	}
	return saveSession(file, state, l.SignedOut)
}

// LogInByHand has a person log in in the window of a browser, until the windows are closed or done
// is closed, and writes the session to a file. Opened is called when the window is there. It is a
// person's browser: it requests by itself, without Weft's client, and has a new profile, which is
// removed. Of the recipe, URL and SignedOut count; browser is its name or path, or empty. Errors:
// ErrLogin, if nothing was stored; those of ReadSeed and ctx.
func LogInByHand(ctx context.Context, l Login, file, browser string, opened func(), done <-chan struct{}) error {
	s, err := ReadSeed(l.URL)
	if err != nil {
		return err
	}
	if err := login.CheckSign(l.SignedOut); err != nil {
		return fmt.Errorf("signed-out %.128q: %w", l.SignedOut, err)
	}
	state, err := render.ByHand(ctx, render.Options{Program: browser}, s.URL.String(), opened, done)
	switch {
	case err != nil:
		return err
	case len(state.Cookies)+len(state.Stores) == 0:
		return fmt.Errorf("%w: %s has neither set a cookie nor stored anything", ErrLogin, s.URL.Host())
	}
	return saveSession(file, state, l.SignedOut)
}

// saveSession writes the file of a session.
func saveSession(file string, state *render.State, signedOut string) error {
	about := login.About{Page: state.Page, Form: state.Form, SignedOut: signedOut}
	for _, s := range state.Stores {
		about.Stores = append(about.Stores, login.Store(s))
	}
	var all []login.Cookie
	for _, c := range state.Cookies {
		all = append(all, login.Cookie(c))
	}
	return login.Save(file, about, all)
}

// logIn has a browser log in, and makes its requests.
func (f *fetcher) logIn(ctx context.Context, l *Login) (state *render.State, err error) {
	in := &render.Login{URL: f.given.URL.String(), Submit: l.Submit}
	for _, field := range l.Fields {
		in.Fields = append(in.Fields, [2]string{field.Name, field.Value})
	}
	var pattern string
	if in.Selector, in.Text, pattern = login.SignParts(l.Success); pattern != "" {
		in.Matches = func(url string) bool {
			u, err := weburl.Parse(url)
			return err == nil && login.MatchURL(pattern, u)
		}
	}
	err = f.withClient(ctx, f.given.URL, func(t *aio.Task, client *httpclient.Client) error {
		r := f.newRendering(t, client)
		r.sites = map[string]bool{weburl.Site(f.given.URL.Hostname()): true}
		r.rules = fetch.PageRules{Page: f.given.URL, Block: f.Render.blocks(), Posts: true}
		r.cookies = fetch.NewPageCookies(nil, f.given.URL) // the browser has them
		in.Fetch = r.fetch
		return r.run(t, func(ctx context.Context, browser *render.Renderer) (err error) {
			state, err = browser.LogIn(ctx, in)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return state, nil
}

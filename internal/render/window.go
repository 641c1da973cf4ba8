package render

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// ErrNoWindow is returned where there is no browser with windows.
var ErrNoWindow = errors.New("no browser with windows found, expected Chromium: Debian has it as chromium, and --browser names another")

// FindWindows is Find for a browser that shows windows.
func FindWindows(name string) (string, error) {
	if name != "" {
		return Find(name)
	}
	for _, p := range programs {
		if path, err := exec.LookPath(p); err == nil && !strings.HasSuffix(p, "-shell") {
			return path, nil
		}
	}
	return "", ErrNoWindow
}

// windowFlags are the flags of a browser for a person: with a network of its own, and a profile
// that is gone with it.
func windowFlags(profile, url string, s sandbox) []string {
	flags := []string{
		"--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run", "--no-default-browser-check", "--disable-sync",
		"--disable-breakpad", "--disable-dev-shm-usage", "--password-store=basic", "--use-mock-keychain", "--disable-background-mode",
	}
	if s.missing != "" {
		flags = append(flags, "--no-sandbox")
	}
	return append(flags, "--new-window", url)
}

// window is a browser in which a person logs in.
type window struct {
	process  *process
	conn     *conn
	sessions map[string]string // of pages, by their targets
	stores   map[string]Store  // by origin
	state    State
}

// lookAgain is the time between two looks at what a person does.
const lookAgain = 300 * time.Millisecond

// ByHand has a person log in in a browser's window, until its windows are closed or done is closed.
// The browser requests what it needs itself, and has a new profile, which is removed.
func ByHand(ctx context.Context, o Options, url string, opened func(), done <-chan struct{}) (*State, error) {
	program, err := FindWindows(o.Program)
	if err != nil {
		return nil, err
	}
	o.window = true
	p, err := startProcess(program, o, func(profile string, s sandbox) []string { return windowFlags(profile, url, s) })
	if err != nil {
		return nil, &StartError{Program: program, Err: err}
	}
	w := &window{process: p, sessions: make(map[string]string), stores: make(map[string]Store)}
	w.conn = newConn(p.out, p.in, maxMessage, func(*message) {})
	defer p.close(context.WithoutCancel(ctx), w.conn)
	first, cancel := context.WithTimeout(ctx, 4*defaultPatience.start) // a person sees what is slow
	defer cancel()
	for { // until it shows a page
		open, err := w.look(first)
		if err != nil {
			return nil, &StartError{Program: program, Err: p.lastWords(err)}
		}
		if open {
			break
		}
		if err := sleep(first, lookAgain); err != nil {
			return nil, &StartError{Program: program, Err: err}
		}
	}
	opened()
	return w.watch(ctx, done)
}

// watch looks at the windows until the person is done.
func (w *window) watch(ctx context.Context, done <-chan struct{}) (*State, error) {
	for {
		over := false
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-done:
			over = true
		case <-w.conn.ended: // the last look counts
			return w.found(), nil
		case <-time.After(lookAgain):
		}
		open, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case over || !open || errors.Is(err, errGone):
			return w.found(), nil
		case err != nil:
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// look reads what the browser has. It reports whether a page is open.
func (w *window) look(ctx context.Context) (open bool, err error) {
	var all struct {
		TargetInfos []struct{ TargetID, Type, URL string }
	}
	if err := w.conn.call(ctx, "", "Target.getTargets", nil, &all); err != nil {
		return false, err
	}
	for _, t := range all.TargetInfos {
		if t.Type != "page" {
			continue
		}
		open = true
		if strings.HasPrefix(t.URL, "http") {
			w.read(ctx, t.TargetID) // it may be leaving
		}
	}
	if !open {
		return false, nil
	}
	cookies, err := cookiesOf(ctx, w.conn, "")
	if len(cookies) > 0 { // a browser that is closing has none any more
		w.state.Cookies = cookies
	}
	return true, err
}

// read reads what a page has stored, and whether it asks for a password.
func (w *window) read(ctx context.Context, target string) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if w.sessions[target] == "" {
		var made struct{ SessionID string }
		if w.conn.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &made) != nil {
			return
		}
		w.sessions[target] = made.SessionID
	}
	var seen struct {
		Look   view
		Stored Store
	}
	script := "(me => ({ look: me.look('', ''), stored: me.stored() }))(" + loginOf + " ??= " + loginScript + ")"
	if inWorld(ctx, w.conn, w.sessions[target], target, script, &seen) != nil {
		return
	}
	if seen.Look.Password {
		w.state.Page = withoutQuery(seen.Look.URL)
	}
	w.state.URL = seen.Look.URL
	if len(seen.Stored.Items) > 0 {
		w.stores[seen.Stored.Origin] = seen.Stored
	}
}

// found returns what the last looks have found.
func (w *window) found() *State {
	for _, origin := range slices.Sorted(maps.Keys(w.stores)) {
		w.state.Stores = append(w.state.Stores, w.stores[origin])
	}
	return &w.state
}

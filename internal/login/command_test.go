// Package login_test logs in to sites, with the command, too.
package login_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// club is a site behind a login: a form with a token against forgery, and an application that keeps
// a token in its storage.
type club struct {
	*wefttest.Site
	mu       sync.Mutex
	sessions map[string]bool
	logins   int
	ends     int // requests of pages after which the sessions are over; 0: never
	pages    int // requests of pages with a session
	outs     int // requests that have logged out
}

func TestMain(m *testing.M) { wefttest.Main(m, 6) }

const clubPages = 8

func newClub(t *testing.T) *club {
	t.Helper()
	c := &club{sessions: make(map[string]bool)}
	c.Site = wefttest.NewSite(t, c.serve)
	return c
}

func (c *club) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch path := r.URL.Path; {
	case path == "/robots.txt":
		http.NotFound(w, r)
	case path == "/login" && r.Method == http.MethodPost:
		c.logIn(w, r)
	case path == "/login":
		http.SetCookie(w, &http.Cookie{Name: "csrf", Value: "t0ken", Path: "/", HttpOnly: true})
		fmt.Fprint(w, `<!doctype html><title>Log in</title><form id=search action=/search><input name=q><button>Search</button></form>
			<form method=post action=/login><input type=hidden name=csrf value=t0ken><input name=user><input type=password name=password>
			<input type=checkbox name=stay value=yes><button name=go value=in>Log in</button></form>`)
	case path == "/app/login":
		fmt.Fprint(w, `<!doctype html><title>App</title><div id=root>Loading</div><script>
			setTimeout(() => {
				document.querySelector('#root').innerHTML = '<input id=who placeholder=User><input id=pw type=password><div class=go role=button>Go</div>'
				let who = ''
				document.querySelector('#who').addEventListener('input', e => who = e.target.value)
				document.querySelector('.go').addEventListener('click', async () => {
					const r = await fetch('/app/api/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ who, pw: document.querySelector('#pw').value }) })
					if (!r.ok) { document.querySelector('#root').append('Wrong'); return }
					localStorage.setItem('token', (await r.json()).token)
					history.pushState(null, '', '/app/')
					document.querySelector('#root').innerHTML = '<h1 class=home>Welcome</h1>'
				})
			}, 100)</script>`)
	case path == "/app/api/login":
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"who":"ada","pw":"lovelace"}` {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		c.logins++
		c.sessions[fmt.Sprintf(`a "b"_%d`, c.logins)] = true
		fmt.Fprintf(w, `{"token":"a \"b\"\t%d"}`, c.logins)
	case path == "/app/api/page":
		if !c.sessions[r.Header.Get("X-Token")] {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		c.served()
		fmt.Fprint(w, `{"text":"Secret of the application"}`)
	case path == "/app/p/0" && c.logins > 1:
		http.NotFound(w, r)
	case strings.HasPrefix(path, "/app/"):
		fmt.Fprint(w, `<!doctype html><title>App</title><div id=root></div><script>
			const token = localStorage.getItem('token')
			if (!token) location = '/app/login?next=' + location.pathname
			else fetch('/app/api/page?of=' + location.pathname, { headers: { 'X-Token': token.replace('\t', '_') } }).then(r => r.ok ? r.json() : null).then(d => {
				if (!d) { location = '/app/login?next=' + location.pathname; return }
				document.title = d.text
				document.querySelector('#root').innerHTML = '<h1>' + d.text + '</h1><a href=/app/logout>out</a>' + Array.from({ length: 8 }, (_, n) => '<a href=/app/p/' + n + '>' + n + '</a>').join('')
			})</script>`)
	case path == "/logout":
		c.outs++
		clear(c.sessions)
		http.Redirect(w, r, "/login", http.StatusFound)
	default:
		c.page(w, r)
	}
}

func (c *club) logIn(w http.ResponseWriter, r *http.Request) {
	csrf, err := r.Cookie("csrf")
	if err != nil || csrf.Value != r.PostFormValue("csrf") || r.PostFormValue("user") != "ada" || r.PostFormValue("password") != "lovelace" || r.PostFormValue("go") != "in" {
		http.Redirect(w, r, "/login?failed", http.StatusSeeOther)
		return
	}
	c.logins++
	id := fmt.Sprint("session-", c.logins, "-secret")
	c.sessions[id] = true
	http.SetCookie(w, &http.Cookie{Name: "sid", Value: id, Path: "/", HttpOnly: true})
	http.Redirect(w, r, "/home", http.StatusSeeOther)
}

// page is a page of the club, or leads to the login.
func (c *club) page(w http.ResponseWriter, r *http.Request) {
	sid, err := r.Cookie("sid")
	if err != nil || !c.sessions[sid.Value] {
		http.Redirect(w, r, "/login?next="+r.URL.Path, http.StatusFound)
		return
	}
	c.served()
	fmt.Fprintf(w, "<!doctype html><title>Inside %s</title><p class=account>Ada<a href=/logout>Log out</a><a href=/bye?action=logout>Bye</a>", r.URL.Path)
	for n := range clubPages {
		fmt.Fprintf(w, "<a href=/p/%d>%[1]d</a> ", n)
	}
}

// served counts a page, and ends the sessions after some.
func (c *club) served() {
	if c.pages++; c.pages == c.ends {
		clear(c.sessions)
	}
}

func (c *club) did(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fn()
}

// recipe is a file of options with a login.
func (c *club) recipe(more string) string {
	return fmt.Sprintf("[login]\nurl = %q\n%s\n[login.fields]\nuser = \"ada\"\npassword = \"$CLUB_PASSWORD\"\n", c.URL+"/login", more)
}

// TestLogin: a recipe logs in, through a form with a hidden token and a redirect, and a crawl is
// logged in with it. The session is in a file of its user, and nowhere else.
func TestLogin(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "weft.toml"), []byte(c.recipe(`success = ".account"`)), 0o666); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	run := func(args ...string) wefttest.Ended {
		t.Helper()
		return wefttest.With(t, dir, []string{"XDG_STATE_HOME=" + state, "CLUB_PASSWORD=lovelace"}, args...)
	}
	if e := run("crawl", "--config", "weft.toml", c.URL+"/p/0"); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "weft login --config weft.toml makes one") {
		t.Errorf("without a session: %+v", e)
	}
	for _, line := range []string{"login", "crawl " + c.URL + "/p/0"} {
		if e := run(strings.Fields(line)...); e.Code != wefttest.Misused || !strings.Contains(e.Stderr, "expected --config weft.toml: a file that is only found may not set it") {
			t.Errorf("weft %s: %+v", line, e)
		}
	}
	if e := run("config", "show", "--config", "weft.toml", "login"); strings.Contains(e.Stdout, "PASSWORD") || strings.Count(e.Stdout, "field = (secret)") != 2 {
		t.Errorf("%+v", e)
	}
	e := run("login", "--config", "weft.toml")
	if e.Code != wefttest.Done || strings.Contains(e.Stderr+e.Stdout, "lovelace") {
		t.Fatalf("%+v", e)
	}
	file := filepath.Join(state, "weft", strings.Replace(strings.TrimPrefix(c.URL, "http://"), ":", "_", 1)+".session")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	e = run("crawl", "--config", "weft.toml", "--warc", "--job", "job", c.URL+"/p/0")
	if e.Code != wefttest.Done {
		t.Fatalf("%+v", e)
	}
	pages := e.File("job/pages.jsonl")
	if n := strings.Count(pages, `"title":"Inside /p/`); n != clubPages || c.outs > 0 || strings.Contains(pages, "logout") {
		t.Errorf("%d pages, expected %d; %d logouts: %s", n, clubPages, c.outs, pages)
	}
	if _, err := os.Stat(filepath.Join(dir, "job")); err != nil {
		t.Fatal(err)
	}
	_ = filepath.Walk(filepath.Join(dir, "job"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			if text := unpacked(t, e.File(mustRel(dir, path))); strings.Contains(text, "session-1") || strings.Contains(text, "lovelace") {
				t.Errorf("%s has a secret", path)
			}
		}
		return nil
	})
	if e := run("why", "job", c.URL+"/logout"); !strings.Contains(e.Stdout, "may log out") {
		t.Errorf("why: %+v", e)
	}
	if e := run("crawl", "--no-config", "--job", "job"); e.Code == wefttest.Done || !strings.Contains(e.Stderr, "--session") {
		t.Errorf("without the session: %+v", e)
	}
}

// unpacked returns the text of a file, which may be a WARC.
func unpacked(t *testing.T, text string) string {
	t.Helper()
	if !strings.HasPrefix(text, "\x1f\x8b") {
		return text
	}
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustRel(dir, path string) string {
	name, err := filepath.Rel(dir, path)
	if err != nil {
		panic(err)
	}
	return name
}

// TestLoginFails: a wrong password, a missing field and a missing variable say so, and write
// nothing.
func TestLoginFails(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"--field user=ada --field password=wrong", wefttest.Failed, "asks for the password again"},
		{"--field user=ada --field password=$NO_SUCH_VARIABLE", wefttest.Misused, "$NO_SUCH_VARIABLE is not set"},
		{"--field user=ada --field password=lovelace --success .nowhere", wefttest.Failed, "it does not show that the login has succeeded"},
		{"--field user=ada --success [", wefttest.Misused, "--success"},
		{"--field user", wefttest.Misused, "expected NAME=VALUE"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			e := wefttest.Run(t, append([]string{"login", "--session", "s", c.URL + "/login"}, strings.Fields(test.args)...)...)
			if e.Code != test.code || !strings.Contains(e.Stderr, test.want) || strings.Contains(e.Stderr, "wrong") {
				t.Errorf("%+v, expected %s", e, test.want)
			}
			if _, err := os.Stat(filepath.Join(e.Dir, "s")); err == nil {
				t.Error("a session was written")
			}
		})
	}
}

// TestLoginElsewhere: a site whose login page is on another port of this machine.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, c.URL+"/login", http.StatusFound)
	})
	e := wefttest.Run(t, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", s.URL)
	if e.Code != wefttest.Done || !strings.Contains(e.File("s"), "#weft-page\t"+c.URL+"/login\n") {
		t.Errorf("%+v: %s", e, e.File("s"))
	}
}

// TestLoginErrors: a page that is none, before the login or after it, is no success.
func TestLoginErrors(t *testing.T) {
	t.Parallel()
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		method := "action=/in method=post"
		if r.URL.RawQuery != "" {
			method = ""
		}
		fmt.Fprintf(w, "<!doctype html><form %s><input name=user><input type=password name=password></form>", method)
	})
	for url, want := range map[string]string{s.URL: s.URL + "/in: status 403", s.URL + "/?by=get": s.URL + "/: it asks for the password again", "http://127.0.0.1:1/": "connection refused"} {
		if e := wefttest.Run(t, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", url); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, want) || strings.Contains(e.Stderr, "lovelace") {
			t.Errorf("%s: %+v, expected %s", url, e, want)
		}
	}
}

// TestLoginPosts: the form of a page is sent to the site of the page, and to no other.
func TestLoginPosts(t *testing.T) {
	t.Parallel()
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<!doctype html><form method=post action=%s><input name=user><input type=password name=password></form>", strings.Replace(thief.URL, "127.0.0.1", "localhost", 1))
	})
	e := wefttest.Run(t, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", s.URL)
	if e.Code != wefttest.Failed || stolen.Load() > 0 || !strings.Contains(e.Stderr, "method POST to another site") {
		t.Errorf("%d POSTs elsewhere: %+v", stolen.Load(), e)
	}
}

// TestLoginOfApplication: a login by a script, whose token is in the storage of its pages; pages
// that are rendered find it there.
func TestLoginOfApplication(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	dir := t.TempDir()
	e := wefttest.In(t, dir, "login", "--session", "s", "--field", "#who=ada", "--field", "input[type=password]=lovelace", "--submit", ".go", "--success", "/app/", c.URL+"/app/login")
	if e.Code != wefttest.Done {
		t.Fatalf("%+v", e)
	}
	e = wefttest.In(t, dir, "crawl", "--render=always", "--session", "s", "--job", "job", c.URL+"/app/one")
	if e.Code != wefttest.Done || strings.Count(e.File("job/pages.jsonl"), `"title":"Secret of the application"`) != clubPages+1 || strings.Contains(e.File("job/pages.jsonl"), "/app/logout") {
		t.Errorf("%+v: %s", e, e.File("job/pages.jsonl"))
	}
	if e := wefttest.In(t, dir, "links", "--render=always", "--session", "s", c.URL+"/app/one"); !strings.Contains(e.Stdout, "/app/p/7") {
		t.Errorf("%+v", e)
	}
}

// TestCrawlLoggedOut: a crawl whose session ends says so once, and waits; with another login it
// goes on, and has lost nothing.
func TestCrawlLoggedOut(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	c.ends = 4
	dir := t.TempDir()
	c.waits(t, dir, func() {
		t.Helper()
		if e := wefttest.In(t, dir, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", c.URL+"/login"); e.Code != wefttest.Done {
			t.Fatalf("%+v", e)
		}
	}, "--session", "s", "--job", "job", c.URL+"/p/0")
	pages := wefttest.Ended{Dir: dir}.File("job/pages.jsonl")
	if n := strings.Count(pages, `"title":"Inside /p/`); n != clubPages || strings.Count(pages, "\n") != clubPages {
		t.Errorf("%d pages, expected %d: %s", n, clubPages, pages)
	}
}

// TestApplicationLoggedOut: an application says by its scripts that a session has ended. A page
// that has led to the login is gone then.
func TestApplicationLoggedOut(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	c.ends = 1
	dir := t.TempDir()
	c.waits(t, dir, func() {
		t.Helper()
		if e := wefttest.In(t, dir, "login", "--session", "s", "--field", "#who=ada", "--field", "#pw=lovelace", "--submit", ".go", "--success", ".home", c.URL+"/app/login"); e.Code != wefttest.Done {
			t.Fatalf("%+v", e)
		}
	}, "--render=always", "--session", "s", "--job", "job", c.URL+"/app/one")
	pages := wefttest.Ended{Dir: dir}.File("job/pages.jsonl")
	if strings.Count(pages, `"title":"Secret of the application"`) != clubPages || strings.Count(pages, `"status":404`) != 1 || strings.Count(pages, "\n") != clubPages+1 {
		t.Error(pages)
	}
}

// waits crawls with a session that ends, logs in again when the crawl says so, and expects that it
// says so once, and goes on.
func (c *club) waits(t *testing.T, dir string, in func(), args ...string) {
	t.Helper()
	in()
	cmd, _ := wefttest.Command(t, append([]string{"crawl"}, args...)...)
	cmd.Dir = dir
	code, all := onceSaid(t, cmd, "the crawl is logged out", func() {
		if e := wefttest.In(t, dir, "status", "job"); !strings.Contains(e.Stdout, "logged out") {
			t.Errorf("%+v", e)
		}
		in()
		if e := wefttest.In(t, dir, "ctl", "job", "resume"); e.Code != wefttest.Done || e.Stdout != "resumed\n" {
			t.Errorf("%+v", e)
		}
	})
	if code != wefttest.Done {
		t.Errorf("exit %d: %s", code, all)
	}
}

// onceSaid runs a command that says something once, has then be done, and returns the exit code and
// all that was said. Saying it twice ends the command.
func onceSaid(t *testing.T, cmd *exec.Cmd, what string, then func()) (code int, all string) {
	t.Helper()
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		all += lines.Text() + "\n"
		if !strings.Contains(lines.Text(), what) {
			continue
		}
		if said++; said > 1 {
			_ = cmd.Process.Kill()
			break
		}
		then()
	}
	if code = wefttest.ExitCode(cmd.Wait()); said != 1 {
		t.Errorf("said %d times: %s", said, all)
	}
	return code, all
}

// TestSignedOut: the form of the login in place of a page, and the stated sign, say that a crawl is
// logged out; the crawl that starts again has lost nothing.
func TestSignedOut(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	var how atomic.Value
	how.Store("")
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/p" || how.Load() == "":
			c.serve(w, r)
		case how.Load() == "form":
			r.URL.Path = "/login"
			c.serve(w, r)
		default:
			fmt.Fprint(w, "<p>You are a <b>guest</b>")
		}
	})
	dir := t.TempDir()
	for _, now := range []string{"form", "sign"} {
		if e := wefttest.In(t, dir, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", "--signed-out", "text=a guest", s.URL+"/login"); e.Code != wefttest.Done {
			t.Fatalf("%+v", e)
		}
		how.Store(now)
		cmd, _ := wefttest.Command(t, "crawl", "--session", "s", "--job", now, "--scope", "page", s.URL+"/p")
		cmd.Dir = dir
		code, all := onceSaid(t, cmd, "the crawl is logged out: "+s.URL+"/p: it ", func() { _ = cmd.Process.Signal(os.Interrupt) })
		if code != wefttest.Interrupted || (wefttest.Ended{Dir: dir}).File(now+"/pages.jsonl") != "" {
			t.Errorf("%s: exit %d, %s", now, code, all)
		}
		how.Store("")
		e := wefttest.In(t, dir, "crawl", "--session", "s", "--job", now, "--scope", "page", s.URL+"/p")
		if e.Code != wefttest.Done || strings.Count(e.File(now+"/pages.jsonl"), "Inside /p") != 1 {
			t.Errorf("%s, again: %+v", now, e)
		}
	}
}

// TestLoginOnTwoPages: a login that asks for the name first, and hands it on in the storage of the
// session, as a login through another site does.
func TestLoginOnTwoPages(t *testing.T) {
	t.Parallel()
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<form action=/second onsubmit="sessionStorage.setItem('user', this.user.value)"><input name=user><button disabled>Next</button></form>
				<script>setTimeout(() => document.querySelector('button').disabled = false, 600)</script>`)
		case "/second":
			fmt.Fprint(w, `<form><input name=password type=password><select name=role><option>guest<option>member</select></form><script>
				const form = document.querySelector('form')
				form.addEventListener('submit', e => {
					e.preventDefault()
					fetch('/in', { method: 'POST', body: new URLSearchParams({ user: sessionStorage.getItem('user'), password: form.password.value, role: form.role.value }) })
						.then(r => { if (r.ok) location = '/inside'; else alert('no') })
				})</script>`)
		case "/in":
			if r.Method != http.MethodPost || r.PostFormValue("user") != "ada" || r.PostFormValue("password") != "lovelace" || r.PostFormValue("role") != "member" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "inside", Path: "/"})
		case "/inside":
			fmt.Fprint(w, "<h1>Hello</h1>")
		}
	})
	e := wefttest.Run(t, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", "--field", "role=member", "--success", "text=Hello", s.URL)
	if e.Code != wefttest.Done || !strings.Contains(e.File("s"), "sid\tinside") || !strings.Contains(e.File("s"), "#weft-page\t"+s.URL+"/second\n") {
		t.Errorf("%+v: %s", e, e.File("s"))
	}
}

// TestLoggedOutWithoutJob: such a crawl ends, as nobody can have it go on.
func TestLoggedOutWithoutJob(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	dir := t.TempDir()
	if e := wefttest.In(t, dir, "login", "--session", "s", "--field", "user=ada", "--field", "password=lovelace", c.URL+"/login"); e.Code != wefttest.Done {
		t.Fatalf("%+v", e)
	}
	c.did(func() { clear(c.sessions) })
	if e := wefttest.In(t, dir, "crawl", "--session", "s", "-o", "-", c.URL+"/p/0"); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "the crawl is logged out: "+c.URL+"/p/0: it redirects to the login page") {
		t.Errorf("%+v", e)
	}
}

// TestLoginByHand: a person logs in in a window, and closes it, or presses Enter. Nothing of the
// browser stays.
func TestLoginByHand(t *testing.T) {
	t.Parallel()
	cmd, stderr := wefttest.Command(t, "login", "http://127.0.0.1:1/")
	cmd.Env = append(cmd.Env, "DISPLAY=", "WAYLAND_DISPLAY=")
	if code := wefttest.ExitCode(cmd.Run()); code != wefttest.Failed || !strings.Contains(stderr.String(), "no screen") || !strings.Contains(stderr.String(), "recipe") {
		t.Errorf("without a screen: exit %d, %s", code, stderr)
	}
	for _, name := range []string{"Xvfb", "chromium"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	screen := exec.Command("Xvfb", "-displayfd", "3", "-ac", "-screen", "0", "1024x768x24")
	number, display, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	screen.ExtraFiles = []*os.File{display}
	if err := screen.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Process.Kill(); _ = screen.Wait() })
	at, err := bufio.NewReader(number).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	// The page is the person: it logs in, and then may close the window.
	asked := make(chan bool, 10)
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/by-enter", "/by-closing":
			fmt.Fprintf(w, `<!doctype html><title>Log in</title><input type=password><script>
				fetch('/in').then(() => { localStorage.setItem('token', 't1'); setTimeout(() => fetch('/done').then(() => { if (%t) close() }), 1500) })</script>`, r.URL.Path == "/by-closing")
		case "/in":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", Path: "/", HttpOnly: true})
		case "/done":
			asked <- true
		}
	})
	window, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for _, how := range []string{"/by-enter", "/by-closing"} {
		cmd, stderr := wefttest.Command(t, "login", "--session", "s", s.URL+how)
		temp, err := os.MkdirTemp("", "weft")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(temp)
		if err := os.Chmod(temp, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "DISPLAY=:"+strings.TrimSpace(at), "TMPDIR="+temp)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-asked:
		case err := <-ended:
			t.Fatalf("%s: before the page was shown: %v, %s", how, err, stderr)
		case <-window.Done():
			t.Fatalf("%s: no page is shown: %s", how, stderr)
		}
		if how == "/by-enter" {
			fmt.Fprintln(in)
		}
		if code := wefttest.ExitCode(<-ended); code != wefttest.Done {
			t.Errorf("%s: exit %d: %s", how, code, stderr)
		}
		text := wefttest.Ended{Dir: cmd.Dir}.File("s")
		if !strings.Contains(text, "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\ts1\n") || !strings.Contains(text, "#weft-stored\t"+s.URL+"\t\"token\"\t\"t1\"\n") || !strings.Contains(text, "#weft-page\t"+s.URL+how+"\n") {
			t.Errorf("%s: %s, %s", how, text, stderr)
		}
		if left, _ := os.ReadDir(temp); len(left) > 0 {
			t.Errorf("%s: %v is left", how, left)
		}
	}
}

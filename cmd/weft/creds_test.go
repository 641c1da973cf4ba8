package main

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// write writes a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// counting is star with a cookie in each response.
func counting(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: "set", Value: "by" + strings.ReplaceAll(r.URL.Path, "/", "-"), Path: "/"})
	wefttest.Star(w, r)
}

// effectCookies checks that the cookies of the file and of sites are sent.
func effectCookies(t *testing.T) {
	s := wefttest.NewAsked(t, false, counting)
	jar := "127.0.0.1\tFALSE\t/\tFALSE\t0\tgiven\tsesame\nother.test\tFALSE\t/\tFALSE\t0\tn\tv\n"
	e := crawlArgs(t, exitDone, "--cookies", write(t, jar), "-c", "1", s.URL)
	for i, r := range s.Got() {
		given, err := r.Cookie("given")
		if err != nil || given.Value != "sesame" || len(r.Cookies()) != min(i, 1)+1 {
			t.Errorf("request %d brought %q", i, r.Header["Cookie"])
		}
	}
	tellsNothing(t, e, "sesame")
}

// effectSession checks that the cookies of a session are sent, and that what may log out is not
// requested.
func effectSession(t *testing.T) {
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, "/one", "/logout") })
	file := dataFile(t, "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tsesame\n")
	crawlArgs(t, exitDone, "--session", file, "--job", "job", s.URL)
	expect(t, "requested", s.Paths(), "/ /one")
	for _, r := range s.Got() {
		if sid, err := r.Cookie("sid"); err != nil || sid.Value != "sesame" {
			t.Errorf("%s: %v", r.URL, r.Header)
		}
	}
}

// effectAcceptCookies: cookies that sites set are sent back with the flag only.
func effectAcceptCookies(t *testing.T) {
	for _, flags := range [][]string{{"--accept-cookies"}, nil} {
		s := wefttest.NewAsked(t, false, counting)
		crawlArgs(t, exitDone, append(flags, "-c", "1", s.URL)...)
		for i, r := range s.Got() {
			if set := len(r.Cookies()); set != min(i, len(flags)) {
				t.Errorf("%q: request %d brought %q", flags, i, r.Header["Cookie"])
			}
		}
	}
}

// locked is star behind a password, with a link to another server.
func locked(authorization, away string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != authorization:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/a":
			http.Redirect(w, r, away+"/redirected", http.StatusFound)
		case r.URL.Path == "/":
			wefttest.HTML(w, "/a", "/b", away+"/linked")
		}
	}
}

// sesame is the Authorization field of Ali with the password open:sesame.
const sesame = "Basic QWxpOm9wZW46c2VzYW1l"

func effectAuth(t *testing.T) {
	away := wefttest.NewAsked(t, false, wefttest.Star)
	plain, secure := wefttest.NewAsked(t, false, locked(sesame, away.URL)), wefttest.NewAsked(t, true, locked(sesame, away.URL))
	for name, args := range map[string][]string{
		"http":  {"--auth", plain.URL + "=Ali:open:sesame", plain.URL},
		"https": {"-k", "--auth", secure.Address() + "=Ali:open:sesame", secure.URL},
		"file":  {"-k", "--auth", secure.Address() + "=@" + write(t, "Ali:open:sesame\n"), secure.URL},
		"seed":  {strings.Replace(plain.URL, "//", "//Ali:open%3Asesame@", 1)},
	} {
		e := crawlArgs(t, exitDone, append(args, "--scope", "any", "--job", "job", "--bodies", "--links")...)
		if n := strings.Count(e.file("job/pages.jsonl"), `"status":200`); n != 4 {
			t.Errorf("%s: %d answers of 200, expected 4: %s", name, n, e.file("job/pages.jsonl"))
		}
		tellsNothing(t, e, "sesame")
	}
	if len(away.Got()) == 0 {
		t.Error("no link out was followed")
	}
	for _, r := range away.Got() {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s brought %q to another origin", r.URL, r.Header["Authorization"])
		}
	}
}

func effectBearer(t *testing.T) {
	away := wefttest.NewAsked(t, false, wefttest.Star)
	s := wefttest.NewAsked(t, false, locked("Bearer open-sesame", away.URL))
	e := crawlArgs(t, exitDone, "--bearer", s.URL+"=open-sesame", s.URL)
	if n := strings.Count(e.file("127.0.0.1_"+strings.TrimPrefix(s.Address(), "127.0.0.1:")+".weft/pages.jsonl"), `"status":200`); n != 2 {
		t.Errorf("%d answers of 200, expected 2", n)
	}
	tellsNothing(t, e, "sesame")
}

func effectProxy(t *testing.T) {
	plain, secure := wefttest.NewAsked(t, false, wefttest.Star), wefttest.NewAsked(t, true, wefttest.Star)
	hosts := map[string]string{"a.test:80": plain.Address(), "a.test:443": secure.Address()}
	want := []string{"forward a.test:80", "tunnel a.test:443"}
	p := newHTTPProxy(t, "Ali:sesame", hosts)
	e := crawlArgs(t, exitDone, "-k", "--job", "job", "--proxy", strings.Replace(p.url, "//", "//Ali:sesame@", 1), "http://a.test/", "https://a.test/")
	if got := p.got(); !slices.Equal(got, want) {
		t.Errorf("requests to the proxy: %q", got)
	}
	if records := e.file("job/pages.jsonl"); strings.Count(records, `"status":200`) != 8 || strings.Contains(records, `"ip"`) {
		t.Errorf("records %s, expected 8 pages, and no addresses: the proxy has them", records)
	}
	tellsNothing(t, e, "sesame")
	kind(t, "proxy", "--proxy", p.url, "http://a.test/")
	kind(t, "proxy", "--proxy", strings.Replace(p.url, "//", "//Ali:open@", 1), "https://a.test/")

	s := newSOCKS(t, hosts)
	crawlArgs(t, exitDone, "-k", "--proxy", s.url, "http://a.test/", "https://a.test/")
	if got := s.got(); !slices.Equal(got, []string{"socks a.test:443", "socks a.test:80"}) {
		t.Errorf("requests to the SOCKS proxy: %q", got)
	}
	kind(t, "proxy", "--proxy", s.url, "http://b.test/")
}

// tellsNothing expects a secret neither in the output of a crawl nor in its files.
func tellsNothing(t *testing.T, e ended, secret string) {
	t.Helper()
	if strings.Contains(e.stdout+e.stderr, secret) {
		t.Errorf("the secret is printed: %s%s", e.stdout, e.stderr)
	}
	err := filepath.WalkDir(e.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestEnvironmentProxy: the proxy variables of the environment work as in other tools.
func TestEnvironmentProxy(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	p := newHTTPProxy(t, "", map[string]string{"a.test:80": s.Address()})
	for name, c := range map[string]struct {
		env  []string
		args []string
		code int
		want string // part of standard error
		asks bool
	}{
		"for http":          {[]string{"http_proxy=" + p.url}, []string{"http://a.test/"}, exitDone, "", true},
		"for all":           {[]string{"ALL_PROXY=" + p.url}, []string{"http://a.test/"}, exitDone, "", true},
		"for https alone":   {[]string{"https_proxy=" + p.url}, []string{"http://a.test/"}, exitError, "", false},
		"not for this":      {[]string{"http_proxy=" + p.url, "no_proxy=.test"}, []string{"http://a.test/"}, exitError, "", false},
		"not for loopback":  {[]string{"http_proxy=" + p.url}, []string{s.URL}, exitDone, "", false},
		"none":              {[]string{"http_proxy=" + p.url}, []string{"--proxy", "none", "http://a.test/"}, exitError, "", false},
		"another":           {[]string{"http_proxy=http://127.0.0.1:1"}, []string{"--proxy", p.url, "http://a.test/"}, exitDone, "", true},
		"of another scheme": {[]string{"http_proxy=https://me:sesame@127.0.0.1:1"}, []string{"http://a.test/"}, exitUsage, `$http_proxy: scheme "https", expected http, socks5 or socks5h; use --proxy none for no proxy`, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := p.times()
			cmd, stderr := weftCommand(t, append([]string{"fetch", "--dns", "127.0.0.1:1", "--connect-timeout", "5s"}, c.args...)...)
			cmd.Env = append(cmd.Env, c.env...)
			code := exitCode(cmd.Run())
			if code != c.code || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "sesame") {
				t.Errorf("exit %d, expected %d: %s", code, c.code, stderr)
			}
			if asks := p.times() > before; asks != c.asks {
				t.Errorf("the proxy is asked: %v", asks)
			}
		})
	}
}

// TestSecretsMisused: an error about a secret names the flag and what was expected, not the
// secret.
func TestSecretsMisused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no host":         {[]string{"--auth", "Ali:sesame"}, "--auth: expected HOST=USER:PASSWORD"},
		"no colon":        {[]string{"--auth", "a.test=sesame"}, "--auth: no colon between user and password, expected HOST=USER:PASSWORD"},
		"URL":             {[]string{"--auth", "https://a.test/path=Ali:sesame"}, "--auth: expected HOST or HOST:PORT before the ="},
		"user in host":    {[]string{"--auth", "Ali:sesame@a.test=x:y"}, "--auth: expected HOST or HOST:PORT before the ="},
		"control":         {[]string{"--auth", "a.test=Ali:sesame\x1b[31m"}, "--auth: credential for a.test: user and password, expected no control characters"},
		"no file":         {[]string{"--auth", "a.test=@missing"}, `--auth: "missing": no such file or directory, expected a file with the secret`},
		"endless file":    {[]string{"--auth", "a.test=@/dev/zero"}, `--auth: "/dev/zero": expected at most 16384 bytes`},
		"empty token":     {[]string{"--bearer", "a.test="}, "--bearer: credential for a.test: empty"},
		"two tokens":      {[]string{"--bearer", "a.test=open sesame"}, "--bearer: credential for a.test: token, expected no spaces"},
		"proxy":           {[]string{"--proxy", "https://Ali:sesame@a.test"}, `--proxy: scheme "https", expected http, socks5 or socks5h`},
		"proxy, no host":  {[]string{"--proxy", "http://Ali:sesame@"}, "--proxy: expected host and port"},
		"no cookies":      {[]string{"--cookies", "missing"}, `--cookies "missing": no such file or directory, expected a file of cookies`},
		"no cookies file": {[]string{"--cookies", write(t, "{\"cookie\": \"sesame\"}\n")}, ": line 1: 1 fields, expected 7 between tabs"},
		"seed":            {[]string{"https://Ali:sesame@exa mple.org/"}, `URL "https://…@exa mple.org/"`},
		"no command":      {nil, `a URL, expected a command, as in weft crawl URL`},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"crawl"}, c.args...)
			switch name {
			case "no command":
				args = []string{"https://Ali:sesame@a.test/"}
			case "seed":
			default:
				args = append(args, "https://a.test/")
			}
			e := weftRun(t, args...)
			if e.code != exitUsage || !strings.Contains(e.stderr, c.want) || strings.Contains(e.stderr+e.stdout, "sesame") {
				t.Errorf("exit %d, expected %d and %s: %s", e.code, exitUsage, c.want, e.stderr)
			}
		})
	}
}

// TestFetchWho: weft fetch sends cookies and credentials across redirects.
func TestFetchWho(t *testing.T) {
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if c, err := r.Cookie("n"); err != nil || c.Value != "v" {
			http.SetCookie(w, &http.Cookie{Name: "n", Value: "v"})
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	})
	e := weftRun(t, "fetch", "--follow", "--accept-cookies", strings.Replace(s.URL, "//", "//Ali:sesame@", 1))
	if e.code != exitDone || !strings.Contains(e.stdout, "HTTP/1.1 302") || !strings.Contains(e.stdout, "HTTP/1.1 200") {
		t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
	}
	tellsNothing(t, e, "sesame")
}

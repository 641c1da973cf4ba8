package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// bareSite is a site that runs on one port, and what its pages were asked for.
func bareSite(t *testing.T, secure bool) (s *wefttest.Asked, port string) {
	s = wefttest.NewAsked(t, secure, wefttest.Star)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return s, port
}

// fates are URL, status or error kind, and origin of the records of a job.
func fates(t *testing.T, e ended, job string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(e.file(filepath.Join(job, "pages.jsonl"))) {
		var r weft.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		fate := r.ErrorKind
		if fate == "" {
			fate = http.StatusText(r.Status)
		}
		all = append(all, r.URL+" "+fate+" "+r.From)
	}
	return strings.Join(all, "\n")
}

// TestBareHost: a seed without a scheme is tried by https, then by http; the record of either says
// so, and a resumed crawl does as the first run did.
func TestBareHost(t *testing.T) {
	t.Parallel()
	plain, plainPort := bareSite(t, false)
	secure, securePort := bareSite(t, true)
	closed := closedPort(t)
	for name, c := range map[string]struct {
		seed, resolve string
		site          *wefttest.Asked
		begin         string // of the records
	}{
		"https":      {"a.test", "a.test:443:127.0.0.1:" + securePort, secure, "https://a.test/ OK "},
		"http":       {"a.test", "*:80:127.0.0.1:" + plainPort + " --resolve *:443:127.0.0.1:" + closed, plain, "https://a.test/ connect \nhttp://a.test/ OK https://a.test/"},
		"no TLS":     {"a.test:8080", "*:8080:127.0.0.1:" + plainPort, plain, "https://a.test:8080/ tls \nhttp://a.test:8080/ OK https://a.test:8080/"},
		"no robots":  {"a.test --no-robots", "*:80:127.0.0.1:" + plainPort + " --resolve *:443:127.0.0.1:" + closed, plain, "https://a.test/ connect \nhttp://a.test/ OK https://a.test/"},
		"an address": {"127.0.0.1:" + plainPort, "b.test:1:127.0.0.1:1", plain, "http://127.0.0.1:" + plainPort + "/ OK "},
		"localhost":  {"localhost:" + plainPort + "/", "b.test:1:127.0.0.1:1", plain, "http://localhost:" + plainPort + "/ OK "},
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields("crawl -k -q --job job --resolve " + c.resolve + " " + c.seed)
			e := weftRun(t, append(args, "--limit", "2")...)
			if e.code != exitLimit && name != "http" && name != "no robots" {
				t.Errorf("%+v", e)
			}
			if e := weftIn(t, e.dir, args...); e.code != exitDone {
				t.Errorf("resumed: %+v", e)
			}
			got := fates(t, e, "job")
			if !strings.HasPrefix(got, c.begin+"\n") || strings.Count(got, " OK ") != 4 || strings.Count(got, "\n") != 3+strings.Count(c.begin, "\n") {
				t.Errorf("records\n%s\nexpected to begin with\n%s", got, c.begin)
			}
		})
	}
}

// TestBareHostWhy: the record of https says what is tried instead, and weft why where http comes
// from.
func TestBareHostWhy(t *testing.T) {
	t.Parallel()
	_, port := bareSite(t, false)
	e := weftRun(t, "crawl", "--resolve", "*:80:127.0.0.1:"+port, "--resolve", "*:443:127.0.0.1:"+closedPort(t), "a.test")
	if e.code != exitDone || !strings.Contains(e.file("a.test.weft/pages.jsonl"), "; http://a.test/ is tried instead") {
		t.Errorf("%+v: %s", e, e.file("a.test.weft/pages.jsonl"))
	}
	why := weftIn(t, e.dir, "why", "a.test.weft", "http://a.test/").stdout
	if !strings.Contains(why, "seed       in place of https://a.test/, which did not answer: the seed was given without a scheme\n") {
		t.Errorf("%s", why)
	}
}

// TestBareCommands: every command that takes a URL takes one without a scheme, tries https first
// and says so when http is next.
func TestBareCommands(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /no\n")
		case "/sitemap.xml":
			_, _ = io.WriteString(w, "<urlset><url><loc>http://a.test/mapped</loc></url></urlset>")
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<a href=b>")
		}
	}))
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	resolve := []string{"--resolve", "*:80:127.0.0.1:" + port, "--resolve", "*:443:127.0.0.1:" + closedPort(t)}
	dir := t.TempDir()
	for command, want := range map[string]string{
		"fetch a.test/x":               "GET http://a.test/x\n",
		"links a.test/x":               "http://a.test/b\n",
		"sitemap a.test":               "http://a.test/mapped\t",
		"sitemap a.test/sitemap.xml":   "http://a.test/mapped\t",
		"charset a.test/x":             "windows-1252",
		"robots test a.test/no":        "disallowed  a.test/no  line 2",
		"robots test a.test /no":       "disallowed  /no  line 2",
		"robots test a.test a.test/ok": "allowed     a.test/ok  no rule",
	} {
		e := weftIn(t, dir, append(strings.Fields(command), resolve...)...)
		code := exitDone
		if strings.HasPrefix(want, "disallowed ") {
			code = exitError
		}
		if e.code != code || !strings.Contains(e.stdout, want) || strings.Count(e.stderr, "\n") != 1 ||
			!strings.Contains(e.stderr, "; http://a.test/") || !strings.HasSuffix(e.stderr, " is tried instead\n") {
			t.Errorf("%s: %+v", command, e)
		}
	}
	for command, want := range map[string]string{
		"links page.html":     "no such file or directory, expected a file",
		"sitemap sitemap.xml": "no such file or directory, expected a file",
	} {
		if e := weftIn(t, dir, strings.Fields(command)...); e.code != exitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %+v", command, e)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b.test"), []byte("<a href=/x>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := weftIn(t, dir, "links", "b.test"); e.stdout != "http://localhost/x\n" {
		// A file goes before a host.
		t.Errorf("%+v", e)
	}
	crawl := append([]string{"crawl", "-q", "--job", "job", "--limit", "2", "a.test/x"}, resolve...)
	weftIn(t, dir, crawl...)
	if e := weftIn(t, dir, "why", "job", "a.test/x"); !strings.HasPrefix(e.stdout, "http://a.test/x: done\n") {
		t.Errorf("%+v", e)
	}
	if e := weftIn(t, dir, "why", "job", "a.test/unseen"); !strings.HasPrefix(e.stdout, "https://a.test/unseen: unseen\n") {
		t.Errorf("%+v", e)
	}
}

// TestBareList: a list of hosts, of which some answer by http only, and with lines that are no
// URLs.
func TestBareList(t *testing.T) {
	_, plainPort := bareSite(t, false)
	_, securePort := bareSite(t, true)
	dir := t.TempDir()
	list := "not a host\n# hosts\na.test\n\nb.test/a\nhttp://a.test/b\nftp://a.test/\n"
	if err := os.WriteFile(filepath.Join(dir, "hosts.txt"), []byte(list), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"crawl", "--scope", "page", "-k", "--resolve", "*:80:127.0.0.1:" + plainPort, "--resolve", "a.test:443:127.0.0.1:" + closedPort(t),
		"--resolve", "b.test:443:127.0.0.1:" + securePort, "--allow-private", "-i"}
	e := weftIn(t, dir, append(args, "hosts.txt")...)
	for _, want := range []string{"weft: hosts.txt:1: ", "weft: hosts.txt:7: "} {
		if !strings.Contains(e.stderr, want) {
			t.Errorf("%s, expected %q", e.stderr, want)
		}
	}
	got := fates(t, ended{dir: dir}, "a.test.weft")
	for _, want := range []string{"https://a.test/ connect ", "http://a.test/ OK https://a.test/", "https://b.test/a OK ", "http://a.test/b OK "} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("records\n%s, expected %q", got, want)
		}
	}
	if e.code != exitDone || strings.Count(got, "\n") != 3 {
		t.Errorf("exit %d, records\n%s", e.code, got)
	}
}

// effectStrict: with --strict a line that is no URL ends the crawl with a usage error, wherever it
// stands; without, it is skipped, and many are counted.
func effectStrict(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(wefttest.Star))
	defer s.Close()
	long := strings.Repeat(s.URL+"/\n", 20_000)
	for name, c := range map[string]struct {
		list, strict, warned string
	}{
		"first":    {"x y\n" + s.URL, "weft: --input: standard input:1: URL \"x y\"", "weft: standard input:1: "},
		"last":     {s.URL + "\nx y", "weft: --input: standard input:2: URL \"x y\"", "weft: standard input:2: "},
		"far away": {long + "x y\n" + s.URL, "weft: --input: standard input:20001: URL \"x y\"", "weft: standard input:20001: "},
		"many":     {s.URL + strings.Repeat("\nx y", 500), "weft: --input: standard input:2: ", "weft: standard input: 490 lines more skipped\n"},
		"only":     {"x y\n", "weft: --input: standard input:1: ", "weft: --input standard input: no URL in it"},
	} {
		for _, strict := range []bool{false, true} {
			args := []string{"crawl", "--scope", "page", "-o", "-", "-i", "-"}
			code, want := exitDone, c.warned
			if name == "only" {
				code = exitUsage
			}
			if strict {
				args, code, want = append(args, "--strict"), exitUsage, c.strict
			}
			cmd, stderr := weftCommand(t, args...)
			cmd.Stdin = strings.NewReader(c.list)
			out, err := cmd.Output()
			if exitCode(err) != code || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") > 30 {
				t.Errorf("%s, strict %t: exit %d, %s, expected %d, %q", name, strict, exitCode(err), stderr, code, want)
			}
			if n := strings.Count(string(out), "\n"); n != 1 && (name == "far away" || !strict && code == exitDone) {
				t.Errorf("%s, strict %t: %d records", name, strict, n)
			}
		}
	}
}

// TestFileAsURL: a file or a job in place of a URL is a mistake that names the flag for it.
func TestFileAsURL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "urls.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "job/state"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "example.org.weft"), 0o777); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"urls.txt":         "weft: crawl: \"urls.txt\": a file, expected a URL: -i urls.txt reads URLs from it\n",
		"job/":             "weft: crawl: \"job/\": a job, expected a URL: --job job/ resumes it\n",
		"example.org.weft": "weft: crawl: \"example.org.weft\": a job, expected a URL: --job example.org.weft resumes it\n",
	} {
		if e := weftIn(t, dir, "crawl", arg); e.code != exitUsage || e.stderr != want {
			t.Errorf("%s: exit %d, %s", arg, e.code, e.stderr)
		}
	}
	// A stranger does not learn which files there are.
	if err := os.WriteFile(filepath.Join(dir, "a b.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	there, none := weftIn(t, dir, "crawl", "--distrust", "a b.txt"), weftIn(t, dir, "crawl", "--distrust", "c d.txt")
	if there.code == exitDone || strings.ReplaceAll(there.stderr, "a b", "c d") != none.stderr {
		t.Errorf("with --distrust: %s, and of no file %s", there.stderr, none.stderr)
	}
}

// closedPort is a port of this machine on which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return ports[0]
}

package commands_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestDidYouMean: a flag, a command or a folder that is nearly right is suggested, and a wrong
// word never does anything.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"a letter too few":   {"crawl --dept 3", "--dept: unknown flag: did you mean --depth?"},
		"letters swapped":    {"crawl --exculde x", "did you mean --exclude?"},
		"another case":       {"links --JSON -", "did you mean --json?"},
		"an underscore":      {"crawl --max_body 1", "did you mean --max-body?"},
		"no hyphen":          {"crawl --limit-perhost 3", "did you mean --limit-per-host?"},
		"a beginning":        {"crawl --conc 3", "did you mean --concurrency?"},
		"an end":             {"crawl --max-depth 3", "did you mean --depth?"},
		"the help":           {"--hlep", "did you mean --help?"},
		"of a sub-command":   {"robots test --us x", "did you mean --ua?"},
		"one hyphen":         {"crawl -limit 3", "did you mean --limit?"},
		"one hyphen, value":  {"crawl -depth 3", "did you mean --depth?"},
		"of wget":            {"crawl --no-check-certificate", "--no-check-certificate: unknown flag: did you mean --insecure?"},
		"of another crawler": {"crawl --threads 9", "did you mean --concurrency?"},
		"robots":             {"crawl --ignore-robots", "did you mean --no-robots?"},
		"the output":         {"crawl --out a", "did you mean --output?"},
		"of no use":          {"crawl --resume", "--resume: unknown flag: the same command resumes a crawl, --update visits a finished one again\n"},
		"scripts":            {"crawl --js", "--render has a browser run"},
		"a command for it":   {"crawl --wacz", "weft wacz JOB"},
		"nothing near":       {"crawl --frobnicate", "--frobnicate: unknown flag, expected one that weft crawl --help-all lists\n"},
		"JSON of a crawl":    {"crawl --json", "--json: unknown flag: -o FILE.jsonl writes lines of JSON\n"},
		"JSON of an export":  {"export --json", "-o FILE.jsonl writes lines of JSON\n"},
		"CSV":                {"crawl --csv", "-o FILE.csv writes CSV\n"},
		"a mirror":           {"crawl --convert-links", "weft mirror saves a site"},
		"a quota":            {"crawl --quota 3", "--limit N ends the crawl"},
		"accept":             {"crawl --accept x", "did you mean --include?"},
		"reject":             {"crawl --reject x", "did you mean --exclude?"},
		"subdomains":         {"crawl --subdomains", "--scope domain follows"},
		"pages":              {"check --max-pages 3", "did you mean --limit?"},
		"no parent":          {"mirror --no-parent", "--scope prefix stays"},
		"spider":             {"crawl --spider", "weft check looks for broken links\n"},
		"external":           {"crawl --follow-external", "--scope any follows"},
		"a proxy":            {"fetch --proxy-server x", "did you mean --proxy?"},
		"a port":             {"replay --port 3", "did you mean --listen?"},
		"failing":            {"check --fail-on x", "broken links end it with status 2"},
		"a job":              {"status --job x", "--job: unknown flag: the JOB is an argument, as in weft status JOB\n"},
		"of a job and a URL": {"read --job x", "as in weft read JOB\n"},
		"of an order":        {"ctl --job x pause", "as in weft ctl JOB\n"},
		"no job there":       {"links --job x", "--job: unknown flag, expected one"},
		"update and job":     {"crawl --update --job x", `--update "--job": a flag, expected the folder of a job in its place`},
		"a mirror again":     {"mirror --update x", "--update: unknown flag: weft mirror -o DIR brings a mirror up to date\n"},
		"a name of archive":  {"crawl --warc out.warc.gz http://127.0.0.1:9/", `--warc takes no value such as "out.warc.gz": the archive is JOB/archive`},
		"pause":              {"pause j", `"pause": no command, expected weft ctl JOB pause` + "\n"},
		"resume":             {"resume j", "weft ctl JOB resume after a pause, or weft crawl --job JOB if"},
		"update":             {"update j", "expected weft crawl --update JOB\n"},
		"a scope":            {"crawl --scope subdomain x", "expected one of page, prefix, host, domain, any: did you mean domain?"},
		"a setting":          {"ctl j set delay=1s concurency=4", `set: "concurency=4": did you mean concurrency?`},
		"an order":           {"ctl j paus", "did you mean pause?"},
		"a command":          {"crwl", "did you mean crawl?"},
		"a sub-command":      {"robots tset", "did you mean test?"},
		"a sub-command, far": {"robots frobnicate", "expected one that weft robots --help lists"},
		"help of nothing":    {"help robots frobnicate", "expected one that weft robots --help lists"},
		"a host":             {"example.org", "expected a command, as in weft crawl URL"},
		"words after kinds":  {"kinds of", "expected none"},
		"man and a command":  {"man crawl", "a command, expected a folder for the manual pages: weft crawl --help-all explains it"},
		"man and two":        {"man robots test", "expected a folder"},
	} {
		e := wefttest.Run(t, strings.Fields(c.args)...)
		left, _ := os.ReadDir(e.Dir)
		if e.Code != wefttest.Misused || !strings.Contains(e.Stderr, c.want) || strings.Count(e.Stderr, "\n") != 1 || e.Stdout != "" || len(left) > 0 {
			t.Errorf("%s: weft %s: exit %d, %s%s, left %v; expected %s", name, c.args, e.Code, e.Stdout, e.Stderr, left, c.want)
		}
	}
}

// TestNoJobFolder: what is not the folder of a job is named for what it is.
func TestNoJobFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("pages.jsonl", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("example.org.weft/state", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"status", "hosts", "urls", "why ARG http://a.test/", "ctl ARG pause", "crawl --update"} {
		for arg, want := range map[string]string{
			"pages.jsonl":          `"pages.jsonl": a file, expected the folder of a job, such as example.org.weft`,
			"pages.jsonl/x":        `"pages.jsonl/x": no job, expected the folder of a job, such as example.org.weft`,
			"nosuch":               `"nosuch": no job, expected the folder of a job, such as example.org.weft`,
			"https://example.net/": `"https://example.net/": a URL, expected the folder of a job, such as example.org.weft`,
			"https://example.org/": `"https://example.org/": a URL, expected the folder of a job: did you mean example.org.weft?`,
			"example.org":          `"example.org": no job, expected the folder of a job: did you mean example.org.weft?`,
		} {
			words := strings.Fields(command)
			if strings.Contains(command, "ARG") {
				words = strings.Fields(strings.ReplaceAll(command, "ARG", arg))
			} else {
				words = append(words, arg)
			}
			cmd, stderr := wefttest.Command(t, words...)
			cmd.Dir = dir
			if code := wefttest.ExitCode(cmd.Run()); code != wefttest.Misused || !strings.HasSuffix(stderr.String(), want+"\n") || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("weft %s: exit %d, %s, expected %s", words, code, stderr, want)
			}
		}
	}
}

// TestCertificateMessage: a certificate that is not accepted is reported once, in one line that
// names what to do; an error of the host is not one of its robots.txt.
func TestCertificateMessage(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, true, wefttest.Star)
	const want = "certificate not accepted: it is self-signed: " +
		"-k accepts any certificate, --ca FILE trusts other authorities"
	for _, args := range [][]string{{"crawl", "-o", "-"}, {"crawl"}, {"fetch"}, {"links"}, {"sitemap"}} {
		e := wefttest.Run(t, append(args, s.URL)...)
		if e.Code != wefttest.Failed || strings.Count(e.Stderr, "self-signed") != 1 || !strings.Contains(e.Stderr, s.URL+"/") || !strings.HasSuffix(e.Stderr, ": tls: "+want+"\n") {
			t.Errorf("weft %s: exit %d\n%s", args, e.Code, e.Stderr)
		}
		if strings.Contains(e.Stderr+e.Stdout, " robots.txt: ") {
			t.Errorf("weft %s blames robots.txt:\n%s%s", args, e.Stderr, e.Stdout)
		}
	}
	for _, u := range []string{"http://127.0.0.1:9/", "http://nowhere.invalid/"} {
		if e := wefttest.Run(t, "crawl", "--retries", "0", "-o", "-", u); e.Code != wefttest.Failed || strings.Contains(e.Stderr+e.Stdout, "robots.txt") {
			t.Errorf("%s: exit %d\n%s%s", u, e.Code, e.Stdout, e.Stderr)
		}
	}
}

// TestEndings: the end of a file's name says what is written to it, or is refused.
func TestEndings(t *testing.T) {
	t.Parallel()
	site := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>A</title><h1>A</h1><p>Words of a <b>page</b> about words.")
	})
	e := wefttest.Crawl(t, wefttest.Done, "--bodies", "--job", "j", site.URL)
	if err := os.Mkdir(filepath.Join(e.Dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, file, want string // the beginning of file, or what is said
		code             int
	}{
		{"read " + site.URL + " -o a.txt", "a.txt", "A\n", wefttest.Done}, {"read " + site.URL + " -o a.md", "a.md", "# A\n", wefttest.Done},
		{"read j " + site.URL + "/ -o b.txt", "b.txt", "A\n", wefttest.Done}, {"read j " + site.URL + "/ -o b.jsonl", "b.jsonl", "{", wefttest.Done},
		{"read j " + site.URL + "/ -o c.csv", "c.csv", "FILE.md for Markdown, FILE.txt for text", wefttest.Misused},
		{"read " + site.URL + " -o c.json", "c.json", "or FILE.jsonl", wefttest.Misused},
		{"read j --llms-txt -o c.csv", "c.csv", "expected FILE.txt or FILE.md with --llms-txt", wefttest.Misused},
		{"read j --llms-txt -o llms.txt", "llms.txt", "# ", wefttest.Done},
		{"extract j --extract t=h1 -o c.csv", "c.csv", "expected FILE.jsonl", wefttest.Misused},
		{"extract j --extract t=h1 -o c.xlsx", "c.xlsx", "expected FILE.jsonl", wefttest.Misused},
		{"extract j --extract t=h1 -o t.jsonl", "t.jsonl", "{", wefttest.Done},
		{"crawl -o c.json " + site.URL, "c.json", "expected FILE.jsonl or FILE.csv", wefttest.Misused},
		{"crawl -q -o u.urls " + site.URL, "u.urls", site.URL + "/\n", wefttest.Done},
		{"wacz j", "j.wacz", `"j": no archive, expected a job of weft crawl --warc`, wefttest.Failed},
		{"wacz empty -o x.wacz", "x.wacz", "a folder without a job, expected a JOB of weft crawl --warc, or WARC files", wefttest.Misused},
		{"read j --chunk-overlap 9", "j/markdown", "--chunk-overlap: expected together with --chunks", wefttest.Misused},
	} {
		got := wefttest.In(t, e.Dir, strings.Fields(c.args)...)
		_, missing := os.Stat(filepath.Join(e.Dir, c.file))
		switch {
		case got.Code != c.code:
			t.Errorf("weft %s: exit %d, %s", c.args, got.Code, got.Stderr)
		case c.code == wefttest.Done && !strings.HasPrefix(got.File(c.file), c.want):
			t.Errorf("weft %s: %q, expected %q", c.args, got.File(c.file), c.want)
		case c.code != wefttest.Done && (!strings.Contains(got.Stderr, c.want) || strings.Count(got.Stderr, "\n") != 1 || missing == nil):
			t.Errorf("weft %s: %s, and %v; expected %s", c.args, got.Stderr, missing, c.want)
		}
	}
}

// TestWhatHelps: status 401 and an address that is not public are reported with the flag for them.
func TestWhatHelps(t *testing.T) {
	t.Parallel()
	site := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		wefttest.HTML(w, "/secret", "http://10.0.0.1/")
	})
	const login, private = "--auth HOST=USER:PASSWORD logs in", "--allow-private lets pages lead there"
	e := wefttest.Crawl(t, wefttest.Done, "--scope", "any", "--job", "j", site.URL)
	for _, want := range []string{"401 Unauthorized: " + login, "blocked-address: " + private} {
		if !strings.Contains(e.Stderr, want) {
			t.Errorf("report:\n%s\nexpected %s", e.Stderr, want)
		}
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"why j " + site.URL + "/secret", login, wefttest.Done}, {"why j http://10.0.0.1/", private, wefttest.Done}, {"status j", private, wefttest.Done},
		{"fetch " + site.URL + "/secret", "status 401: " + login, wefttest.Done},
		{"read " + site.URL + "/secret", "status 401, expected 2xx: " + login, wefttest.Failed},
		{"links " + site.URL + "/secret", "status 401, expected 2xx: " + login, wefttest.Failed},
	} {
		got := wefttest.In(t, e.Dir, strings.Fields(c.args)...)
		if said := got.Stdout + got.Stderr; got.Code != c.code || strings.Count(said, c.want) != 1 {
			t.Errorf("weft %s: exit %d\n%s\nexpected %s", c.args, got.Code, said, c.want)
		}
	}
}

// TestReaderLeaves: like other tools, a command whose reader leaves ends without a word, whether
// SIGPIPE ends it or is ignored.
func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	endless := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, r.URL.Path+"a", r.URL.Path+"b") })
	dir := t.TempDir()
	var question bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&question, "{\"id\":%d,\"input\":\"http://a.test/%d\"}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "questions"), question.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	weft := func(args string) string { return wefttest.Program(t) + " " + args }
	for _, command := range []string{
		weft("crawl --job many --limit 3000 -q "+endless.URL) + "; " + weft("urls many --state done"),
		weft("crawl -o - " + endless.URL), weft("crawl -o - --format csv --log-format json " + endless.URL),
		weft("crawl -o /dev/stdout " + endless.URL),
		weft("url --jsonl questions"), weft("kinds; "+weft("kinds; ")) + weft("kinds"),
	} {
		for _, trap := range []string{"", "trap '' PIPE; "} {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", "{ "+trap+command+"; echo status $? >&2; } | head -n 1 >first")
			cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				t.Errorf("%s: %v", command, err)
			}
			if got := stderr.String(); got != "status 141\n" && (!strings.Contains(command, "kinds") || got != "status 0\n") {
				t.Errorf("%s%s: %s", trap, command, got)
			}
			_ = os.RemoveAll(filepath.Join(dir, "many"))
		}
	}
}

// TestReaderLeavesJob: the reader of a job's stream leaves; what is left of the job is worth a
// report.
func TestReaderLeavesJob(t *testing.T) {
	t.Parallel()
	endless := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, r.URL.Path+"a", r.URL.Path+"b") })
	cmd, stderr := wefttest.Command(t, "crawl", "--job", "job", "-o", "-", endless.URL)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1))
	out.Close()
	if code := wefttest.ExitCode(cmd.Wait()); code != 128+int(syscall.SIGPIPE) || !strings.Contains(stderr.String(), "the same command resumes it") || strings.Contains(stderr.String(), "weft: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestNextStep: a mistake at the next step after a crawl is answered with what was meant.
func TestNextStep(t *testing.T) {
	t.Parallel()
	site := wefttest.NewAsked(t, false, wefttest.Star)
	e := wefttest.Crawl(t, wefttest.Done, "--warc", "--job", "j", site.URL)
	for name, text := range map[string]string{"app.js": `x = "/a"`, "site/index.html": "", "style.CSS": "@import '/b'"} {
		path := filepath.Join(e.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"warc", "ls", "j"}, wefttest.Misused, `"j": a folder, expected WARC files`},
		{[]string{"wacz", "check", "j"}, wefttest.Misused, `"j": a folder, expected a WACZ file: weft wacz JOB -o FILE packs a job`},
		{[]string{"replay", "--listen", listener.Addr().String(), "j"}, wefttest.Failed, "in use by another program: --listen names another address"},
		{[]string{"ctl", "j", "set", "delay", "2s"}, wefttest.Misused, "set: delay without a value, expected delay=VALUE"},
		{[]string{"ctl", "set", "delay=2s"}, wefttest.Misused, "no JOB before set, expected the folder of a job"},
		{[]string{"crawl", "--update", "--limit", "9", "j"}, wefttest.Misused, `--update "--limit": expected the folder of a job`},
		{[]string{"urls", "j", "--where", "status = 404"}, wefttest.Misused, "= at character 8, expected =="},
		{[]string{"urls", "j", "--where", `status == "404"`}, wefttest.Misused, "expected a number without quotes"},
		{[]string{"urls", "j", "--error", "dnss"}, wefttest.Misused, "no error kind: did you mean dns?"},
		{[]string{"urls", "j", "--where", `error_kind == "dnss"`}, wefttest.Misused, `"dnss": no error kind: did you mean dns?`},
		{[]string{"export", "j", "-o", "a.csv", "--where", `error_kind != 'dnss'`}, wefttest.Misused, `"dnss": no error kind: did you mean dns?`},
		{[]string{"export", "j", "-o", "a.csv", "--table", "links", "--where", `kind == "img"`}, wefttest.Misused, `kind "img": no such value: did you mean image?`},
		{[]string{"export", "j", "-o", "a.csv", "--where", `kind == "image"`}, wefttest.Misused, "unknown field kind: links have it, which weft export writes with --table links"},
		{[]string{"urls", "j", "--where", `kind == "image"`}, wefttest.Misused, "--table links"},
		{[]string{"urls", "j", "--where", `indexability == "indexible"`}, wefttest.Misused, "did you mean indexable?"},
		{[]string{"read", "j", "--where", `indexability in ["noindex", "Canonical"]`}, wefttest.Misused, `indexability "Canonical": no such value: did you mean canonical?`},
		{[]string{"urls", "j", "--where", `state == "donne"`}, wefttest.Misused, "did you mean done?"},
		{[]string{"urls", "j", "--where", `title=="" && role != 'assets'`}, wefttest.Misused, `role "assets": no such value: did you mean asset?`},
		{[]string{"urls", "j", "--where", `change == "new1"`}, wefttest.Misused, "did you mean new?"},
		{[]string{"urls", "j", "--where", `unchanged_by == "body"`}, wefttest.Misused, "expected one of not-modified, answer, text"},
		{[]string{"urls", "j", "--where", `needs_scripts == "mounts" or cut != ""`}, wefttest.Misused, "did you mean mount?"},
		{[]string{"urls", "j", "--where", `cut == "unclosd"`}, wefttest.Misused, "did you mean unclosed?"},
		{[]string{"urls", "j", "--where", `NOT pruned`}, wefttest.Misused, "NOT at character 1, expected not"},
		{[]string{"export", "j", "-o", "a.csv", "--visit", "2"}, wefttest.Misused, `--visit "2": the job has had 1 visit`},
		{[]string{"wacz", "j"}, wefttest.Done, "writing j.wacz"},
		{[]string{"wacz", "j/archive/no.warc.gz"}, wefttest.Misused, "no such file"},
		{[]string{"mirror", "site"}, wefttest.Misused, `mirror: "site": a folder, expected a URL`},
		{[]string{"mirror", "j", "http://127.0.0.1:9/"}, wefttest.Misused, `mirror: "j": a job, expected URLs, or one JOB`},
		{[]string{"mirror", "-q", "j", "-o", "m"}, wefttest.Done, ""},
		{[]string{"mirror", "m", "-o", "m2"}, wefttest.Misused, `mirror: "m": a mirror, expected a URL: -o m brings it up to date`},
		{[]string{"lab"}, wefttest.Misused, "git clone https://github.com/weftcrawl/weft"},
		{[]string{"crawl", "--job", "site", "http://127.0.0.1:9/"}, wefttest.Misused, "expected a new folder: name another with --job"},
		{[]string{"read", "j", site.URL + "/A/"}, wefttest.Failed, "/A/: no page of the job: did you mean " + site.URL + "/a?"},
		{[]string{"links", "app.js"}, wefttest.Done, "app.js: a script: --scripts lists what looks like a URL in it"},
		{[]string{"links", "--scripts", "app.js"}, wefttest.Done, "http://localhost/a"},
		{[]string{"links", "style.CSS"}, wefttest.Done, "http://localhost/b"},
	} {
		got := wefttest.In(t, e.Dir, c.args...)
		if said := got.Stdout + got.Stderr; got.Code != c.code || !strings.Contains(said, c.want) || strings.Count(said, "\n") != min(1, len(c.want)) {
			t.Errorf("weft %q: exit %d, %s; expected %d, a line with %s", c.args, got.Code, said, c.code, c.want)
		}
	}
	for _, typed := range []string{"/a/", "/A", "/A/"} {
		for _, scheme := range []string{"http://", "https://"} {
			_, address, _ := strings.Cut(site.URL, "://")
			if got := wefttest.In(t, e.Dir, "why", "j", scheme+address+typed); got.Code != wefttest.Done || !strings.Contains(got.Stdout, "meant      the crawl knows "+site.URL+"/a\n") {
				t.Errorf("%s%s: exit %d, %s%s", scheme, typed, got.Code, got.Stdout, got.Stderr)
			}
		}
	}
	if got := wefttest.In(t, e.Dir, "why", "j", site.URL+"/other"); strings.Contains(got.Stdout, "meant") {
		t.Errorf("%s", got.Stdout)
	}
}

// TestListLimits: each command that lists something ends the list at --limit.
func TestListLimits(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	e := wefttest.Crawl(t, wefttest.Done, "--warc", "--job", "j", s.URL)
	archives, err := filepath.Glob(filepath.Join(e.Dir, "j/archive/*.warc.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatal(archives, err)
	}
	list := filepath.Join(e.Dir, "sitemap.txt")
	if err := os.WriteFile(list, []byte("http://a.test/1\nhttp://a.test/2\nhttp://a.test/3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		head int // lines before the list
	}{
		{"urls j", 0}, {"urls --json j", 0}, {"hosts j", 1}, {"links " + s.URL, 0}, {"links --json " + s.URL, 0},
		{"warc index " + archives[0], 0},
		{"sitemap --content-type text/plain " + list, 0}, {"warc ls " + archives[0], 0}, {"warc ls --jsonl " + archives[0], 0},
	} {
		words := strings.Fields(c.args)
		all := wefttest.In(t, e.Dir, words...)
		for _, n := range []string{"1", "2"} {
			few := wefttest.In(t, e.Dir, append(words, "--limit", n)...)
			lines := strings.Count(few.Stdout, "\n") - c.head
			if few.Code != wefttest.Done || !strings.HasPrefix(all.Stdout, few.Stdout) || strconv.Itoa(lines) != n && !strings.HasPrefix(c.args, "hosts") {
				t.Errorf("%s --limit %s: exit %d, %s%s", c.args, n, few.Code, few.Stdout, few.Stderr)
			}
		}
	}
}

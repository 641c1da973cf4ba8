package main

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/config"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// withConfig makes a folder with a file of options.
func withConfig(t *testing.T, text string) (dir string) {
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestConfig: options of the file hold, those of the profile before others, those of the command
// before those of all, and flags before all of them.
func TestConfig(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			wefttest.HTML(w, "/a.zip", "/b/", "/c", "/d")
		case "/robots.txt":
			http.NotFound(w, r)
		case "/missing":
			http.NotFound(w, r)
		default:
			w.Write([]byte(r.UserAgent() + r.Header.Get("X-A")))
		}
	}))
	defer s.Close()
	dir := withConfig(t, `
user-agent = "all/1"
quiet = true

[crawl]
user-agent = "crawl/1"
urls = ["`+s.URL+`/"]
exclude = ["[.]zip$", "/b/"]
header = ["X-A: b"]
bodies = true
format = "urls"
output = "-"

[check]
urls = ["`+s.URL+`/missing"]
no-external = true

[profile.ci]
user-agent = "ci/1"

[profile.ci.crawl]
exclude = []
scope = "page"
`)
	for line, want := range map[string]string{
		"crawl --job one":                            "/ /c /d",
		"crawl --job two --exclude /d":               "/ /a.zip /b/ /c",
		"crawl --job three --profile ci":             "/",
		"crawl --job four --profile ci --scope host": "/ /a.zip /b/ /c /d",
		"crawl --job five --no-config -q -o - --format=urls --scope page " + s.URL + "/c": "/c",
		"crawl --job six " + s.URL + "/c --scope page":                                    "/c",
	} {
		if !strings.Contains(line, "--no-config") {
			line = "--config weft.toml " + line
		}
		e := weftIn(t, dir, strings.Fields(line)...)
		paths := strings.Fields(strings.ReplaceAll(e.stdout, s.URL, ""))
		slices.Sort(paths)
		got := strings.Join(paths, " ")
		if e.code != exitDone || e.stderr != "" || got != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", line, e.code, got, want, e.stderr)
		}
	}
	if e := weftIn(t, dir, "cat", "one", s.URL+"/c"); e.stdout != "crawl/1b" {
		t.Errorf("the file's user-agent and header: %q", e.stdout)
	}
	if e := weftIn(t, dir, "fetch", s.URL+"/c"); !strings.Contains(e.stdout, "body      5 bytes") {
		t.Errorf("weft fetch: %+v", e)
	}
	if e := weftIn(t, dir, "crawl", "--config", "weft.toml", "--update", "one"); e.code != exitDone || e.stderr != "" {
		t.Errorf("--update: %+v", e)
	}
	if e := weftIn(t, dir, "check"); e.code != exitBroken || !strings.Contains(e.stdout, "/missing") ||
		!strings.HasPrefix(e.stderr, "weft: options from weft.toml: user-agent, quiet, urls, no-external\n") {
		t.Errorf("weft check: %+v", e)
	}
	e := weftIn(t, dir, "config", "show", "--profile", "ci")
	for _, want := range []string{`exclude = []`, `# weft.toml:22`, `user-agent = "ci/1"`, `header = ["X-A: (hidden)"]`, "# weft.toml:9, with --config only\n"} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("show: no %s in %s", want, e.stdout)
		}
	}
}

// TestConfigFound: a file that is found and was not named may be a stranger's.
func TestConfigFound(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	precious := filepath.Join(outside, "precious")
	for _, c := range []struct {
		name, text string
		link, to   string // a symbolic link, and where it leads
		command    string // check docs/a.html, unless it is another
		args       string
		stderr     string // the beginning of its first line; after a mistake, the only one
		made       string // a file that is written
	}{
		{name: "nothing for the command", text: "[crawl]\ndepth = 3"},
		{name: "options", text: "[check]\nno-external = true\nformat = 'json'\nquiet = true", stderr: "weft: options from weft.toml: no-external, format, quiet"},
		{name: "all typed", text: "[check]\nformat = 'json'", args: "--format text"},
		{name: "quiet", text: "[check]\nformat = 'json'", args: "-q"},
		{name: "named", text: "[check]\nformat = 'json'", args: "--config weft.toml"},
		{name: "URLs that do not count", text: "[check]\nurls = ['https://example.org/']"},

		{name: "output", text: "[check]\noutput = 'report'", stderr: "weft: options from weft.toml: output", made: "report"},
		{name: "output below", text: "[check]\noutput = './docs/../docs/report'", stderr: "weft: options from weft.toml: output", made: "docs/report"},
		{name: "output by a link", text: "[check]\noutput = 'to/report'", link: "to", to: "docs", stderr: "weft: options from weft.toml: output", made: "docs/report"},
		{name: "output above", text: "[check]\noutput = '../report'", stderr: `weft: weft.toml: line 2: output = "../report": a place elsewhere, expected one below`},
		{name: "output above, on the way", text: "[check]\noutput = 'new/../../report'", stderr: "weft: weft.toml: line 2: output"},
		{name: "output elsewhere", text: "[check]\noutput = '" + precious + "'", stderr: "weft: weft.toml: line 2: output"},
		{name: "output elsewhere, named", text: "[check]\noutput = '" + precious + "'", args: "-q --config weft.toml", made: precious},
		{name: "output elsewhere, of a profile", text: "[profile.ci.check]\noutput = '" + precious + "'", args: "--profile ci", stderr: "weft: weft.toml: line 2: output"},
		{name: "output elsewhere, of all commands", text: "output = '" + precious + "'", stderr: "weft: weft.toml: line 1: output"},
		{name: "output by a link out", text: "[check]\noutput = 'to'", link: "to", to: precious, stderr: `weft: weft.toml: line 2: output = "to": a`},
		{name: "output by a link to a folder out", text: "[check]\noutput = 'to/new'", link: "to", to: outside, stderr: `weft: weft.toml: line 2: output = "to/new": a place elsewhere`},
		{name: "output by a link to nothing", text: "[check]\noutput = 'to'", link: "to", to: "none", stderr: `weft: weft.toml: line 2: output = "to": a link to nothing`},
		{name: "output to git", text: "[check]\noutput = '.git/hooks/pre-commit'", stderr: `weft: weft.toml: line 2: output = ".git/hooks/pre-commit": a hidden place`},
		{name: "output to git by a link", text: "[check]\noutput = 'to/pre-commit'", link: "to", to: ".git/hooks", stderr: `weft: weft.toml: line 2: output = "to/pre-commit": a hidden place`},
		{name: "baseline", text: "[check]\nwrite-baseline = '" + precious + "'", stderr: "weft: weft.toml: line 2: write-baseline"},
		{name: "job", text: "[check]\njob = '" + outside + "/job'", stderr: "weft: weft.toml: line 2: job"},

		{name: "files", text: "[check]\nurls = ['docs']", command: "check", stderr: "weft: options from weft.toml: urls"},
		{name: "files elsewhere", text: "[check]\nurls = ['" + outside + "']", command: "check", stderr: "weft: weft.toml: line 2: urls"},
		{name: "files elsewhere by a link", text: "[check]\nurls = ['docs', 'to']", link: "to", to: outside, command: "check", stderr: `weft: weft.toml: line 2: urls = "to": a place elsewhere`},
		{name: "files elsewhere, named", text: "[check]\nurls = ['" + outside + "']", command: "check --config weft.toml", stderr: "weft: nothing was checked"},

		{name: "proxy", text: "[check]\nproxy = 'http://a:secret@127.0.0.1:1'", stderr: "weft: weft.toml: line 2: proxy: expected --config weft.toml: a file that is only found may not set it"},
		{name: "insecure", text: "[check]\ninsecure = true", stderr: "weft: weft.toml: line 2: insecure: expected --config"},
		{name: "header", text: "[check]\nheader = ['X: y']", stderr: "weft: weft.toml: line 2: header: expected --config"},
		{name: "header, of all commands", text: "header = ['X: y']", stderr: "weft: weft.toml: line 1: header: expected --config"},
		{name: "header, typed", text: "header = ['X: y']", args: "-H X:z"},
		{name: "fresh", text: "[check]\nfresh = true", stderr: "weft: weft.toml: line 2: fresh: expected --config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := withConfig(t, c.text+"\n")
			err := errors.Join(os.MkdirAll(filepath.Join(dir, ".git/hooks"), 0o777), os.Mkdir(filepath.Join(dir, "docs"), 0o777),
				os.WriteFile(filepath.Join(dir, "docs/a.html"), []byte("<title>x</title>"), 0o666), os.WriteFile(precious, []byte("precious"), 0o666))
			if c.link != "" {
				err = errors.Join(err, os.Symlink(c.to, filepath.Join(dir, c.link)))
			}
			if err != nil {
				t.Fatal(err)
			}
			e := weftIn(t, dir, strings.Fields(cmp.Or(c.command, "check docs/a.html")+" "+c.args)...)
			line, _, _ := strings.Cut(e.stderr, "\n")
			mistake := strings.HasPrefix(c.stderr, "weft: weft.toml:")
			if !strings.HasPrefix(line, c.stderr) || c.stderr == "" && line != "" || mistake != (e.code == exitUsage) || strings.Contains(e.stderr, "secret") {
				t.Errorf("exit %d, %s, expected %s", e.code, e.stderr, c.stderr)
			}
			if !filepath.IsAbs(c.made) {
				if b, err := os.ReadFile(precious); string(b) != "precious" {
					t.Errorf("%q, %v", b, err)
				}
				c.made = filepath.Join(dir, c.made)
			}
			if info, err := os.Stat(c.made); err != nil || !mistake && info.Size() == int64(len("precious")) {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, configFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := weftIn(t, dir, "check", "a.html"); e.code != exitUsage || !strings.Contains(e.stderr, "weft.toml: no regular file") {
		t.Errorf("a pipe: %+v", e)
	}
}

// TestPersonal: an option that a file may not set when it is only found is one of a command, and
// those that take a file or a folder lead below.
func TestPersonal(t *testing.T) {
	missing := make(map[string]bool)
	for _, name := range personal {
		missing[name] = true
	}
	for cmd := range below(rootCommand(io.Discard)) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			delete(missing, f.Name)
			o := optionOf(f)
			free := foundMaySet(f, config.Option{Name: f.Name, Values: []string{"/etc/passwd"}}) == nil
			if free && (o.secret || strings.Contains(o.arg, "DIR") || strings.Contains(o.arg, "FILE")) {
				t.Errorf("%s --%s: may be set", wordsOf(cmd), f.Name)
			}
		})
	}
	if len(missing) > 0 {
		t.Errorf("no command has %v", missing)
	}
}

// TestConfigSecrets: what the file has of secrets, config show and messages leave out.
func TestConfigSecrets(t *testing.T) {
	t.Parallel()
	dir := withConfig(t, `[crawl]
urls = ["https://ada:hush@a.test/x", "https://b.test/"]
cluster = "nats://ada:hush@a.test:4222,nats://hush@b.test,ada:hush@c.test"
proxy = "http://ada:hush@p.test"
post-data = ["password=hush"]
post-form = ["password=hush"]
auth = ["a.test=ada:hush"]
bearer = ["a.test=hush"]
header = ["Authorization: hush"]
exclude = ["/@me"]

[fetch]
post-data = "password=hush"

[urls]
cluster = "nats://ada:hush@a.test"
`)
	shown := ""
	for _, of := range []string{"crawl", "fetch", "urls"} {
		e := weftIn(t, dir, append([]string{"config", "show"}, strings.Fields(of)...)...)
		if e.code != exitDone {
			t.Errorf("%s: %+v", of, e)
		}
		shown += e.stdout
	}
	for _, want := range []string{
		`urls = ["https://…@a.test/x", "https://b.test/"]`, `cluster = "nats://…@a.test:4222,nats://…@b.test,…@c.test"`, `post-data = (secret)`,
		`post-form = (secret)`, `exclude = ["/@me"]`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s in %s", want, shown)
		}
	}
	for _, line := range []string{"crawl --cluster nats://ada:hush@a.test,, http://a.test/", "crawl --post-form hush http://a.test/", "replay --replay http://ada:hush@x/"} {
		e := weftIn(t, dir, strings.Fields(line)...)
		if e.code != exitUsage {
			t.Errorf("%s: %+v", line, e)
		}
		shown += e.stderr
	}
	if strings.Contains(shown, "hush") {
		t.Error(shown)
	}
}

// TestConfigMistakes: each is one line that names file, line and what was expected.
func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[crawl]\nuser-agnet = 'x'": `weft.toml: line 2: "user-agnet": unknown option: did you mean user-agent?`,
		"user-agnet = 'x'":          `weft.toml: line 1: "user-agnet": unknown option: did you mean user-agent?`,
		"[crwl]\ndepth = 1":         `weft.toml: line 2: [crwl]: "crwl": unknown command`,
		"[robots]\nua = 'x'":        `weft.toml: line 2: "ua": unknown option`,
		"[robots.tst]\nua = 'x'":    `weft.toml: line 2: [robots.tst]: "tst": unknown command`,
		"[crawl]\ndepth = 'x'":      `weft.toml: line 2: depth = "x": expected a whole number`,
		"[crawl]\ndepth = [1]":      `weft.toml: line 2: depth: a list, expected one value`,
		"[crawl]\nlinks = 3":        `weft.toml: line 2: links = "3": expected true or false`,
		"[crawl]\nauth = 'hush'":    `weft.toml: line 2: auth: `,
		"depth 3":                   `weft.toml: line 1: `,
		"help = true":               `weft.toml: line 1: "help": unknown option`,
	} {
		dir := withConfig(t, text+"\n")
		for _, args := range [][]string{{"crawl", "http://127.0.0.1:1/"}, {"config", "check"}} {
			e := weftIn(t, dir, args...)
			if e.code != exitUsage || !strings.HasPrefix(e.stderr, "weft: "+want) || strings.Count(e.stderr, "\n") != 1 ||
				strings.Contains(e.stderr, "hush") || e.stdout != "" {
				t.Errorf("%q: weft %q: %+v, want %s", text, args, e, want)
			}
		}
	}
	dir := withConfig(t, "[profile.a]\nquiet = true\n")
	long := "x = '" + strings.Repeat("x", mostConfig) + "'\n"
	if err := os.WriteFile(filepath.Join(dir, "long.toml"), []byte(long), 0o666); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--config long.toml":     `"long.toml": longer than 4 MiB, expected a file of options`,
		"--profile b":            `--profile "b": expected one that weft.toml has: a`,
		"--config none.toml":     `"none.toml": no such file`,
		"--config a --no-config": `--no-config beside --config`,
	} {
		if e := weftIn(t, dir, append(strings.Fields(line), "crawl")...); e.code != exitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %+v", line, e)
		}
	}
}

// TestConfigInit: what the template comments out is valid once the placeholders are values.
func TestConfigInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if e := weftIn(t, dir, "config", "init"); e.code != exitDone || e.stderr != "" {
		t.Fatalf("%+v", e)
	}
	if e := weftIn(t, dir, "config", "check"); e.stdout != "weft.toml: 0 options\n" {
		t.Errorf("%+v", e)
	}
	if e := weftIn(t, dir, "config", "init"); e.code != exitError || !strings.Contains(e.stderr, "exists") {
		t.Errorf("a second time: %+v", e)
	}
	template := configTemplate()
	crawl, _, _ := rootCommand(os.Stdout).Find([]string{"crawl"})
	for _, g := range flagGroups(crawl, true) {
		for _, o := range g.options {
			if !strings.Contains(template, "\n# "+keyOf(o.name)+" = ") {
				t.Errorf("no %s in the template", o.name)
			}
		}
	}
	var options strings.Builder
	for line := range strings.Lines(template) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = "); ok && line[0] == '#' && !strings.Contains(name, " ") && value == "true\n" || line == "[crawl]\n" {
			options.WriteString(strings.TrimPrefix(line, "# "))
		}
	}
	if e := weftIn(t, withConfig(t, options.String()), "config", "check"); e.code != exitDone {
		t.Errorf("%s: %+v", options.String(), e)
	}
}

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
			html(w, "/a.zip", "/b/", "/c", "/d")
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
	if e := weftIn(t, dir, "crawl", "--update", "one"); e.code != exitDone || e.stderr != "" {
		t.Errorf("--update: %+v", e)
	}
	if e := weftIn(t, dir, "check"); e.code != exitBroken || !strings.Contains(e.stdout, "/missing") {
		t.Errorf("weft check: %+v", e)
	}
	e := weftIn(t, dir, "config", "show", "--profile", "ci")
	for _, want := range []string{`exclude = []`, `# weft.toml:22`, `user-agent = "ci/1"`, `header = ["X-A: (hidden)"]`} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("show: no %s in %s", want, e.stdout)
		}
	}
}

// TestConfigMistakes: each is one line that names file, line and what was expected.
func TestConfigMistakes(t *testing.T) {
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

package commands_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/wefttest"
)

func TestURL(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		out  string
		err  string
	}{
		"parts": {[]string{"HTTPS://me:pw@www.Bücher.example:8443/a/../b?q=ü#top"}, wefttest.Done, `HTTPS://me:pw@www.Bücher.example:8443/a/../b?q=ü#top
  href         https://me:pw@www.xn--bcher-kva.example:8443/b?q=%C3%BC#top
  origin       https://www.xn--bcher-kva.example:8443
  protocol     https:
  username     me
  password     pw
  host         www.xn--bcher-kva.example:8443
  hostname     www.xn--bcher-kva.example
  port         8443
  pathname     /b
  search       ?q=%C3%BC
  hash         #top
  canonical    https://www.xn--bcher-kva.example:8443/b?q=%C3%BC
  registrable  xn--bcher-kva.example
  fingerprint  fb4be9eb26b550ab97c062cbe75b9562
`, ""},
		"a link, rules": {[]string{"--base", "http://www.example.org/a/b?c", "--canon", "sort-query,strip-www,drop-empty-query", "?z=%7e&a"}, wefttest.Done, `?z=%7e&a
  href         http://www.example.org/a/b?z=%7e&a
  origin       http://www.example.org
  protocol     http:
  host         www.example.org
  hostname     www.example.org
  pathname     /a/b
  search       ?z=%7e&a
  canonical    http://example.org/a/b?a&z=~
  changed by   strip-www, sort-query
  registrable  example.org
  fingerprint  ed934ca9838ab4a61fa8e151d432fb54
`, ""},
		"one that is none": {[]string{"http://a b/", "\x1b[2J", "x:y"}, wefttest.Failed, `http://a b/
  error        invalid host

\u001b[2J
  error        relative without a base

x:y
  href         x:y
  origin       null
  protocol     x:
  pathname     y
  canonical    x:y
  fingerprint  1274e286686b54fe765ec40735665b4b
`, "weft: url: 2 of 3 URLs could not be parsed\n"},
	} {
		e := weftFed(t, "", "", append([]string{"url"}, c.args...)...)
		if e.Code != c.code || e.Stdout != c.out || e.Stderr != c.err {
			t.Errorf("%s: exit %d\n%swant exit %d\n%s%s", name, e.Code, e.Stdout, c.code, c.out, e.Stderr)
		}
	}
}

// TestURLMistakes: a mistake prints one line that names it, and nothing on standard output.
func TestURLMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no URL":            {nil, "no URL given, expected one such as"},
		"a bad base":        {[]string{"--base", "http://a b/", "c"}, `--base "http://a b/": invalid host`},
		"a rule":            {[]string{"--canon", "sort", "http://a/"}, `rule "sort", expected some of strip-www,`},
		"jsonl with URLs":   {[]string{"--jsonl", "a", "b"}, "one FILE or none"},
		"jsonl with a base": {[]string{"--jsonl", "--base", "http://a/"}, "--base and --jsonl: expected one of them"},
		"no such file":      {[]string{"--jsonl", "missing"}, "missing"},
	} {
		e := weftFed(t, "", "", append([]string{"url"}, c.args...)...)
		if e.Code != wefttest.Misused || e.Stdout != "" || !strings.Contains(e.Stderr, c.want) || strings.Count(e.Stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q%q; expected exit %d and one line with %q", name, e.Code, e.Stdout, e.Stderr, wefttest.Misused, c.want)
		}
	}
}

// TestURLJSONL: each line is answered with one line, errors included.
func TestURLJSONL(t *testing.T) {
	lines := []struct{ in, out string }{
		{`{"id":1,"input":"//B.example.org:443/\ud800?#","base":"https://a"}`,
			`{"id":1,"href":"https://b.example.org/%EF%BF%BD?#","origin":"https://b.example.org","protocol":"https:","username":"","password":"","host":"b.example.org","hostname":"b.example.org","port":"","pathname":"/%EF%BF%BD","search":"","hash":"","canon":"https://b.example.org/%EF%BF%BD?","registrable":"example.org","ascii":"b.example.org","fingerprint":"5af607985fc480b8afb68393df430b87"}`},
		{`{"input":"x:y","base":null,"host":null}`,
			`{"href":"x:y","origin":"null","protocol":"x:","username":"","password":"","host":"","hostname":"","port":"","pathname":"y","search":"","hash":"","canon":"x:y","registrable":null,"ascii":"","fingerprint":"1274e286686b54fe765ec40735665b4b"}`},
		{`{"id":3,"host":"www.例え.jp"}`, `{"id":3,"registrable":"例え.jp"}`},
		{`{"id":4,"host":null}`, `{"id":4,"registrable":null}`},
		{`{"id":5,"host":"co.uk"}`, `{"id":5,"registrable":null}`},
		{`{"id":6}`, `{"id":6,"error":"line 6: no input and no host, expected one of them","kind":"input"}`},
		{`{"id":7,"input":"a"}`, `{"id":7,"error":"line 7: input \"a\": relative without a base","kind":"input"}`},
		{`{"id":8,"input":"a","base":"//b"}`, `{"id":8,"error":"line 8: base \"//b\": relative without a base","kind":"base"}`},
		{`{"id":9,"input":9}`, `{"id":9,"error":"line 9: input: a number, expected a string","kind":"json"}`},
		{`{"id":10,"host":["a"]}`, `{"id":10,"error":"line 10: host: expected a string or null","kind":"json"}`},
	}
	var in, want strings.Builder
	for _, l := range lines {
		in.WriteString(l.in + "\n")
		want.WriteString(l.out + "\n")
	}
	if e := weftFed(t, in.String(), "", "url", "--jsonl"); e.Code != wefttest.Done || e.Stdout != want.String() || e.Stderr != "" {
		t.Errorf("exit %d\n%s\nwant\n%s%s", e.Code, e.Stdout, want.String(), e.Stderr)
	}
	e := weftFed(t, `{"input":"http://www.a.org/?b&a"}`, "", "url", "--jsonl", "--canon", "strip-www,sort-query", "-")
	if !strings.Contains(e.Stdout, `"canon":"http://a.org/?a&b"`) {
		t.Errorf("with rules: %s%s", e.Stdout, e.Stderr)
	}
}

// TestURLConformance runs the conformance suites through the command.
func TestURLConformance(t *testing.T) {
	for name, count := range map[string]int{"url-wpt.jsonl": 891, "psl.jsonl": 78} {
		suite := conformance.Read(t, name)
		e := weftFed(t, string(suite), "", "url", "--jsonl", "-")
		answers := strings.Split(strings.TrimSuffix(e.Stdout, "\n"), "\n")
		if e.Code != wefttest.Done || len(answers) != count || e.Stderr != "" {
			t.Fatalf("%s: exit %d, %d answers; %s", name, e.Code, len(answers), e.Stderr)
		}
		passed := 0
		for line := range bytes.Lines(suite) {
			var want, got map[string]any
			if err := json.Unmarshal(line, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(answers[0]), &got); err != nil {
				t.Fatal(err)
			}
			answers = answers[1:]
			if answered(want, got) {
				passed++
			} else {
				t.Errorf("%v: answered with %v", want, got)
			}
		}
		t.Logf("%s: %d of %d", name, passed, count)
	}
}

// answered reports whether an answer has everything that a case expects.
func answered(want, got map[string]any) bool {
	if got["id"] != want["id"] {
		return false
	}
	if want["fail"] == true {
		return got["error"] != nil && got["kind"] == "input"
	}
	maps.DeleteFunc(want, func(key string, _ any) bool {
		asked := key == "input" || key == "base" || key == "host" && want["input"] == nil
		return asked || key == "section" || key == "fail"
	})
	for key, value := range want {
		if found, ok := got[key]; !ok || found != value {
			return false
		}
	}
	return true
}

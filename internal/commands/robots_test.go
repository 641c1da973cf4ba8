package commands_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// weftFed runs weft with a text on standard input and one in the file robots.txt.
func weftFed(t *testing.T, stdin, file string, args ...string) wefttest.Ended {
	t.Helper()
	cmd, stderr := wefttest.Command(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	if err := os.WriteFile(filepath.Join(cmd.Dir, "robots.txt"), []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	return wefttest.End(cmd, stderr)
}

func TestRobotsTest(t *testing.T) {
	t.Parallel()
	const file = `User-agent: *
Disallow: /private/ # keep out
Allow: /private/caf` + "\xc3\xa9" + `
Disallow: /~joe
Disallow: /` + "\x1b[2J" + `

User-agent: otherbot
Disallow: /
`
	urls := []string{"/", "/private/a?b", "https://example.org/private/café/", "http://example.org:8080/%7ejoe/#top", "/\x1b[2J", "http://example.org"}
	const want = `allowed     /  no rule
disallowed  /private/a?b  line 2: Disallow: /private/
allowed     https://example.org/private/café/  line 3: Allow: /private/café
disallowed  http://example.org:8080/%7ejoe/#top  line 4: Disallow: /~joe
disallowed  /\u001b[2J  line 5: Disallow: /\u001b[2J
allowed     http://example.org  no rule
`
	for name, e := range map[string]wefttest.Ended{
		"from a file":         weftFed(t, "", file, append([]string{"robots", "test", "robots.txt"}, urls...)...),
		"from standard input": weftFed(t, file, "", append([]string{"robots", "test", "-"}, urls...)...),
	} {
		if e.Code != wefttest.Failed || e.Stdout != want || e.Stderr != "" {
			t.Errorf("%s: exit %d\n%swant\n%s%s", name, e.Code, e.Stdout, want, e.Stderr)
		}
	}

	e := weftFed(t, "", file, "robots", "test", "--ua", "OtherBot/2.0 (x)", "robots.txt", "/a")
	if e.Code != wefttest.Failed || e.Stdout != "disallowed  /a  line 8: Disallow: /\n" {
		t.Errorf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}
}

// TestRobotsMistakes: a mistake prints one line that names it, and nothing on standard output.
func TestRobotsMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":        {nil, "expected FILE|URL of a robots.txt and a URL"},
		"no URL":         {[]string{"robots.txt"}, "expected FILE|URL of a robots.txt and a URL"},
		"no such file":   {[]string{"missing", "/"}, "missing"},
		"a folder":       {[]string{".", "/"}, "directory"},
		"a bad URL":      {[]string{"robots.txt", "/", "http://a b/"}, "http://a b/"},
		"a relative URL": {[]string{"robots.txt", "a/b"}, "a/b"},
		"mail":           {[]string{"robots.txt", "mailto:me@example.org"}, "expected http or https"},
		"an escape":      {[]string{"robots.txt", "\x1b[2J"}, `\x1b`},
		"jsonl with URL": {[]string{"--jsonl", "robots.txt", "/"}, "one FILE or none"},
	} {
		e := weftFed(t, "", "", append([]string{"robots", "test"}, c.args...)...)
		if e.Code != wefttest.Misused || e.Stdout != "" || !strings.Contains(e.Stderr, c.want) || strings.Count(e.Stderr, "\n") != 1 || strings.Contains(e.Stderr, "\x1b") {
			t.Errorf("%s: exit %d, %q%q; expected exit %d and one line with %q", name, e.Code, e.Stdout, e.Stderr, wefttest.Misused, c.want)
		}
	}
}

// jsonl is a question for robots test --jsonl.
func jsonl(id, robots, ua, url string) string {
	b64 := base64.StdEncoding.EncodeToString([]byte(robots))
	return fmt.Sprintf(`{"id":%s,"robots_b64":"%s","ua":%q,"url":%q}`, id, b64, ua, url) + "\n"
}

// TestRobotsJSONL: each line is answered with one line, errors included.
func TestRobotsJSONL(t *testing.T) {
	t.Parallel()
	const file = "User-agent: *\nCrawl-delay: 1.5\nDisallow: /a<\nSitemap: https://example.org/s.xml\nSitemap: /t\n"
	huge := file + strings.Repeat("#", 4<<20)
	lines := []struct{ in, out string }{
		{jsonl("1", file, "weft", "https://example.org/a<b"), `{"id":1,"allowed":false,"rule":"Disallow: /a<","line":3,"crawl_delay":1.5,"sitemaps":["https://example.org/s.xml","/t"]}`},
		{jsonl(`{"a":[2]}`, "", "weft", "http://example.org?x"), `{"id":{"a":[2]},"allowed":true,"rule":"","line":0,"crawl_delay":null,"sitemaps":[]}`},
		{`{"robots_b64":"","ua":"x","url":"/"}` + "\n", `{"allowed":true,"rule":"","line":0,"crawl_delay":null,"sitemaps":[]}`},
		{"\r\n", ""},
		{"Disallow: /\n", `{"error":"line 5: invalid character 'D' looking for beginning of value, expected an object, see weft robots test --help-all","kind":"json"}`},
		{`{"id":"six","robots_b64":"?","url":"/"}` + "\n", `{"id":"six","error":"line 6: robots_b64: illegal base64 data at input byte 0","kind":"robots_b64"}`},
		{`{"id":7,"url":"/"}` + "\n", `{"id":7,"error":"line 7: no robots_b64, expected bytes in base64","kind":"robots_b64"}`},
		{`{"id":8,"robots_b64":""}` + "\n", `{"id":8,"error":"line 8: no url, expected one such as https://example.org/","kind":"url"}`},
		{jsonl("9", "", "x", "example.org"), `{"id":9,"error":"line 9: URL \"example.org\": no scheme, expected http or https, as in https://example.org/, or a path that starts with /","kind":"url"}`},
		{`{"id":10,"robots_b64":"","url":5}` + "\n", `{"id":10,"error":"line 10: url: a number, expected a string","kind":"json"}`},
		{`"` + strings.Repeat("x", 32<<20) + "\"\n", `{"error":"line 11: longer than 33554432 bytes","kind":"json"}`},
		{jsonl("12", huge, "weft", "/a<"), `{"id":12,"allowed":false,"rule":"Disallow: /a<","line":3,"crawl_delay":1.5,"sitemaps":["https://example.org/s.xml","/t"]}`},
		{jsonl("13", "User-agent: weft\nDisallow: /", "", ""), `{"id":13,"allowed":true,"rule":"","line":0,"crawl_delay":null,"sitemaps":[]}`},
		// It has the name of --ua, and no line feed.
		{`{"id":14,"robots_b64":"VXNlci1hZ2VudDogd2VmdApEaXNhbGxvdzogLw==","url":"//a/b"}`, `{"id":14,"allowed":false,"rule":"Disallow: /","line":2,"crawl_delay":null,"sitemaps":[]}`},
	}
	var in, want strings.Builder
	for _, l := range lines {
		in.WriteString(l.in)
		if l.out != "" {
			want.WriteString(l.out + "\n")
		}
	}
	for name, e := range map[string]wefttest.Ended{
		"standard input": weftFed(t, in.String(), "", "robots", "test", "--jsonl"),
		"a file":         weftFed(t, "", in.String(), "robots", "test", "--jsonl", "robots.txt"),
	} {
		if e.Code != wefttest.Done || e.Stdout != want.String() || e.Stderr != "" {
			t.Errorf("%s: exit %d\n%s\nwant\n%s%s", name, e.Code, e.Stdout, want.String(), e.Stderr)
		}
	}
}

// TestRobotsJSONLStreams: each answer comes before the next question is read.
func TestRobotsJSONLStreams(t *testing.T) {
	cmd, _ := wefttest.Command(t, "robots", "test", "--jsonl", "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(stdout)
	for i := range 3 {
		io.WriteString(stdin, jsonl(fmt.Sprint(i), "", "weft", "/"))
		if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, fmt.Sprintf(`{"id":%d,`, i)) {
			t.Fatalf("answer %d: %q, %v", i, line, err)
		}
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestRobotsConformance runs google/robotstxt-spec-test through the command. Package robots
// explains the cases that are Google's own.
func TestRobotsConformance(t *testing.T) {
	suite := conformance.Read(t, "robots-google.jsonl")
	e := weftFed(t, string(suite), "", "robots", "test", "--jsonl")
	answers := strings.Split(strings.TrimSuffix(e.Stdout, "\n"), "\n")
	if e.Code != wefttest.Done || len(answers) != 400 || e.Stderr != "" {
		t.Fatalf("exit %d, %d answers; %s", e.Code, len(answers), e.Stderr)
	}
	passed, differ := 0, 0
	for line := range bytes.Lines(suite) {
		var want, got struct {
			ID, Kind, Error string
			Allowed         bool
		}
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(answers[0]), &got); err != nil {
			t.Fatal(err)
		}
		answers = answers[1:]
		switch {
		case got.ID != want.ID || got.Error != "":
			t.Errorf("%s: answered with %+v", want.ID, got)
		case got.Allowed == want.Allowed:
			passed++
		case want.Kind == "standard":
			t.Errorf("%s: allowed=%v", want.ID, got.Allowed)
		default:
			differ++
		}
	}
	t.Logf("%d of 400 as Google has it, %d of its extensions not", passed, differ)
	if differ != 2 {
		t.Errorf("%d extensions differ, expected 2", differ)
	}
}

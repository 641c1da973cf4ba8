package commands_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/warc"
)

// anArchive returns a WARC file with a page that came compressed, the same page once more, and an
// error response, and the offset of each record.
func anArchive(t *testing.T) (file []byte, offsets []int) {
	t.Helper()
	n := byte(0)
	e := warc.NewEncoder(warc.Options{NewID: func() warc.ID { n++; return warc.NewID([16]byte{15: n}) }})
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	add := func(url, head, body string, original *warc.Original) warc.Capture {
		offsets = append(offsets, len(file))
		var c warc.Capture
		file, c = e.Exchange(file, &warc.Exchange{URL: url, Date: at, Original: original,
			Response: []byte("HTTP/1.1 " + head + "\r\n\r\n" + body)})
		return c
	}
	first := add("https://example.org/", "200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip", gzipped(t, "<p>a page\x1b[2J</p>\n"), nil)
	add("https://example.org/again", "200 OK\r\nContent-Type: text/html", "<p>a page</p>\n", &warc.Original{ID: first.ID, URL: "https://example.org/", Date: at})
	add("https://example.org/lost", "404 Not Found\r\nContent-Type: TEXT/plain", "lost\n", nil)
	return file, offsets
}

// listed is a line of weft warc ls --jsonl.
type listed struct {
	ID, URL, Digest string
	Offset          int64
	Status          int
}

// weftAmong runs weft in a folder with files.
func weftAmong(t *testing.T, files map[string][]byte, args ...string) wefttest.Ended {
	t.Helper()
	cmd, stderr := wefttest.Command(t, args...)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(cmd.Dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return wefttest.End(cmd, stderr)
}

// TestWarc lists, prints and checks a good archive, and one with a damaged record.
func TestWarc(t *testing.T) {
	t.Parallel()
	good, at := anArchive(t)
	bad := slices.Clone(good)
	bad[at[1]+11] ^= 0xff // the length of a stored block
	files := map[string][]byte{"good.warc.gz": good, "bad.warc.gz": bad}

	e := weftAmong(t, files, "warc", "ls", "good.warc.gz")
	length := len("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\n\r\n") + len(gzipped(t, "<p>a page\x1b[2J</p>\n"))
	want := fmt.Sprintf(`          0  response   200  text/html                %10d  2026-11-22T12:00:00.000000Z  https://example.org/
%11d  revisit    200  text/html                        44  2026-11-22T12:00:00.000000Z  https://example.org/again
%11d  response   404  text/plain                       57  2026-11-22T12:00:00.000000Z  https://example.org/lost
`, length, at[1], at[2])
	if e.Code != wefttest.Done || e.Stdout != want {
		t.Errorf("exit %d\n%swant\n%s%s", e.Code, e.Stdout, want, e.Stderr)
	}
	e = weftAmong(t, files, "warc", "ls", "--jsonl", "bad.warc.gz")
	var lines []listed
	for d := json.NewDecoder(strings.NewReader(e.Stdout)); d.More(); {
		var l listed
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if e.Code != wefttest.Failed || len(lines) != 2 || lines[1].Status != 404 || lines[1].Offset != int64(at[2]) || !strings.HasPrefix(lines[0].Digest, "sha256:") {
		t.Errorf("exit %d: %+v", e.Code, lines)
	}
	if want := fmt.Sprintf("weft: bad.warc.gz: offset %d: ", at[1]); !strings.HasPrefix(e.Stderr, want) || strings.Count(e.Stderr, "\n") != 1 {
		t.Errorf("%swant %s", e.Stderr, want)
	}

	for _, which := range []string{"0", "https://example.org/"} {
		if e := weftAmong(t, files, "warc", "cat", "good.warc.gz", which); e.Code != wefttest.Done || e.Stdout != "<p>a page\x1b[2J</p>\n" {
			t.Errorf("exit %d: %q%s", e.Code, e.Stdout, e.Stderr)
		}
	}
	if e := weftAmong(t, files, "warc", "cat", "-i", "bad.warc.gz", "https://example.org/lost"); e.Stdout != "HTTP/1.1 404 Not Found\r\nContent-Type: TEXT/plain\r\n\r\nlost\n" {
		t.Errorf("exit %d: %q%s", e.Code, e.Stdout, e.Stderr)
	}
	if e := weftAmong(t, files, "warc", "cat", "--raw", "good.warc.gz", fmt.Sprint(at[1])); !strings.HasPrefix(e.Stdout, "WARC/1.1\r\nWARC-Type: revisit\r\n") || !strings.HasSuffix(e.Stdout, "Content-Type: text/html\r\n\r\n") {
		t.Errorf("exit %d: %q%s", e.Code, e.Stdout, e.Stderr)
	}

	if e := weftAmong(t, files, "warc", "check", "good.warc.gz"); e.Code != wefttest.Done || e.Stdout != "3 records: no faults\n" {
		t.Errorf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}
	e = weftAmong(t, map[string][]byte{"a.warc.gz": good[at[1]:at[2]], "b.warc.gz": good[at[2]:], "c.warc.gz": good[:at[1]]}, "warc", "check", "a.warc.gz", "b.warc.gz")
	if want := "a.warc.gz: offset 0: revisit of https://example.org/, captured 2026-11-22T12:00:00.000000Z: no whole response of it is here\n2 records: 1 fault\n"; e.Code != wefttest.Failed || e.Stdout != want {
		t.Errorf("exit %d: %s", e.Code, e.Stdout)
	}
	if e := weftAmong(t, map[string][]byte{"a.warc.gz": good[at[1]:], "b.warc.gz": good[:at[1]]}, "warc", "check", "a.warc.gz", "b.warc.gz"); e.Code != wefttest.Done {
		t.Errorf("exit %d: %s", e.Code, e.Stdout) // in any order
	}
}

// TestWarcMistakes: a mistake prints one line that names it.
func TestWarcMistakes(t *testing.T) {
	t.Parallel()
	good, at := anArchive(t)
	files := map[string][]byte{"good.warc.gz": good, "page.html": []byte("<!doctype html>\x1b[2J")}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":         {[]string{"ls"}, wefttest.Misused, "expected a WARC or ARC file"},
		"no such file":    {[]string{"check", "missing"}, wefttest.Misused, "missing"},
		"no archive":      {[]string{"ls", "page.html"}, wefttest.Failed, "expected a gzip member, WARC/1.1 or the five fields of ARC"},
		"no such URL":     {[]string{"cat", "good.warc.gz", "https://example.org/x"}, wefttest.Failed, "no response of https://example.org/x"},
		"beyond the end":  {[]string{"cat", "good.warc.gz", "9999"}, wefttest.Failed, "offset 9999: the file ends before"},
		"within a record": {[]string{"cat", "good.warc.gz", fmt.Sprint(at[1] + 1)}, wefttest.Failed, "expected a gzip member"},
		"a wrong command": {[]string{"list"}, wefttest.Misused, "unknown command"},
	} {
		e := weftAmong(t, files, append([]string{"warc"}, c.args...)...)
		if e.Code != c.code || !strings.Contains(e.Stderr, c.want) || strings.Count(e.Stderr, "\n") != 1 || strings.Contains(e.Stderr, "\x1b") {
			t.Errorf("%s: exit %d: %s", name, e.Code, e.Stderr)
		}
	}
}

// TestWarcCatURL: a URL is found in any spelling, then one like it that is no redirect.
func TestWarcCatURL(t *testing.T) {
	t.Parallel()
	var file []byte
	e := warc.NewEncoder(warc.Options{})
	for i, url := range []string{"http://example.org/", "https://www.example.org/", "http://example.org/caf%c3%a9?q=%41", "urn:x"} {
		head := "200 OK"
		if i == 0 {
			head = "301 Moved\r\nLocation: https://www.example.org/"
		}
		file, _ = e.Exchange(file, &warc.Exchange{URL: url, Date: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Response: fmt.Appendf(nil, "HTTP/1.1 %s\r\n\r\nbody %d", head, i)})
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"a.warc.gz": file, "plain.warc": plain, "shared.warc.gz": []byte(gzipped(t, string(plain)))}
	for name := range files {
		for url, want := range map[string]string{
			"http://example.org/":                    "body 0",
			"HTTP://Example.ORG:80":                  "body 0",
			"https://www.example.org/#top":           "body 1",
			"https://example.org/":                   "body 1",
			"http://www.example.org":                 "body 1",
			"http://example.org/caf\u00e9?q=A":       "body 2",
			"http://example.org/x/../caf%C3%A9?q=A":  "body 2",
			"https://www.example.org/caf%C3%A9/?q=A": "body 2",
			"urn:x":                                  "body 3",
			"http://example.org/none":                "",
		} {
			got := weftAmong(t, files, "warc", "cat", name, url)
			if got.Stdout != want || (got.Code == wefttest.Done) != (want != "") {
				t.Errorf("%s, %s: exit %d: %s%s", name, url, got.Code, got.Stdout, got.Stderr)
			}
		}
	}
	got := weftAmong(t, files, "warc", "extract", "a.warc.gz", "--url", "HTTPS://www.EXAMPLE.org")
	if want := "www.example.org/index\thttps://www.example.org/\n"; got.Stdout != want {
		t.Errorf("exit %d: %s%s", got.Code, got.Stdout, got.Stderr)
	}
}

// TestWarcEscapes: what an archive holds does not control a terminal, through a pipe either.
func TestWarcEscapes(t *testing.T) {
	t.Parallel()
	body := "HTTP/1.1 200 OK\r\nContent-Type: text/\u009b31m\r\n\r\nx"
	file := fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:\u202e\U000e0041>\r\nWARC-Date: \u009b1m\r\nWARC-Target-URI: http://a.test/\u009b31m\u202e\xff\r\n"+
		"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(body), body)
	for _, args := range [][]string{{"ls"}, {"ls", "--jsonl"}, {"index"}, {"check"}, {"extract"}} {
		e := weftAmong(t, map[string][]byte{"a.warc": file}, append([]string{"warc"}, append(args, "a.warc")...)...)
		bad := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
		if out := e.Stdout + e.Stderr; strings.ContainsFunc(out, bad) || !utf8.ValidString(out) || !strings.Contains(out, "009b") {
			t.Errorf("%s: exit %d: %q", args, e.Code, out)
		}
		if args[len(args)-1] == "--jsonl" {
			var l listed
			if err := json.Unmarshal([]byte(e.Stdout), &l); err != nil || l.URL != "http://a.test/\u009b31m\u202e%FF" || l.ID != "<urn:\u202e\U000e0041>" {
				t.Errorf("%+v, %v", l, err)
			}
		}
	}
}

// TestWarcPlain: an archive without compression is read from standard input. A digest of a body
// with its transfer coding is no fault.
func TestWarcPlain(t *testing.T) {
	body := "3\r\nabc\r\n0\r\n\r\n"
	sum := sha1.Sum([]byte(body))
	block := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body
	record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2014-01-01T00:00:00Z\r\nWARC-Target-URI: http://a/\r\nWARC-Payload-Digest: sha1:%s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		base32.StdEncoding.EncodeToString(sum[:]), len(block), block)
	for _, c := range []struct {
		in, want string
		code     int
	}{
		{record, "1 record: no faults\n1 payload digest of a body with its transfer coding\n", wefttest.Done},
		{strings.Replace(record, "abc", "abd", 1), "-: offset 0: the payload does not match its digest sha1:" + base32.StdEncoding.EncodeToString(sum[:]) + "\n1 record: 1 fault\n", wefttest.Failed},
	} {
		cmd, stderr := wefttest.Command(t, "warc", "check", "-")
		cmd.Stdin = strings.NewReader(c.in)
		out, err := cmd.Output()
		if string(out) != c.want || wefttest.ExitCode(err) != c.code {
			t.Errorf("%s%swant %s", out, stderr, c.want)
		}
	}
}

// TestWarcDamagedBody: a body that cannot be read to its end is the fault of the archive, not that
// of standard output.
func TestWarcDamagedBody(t *testing.T) {
	var file []byte
	file, _ = warc.NewEncoder(warc.Options{}).Exchange(file, &warc.Exchange{URL: "http://a.test/", Date: time.Unix(0, 0),
		Response: []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nno size\r\n")})
	for _, args := range [][]string{{"cat", "a.warc.gz", "0"}, {"extract", "--offset", "0", "a.warc.gz"}} {
		e := weftAmong(t, map[string][]byte{"a.warc.gz": file}, append([]string{"warc"}, args...)...)
		if want := "weft: a.warc.gz: offset 0: chunk size \"no size\\r\\n\", expected a hexadecimal number\n"; e.Code != wefttest.Failed || e.Stdout != "abc" || e.Stderr != want {
			t.Errorf("%s: exit %d: %q, %q, expected %q", args, e.Code, e.Stdout, e.Stderr, want)
		}
	}
}

// TestWarcIndex: lines of several files are sorted together. Damage is reported, the rest is
// indexed.
func TestWarcIndex(t *testing.T) {
	good, at := anArchive(t)
	bad := slices.Clone(good)
	bad[at[1]+11] ^= 0xff // the length of a stored block
	files := map[string][]byte{"b.warc.gz": good, "a.warc.gz": good, "bad.warc.gz": bad}

	e := weftAmong(t, files, "warc", "index", "b.warc.gz", "a.warc.gz")
	lines := strings.Split(strings.TrimSpace(e.Stdout), "\n")
	if e.Code != wefttest.Done || len(lines) != 6 || !slices.IsSorted(lines) {
		t.Fatalf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}
	want := fmt.Sprintf(`org,example)/lost 20261122120000 {"url":"https://example.org/lost","mime":"text/plain","status":"404",`+
		`"digest":"sha256:%x","length":"%d","offset":"%d","filename":"`, sha256.Sum256([]byte("lost\n")), len(good)-at[2], at[2])
	if lines[4] != want+`a.warc.gz"}` || lines[5] != want+`b.warc.gz"}` {
		t.Errorf("%s\n%s\nwant %s", lines[4], lines[5], want)
	}
	e = weftAmong(t, files, "warc", "index", "a.warc.gz", "-o", "/dev/full")
	wefttest.Expect(t, "a full disk", e.Stderr, `weft: --output "/dev/full": no space left on device`+"\n")
	e = weftAmong(t, files, "warc", "index", "bad.warc.gz", "-o", "index.cdxj")
	made, err := os.ReadFile(filepath.Join(e.Dir, "index.cdxj"))
	if e.Code != wefttest.Failed || err != nil || strings.Count(string(made), "\n") != 2 || e.Stdout != "" {
		t.Errorf("exit %d: %v: %s", e.Code, err, made)
	}
	if want := fmt.Sprintf("weft: bad.warc.gz: offset %d: ", at[1]); !strings.HasPrefix(e.Stderr, want) || strings.Count(e.Stderr, "\n") != 1 {
		t.Errorf("%swant %s", e.Stderr, want)
	}
}

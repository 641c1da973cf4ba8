package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// odd is a server with one response of each kind.
func odd(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/go":
		http.Redirect(w, r, "/end", http.StatusFound)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/away":
		w.Header().Set("Location", "mailto:x@y.test")
		w.WriteHeader(http.StatusFound)
	case "/cut":
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half"))
	case "/hostile":
		w.Header().Set("X-Name", "\u202eevil\u009b31m")
		wefttest.HTML(w)
	case "/gone":
		w.WriteHeader(http.StatusGone)
	case "/cached":
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
		}
	case "/echo":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(r.Header.Get("Accept-Language") + "|" + r.UserAgent()))
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>the end</p>"))
	}
}

func TestFetch(t *testing.T) {
	plain, secure := wefttest.NewAsked(t, false, odd), wefttest.NewAsked(t, true, odd)
	for name, c := range map[string]struct {
		args   []string
		code   int
		stdout []string
		stderr string
	}{
		"whole answer":       {[]string{plain.URL + "/"}, exitDone, []string{"HTTP/1.1 200", "Content-Type: text/html", "14 bytes", "first byte", "127.0.0.1:"}, ""},
		"any status":         {[]string{plain.URL + "/gone"}, exitDone, []string{"HTTP/1.1 410"}, ""},
		"redirect is data":   {[]string{plain.URL + "/go"}, exitDone, []string{"HTTP/1.1 302", "redirect  " + plain.URL + "/end"}, ""},
		"redirect followed":  {[]string{"--follow", plain.URL + "/go"}, exitDone, []string{"302", "GET " + plain.URL + "/end", "200"}, ""},
		"loop":               {[]string{"--follow", "--max-redirects", "2", plain.URL + "/loop"}, exitError, nil, "redirects: more redirects than"},
		"no redirects":       {[]string{"--follow", "--max-redirects", "0", plain.URL + "/go"}, exitError, nil, "redirects: "},
		"redirect to mail":   {[]string{"--follow", plain.URL + "/away"}, exitError, nil, "location: "},
		"mail not followed":  {[]string{plain.URL + "/away"}, exitDone, []string{"mailto:x@y.test"}, ""},
		"cut off":            {[]string{plain.URL + "/cut"}, exitError, []string{"HTTP/1.1 200"}, "/cut: early-end: "},
		"nobody there":       {[]string{"http://127.0.0.1:1/"}, exitError, nil, "connect: "},
		"head alone":         {[]string{"-I", plain.URL + "/"}, exitDone, []string{"HEAD " + plain.URL + "/\n", "HTTP/1.1 200", "Content-Length: 14"}, ""},
		"head of a redirect": {[]string{"--head", "--follow", plain.URL + "/go"}, exitDone, []string{"302", "HEAD " + plain.URL + "/end", "200"}, ""},
		"hostile":            {[]string{plain.URL + "/hostile"}, exitDone, []string{`X-Name: \u202eevil\u009b31m`}, ""},
		"body to stdout":     {[]string{"-o", "-", plain.URL + "/"}, exitDone, []string{"<p>the end</p>"}, "HTTP/1.1 200"},
		"request with flags": {[]string{"-o", "-", "-H", "Accept-Language: eo", "-A", "spider/1", plain.URL + "/echo"}, exitDone, []string{"eo|spider/1"}, "200"},
		"not modified":       {[]string{"-H", `If-None-Match: "1"`, plain.URL + "/cached"}, exitDone, []string{"HTTP/1.1 304", `"1"`, "0 bytes"}, ""},
		"unknown authority":  {[]string{secure.URL}, exitError, nil, "tls: "},
		"any certificate":    {[]string{"-k", secure.URL}, exitDone, []string{"tls       TLS 1.3"}, ""},
		"known authority":    {[]string{"--ca", certificate(t, secure), secure.URL}, exitDone, []string{"HTTP/2 200"}, ""},
		"limit of body":      {[]string{"--max-body", "5", plain.URL}, exitError, nil, "too-large: "},
		"limit of time":      {[]string{"--timeout", "100ms", wefttest.NewAsked(t, false, hang("")).URL}, exitError, nil, "timeout: "},
		"limit of handshake": {[]string{"--tls-timeout", "100ms", "https://" + silent(t)}, exitError, nil, "tls-timeout: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := weftRun(t, append([]string{"fetch"}, c.args...)...)
			if e.code != c.code || !strings.Contains(e.stderr, c.stderr) || c.stderr == "" && e.stderr != "" {
				t.Errorf("exit %d, %q; expected %d, %q", e.code, e.stderr, c.code, c.stderr)
			}
			for _, want := range c.stdout {
				if !strings.Contains(e.stdout, want) {
					t.Errorf("%s\nexpected it to have %q", e.stdout, want)
				}
			}
		})
	}
}

// TestFetchPost: curl's habits. A redirect with 307 keeps what is sent, others lead to a GET.
func TestFetchPost(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); r.URL.Path {
		case "/307":
			http.Redirect(w, r, "/x", http.StatusTemporaryRedirect)
		case "/302":
			http.Redirect(w, r, "/x", http.StatusFound)
		default:
			kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
			fmt.Fprintf(w, "%s %s %s", r.Method, kind, body)
		}
	})
	for args, want := range map[string]string{
		"-d a=b -d c=d": "POST application/x-www-form-urlencoded a=b&c=d",
		"--post-data={} --post-type=application/json": "POST application/json {}",
		"--post-form=a=b":     "POST multipart/form-data --weft-",
		"--follow -d a=b 307": "POST application/x-www-form-urlencoded a=b",
		"--follow -d a=b 302": "GET  ",
	} {
		path := "/"
		fields := strings.Fields(args)
		if last := fields[len(fields)-1]; last == "307" || last == "302" {
			fields, path = fields[:len(fields)-1], "/"+last
		}
		e := weftRun(t, append(append([]string{"fetch", "-o", "-"}, fields...), s.URL+path)...)
		if e.code != exitDone || !strings.HasPrefix(e.stdout, want) {
			t.Errorf("%s: %d %s%s, expected %s", args, e.code, e.stdout, e.stderr, want)
		}
	}
	for args, want := range map[string]string{
		"-I -d a":             "--head and POST: expected one of them",
		"-d a --post-form a=": "--post-data and --post-form: expected one of them",
		"--post-type a/b":     `--post-type "a/b": expected together with --post-data`,
	} {
		e := weftRun(t, append(append([]string{"fetch"}, strings.Fields(args)...), s.URL)...)
		if e.code != exitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: %d %s, expected %s", args, e.code, e.stderr, want)
		}
	}
}

func TestFetchOutput(t *testing.T) {
	s := wefttest.NewAsked(t, false, odd)
	if e := weftRun(t, "fetch", "-o", "page", s.URL); e.code != exitDone || e.file("page") != "<p>the end</p>" {
		t.Errorf("%+v, %q", e, e.file("page"))
	}
	if e := weftRun(t, "fetch", "--json", "-o", "page", s.URL+"/cut"); e.code != exitError || e.file("page") != "" {
		t.Errorf("of half an answer: %+v", e)
	}
}

// TestFetchJSON: each request is an object, failed ones included.
func TestFetchJSON(t *testing.T) {
	s := wefttest.NewAsked(t, false, odd)
	e := weftRun(t, "fetch", "--json", "--follow", s.URL+"/go")
	var got []fetched
	for line := range strings.Lines(e.stdout) {
		var f fetched
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, f)
	}
	if len(got) != 2 || got[0].Status != 302 || got[0].Redirect != s.URL+"/end" || got[1].URL != s.URL+"/end" ||
		got[1].BodyBytes != 14 || got[1].Total <= 0 || got[1].Bytes <= 14 || len(got[1].Header) == 0 {
		t.Errorf("%+v", got)
	}
	e = weftRun(t, "fetch", "--json", "-I", s.URL)
	var head fetched
	if err := json.Unmarshal([]byte(e.stdout), &head); err != nil || head.Method != "HEAD" || s.Got()[2].Method != "HEAD" || head.BodyBytes != 0 || e.code != exitDone {
		t.Errorf("of a head: %v: %+v", err, e)
	}
	e = weftRun(t, "fetch", "--json", s.URL+"/cut")
	var f fetched
	if err := json.Unmarshal([]byte(e.stdout), &f); err != nil || f.Status != 200 || f.ErrorKind != "early-end" || f.Error == "" || e.code != exitError {
		t.Errorf("%v: %+v", err, e)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/go":
			http.Redirect(w, r, "/dir/", http.StatusFound)
			return
		case "/header":
			w.Header().Add("Link", `</next>; rel="next", <//b.test/>; rel=alternate`)
			w.Header().Add("Link", "</last>; rel=last")
			wefttest.HTML(w, "/text")
			return
		case "/404":
			w.WriteHeader(http.StatusNotFound)
		case "/429":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/pdf":
			w.Header().Set("Content-Type", "application/pdf")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=windows-1251")
		_, _ = w.Write([]byte("<a href=a?\xd0>\xd0\x1b[2J</a><img src=/i.png><a href='mailto:x'>"))
	})
	if e := weftRun(t, "links", s.URL+"/go"); e.code != exitDone || !strings.HasSuffix(e.stdout, "\n"+s.URL+"/i.png\n") || !strings.HasPrefix(e.stdout, s.URL+"/dir/a?") {
		t.Errorf("%+v", e)
	}
	if e, want := weftRun(t, "links", s.URL+"/header"), s.URL+"/next\nhttp://b.test/\n"+s.URL+"/last\n"+s.URL+"/text\n"; e.code != exitDone || e.stdout != want {
		t.Errorf("%+v, expected %s", e, want)
	}
	e := weftRun(t, "links", "--json", s.URL+"/go")
	if first, _, _ := strings.Cut(e.stdout, "\n"); !strings.Contains(first, `"tag":"a","attr":"href","text":"Р`) || strings.Contains(e.stdout, "\x1b") {
		t.Errorf("%+v", e)
	}
	cmd, stderr := weftCommand(t, "links", "--base", "https://example.org/dir/", "-")
	cmd.Stdin = strings.NewReader("<a href=x></a><a href=//b.test/></a>")
	if out, err := cmd.Output(); err != nil || string(out) != "https://example.org/dir/x\nhttps://b.test/\n" {
		t.Errorf("%v, %s, %s", err, out, stderr)
	}
	cmd, _ = weftCommand(t, "links", "-")
	cmd.Stdin = strings.NewReader("")
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("of an empty page: %v, %s", err, out)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"not found":     {[]string{s.URL + "/404"}, s.URL + "/404: status 404, expected 2xx"},
		"too many":      {[]string{s.URL + "/429"}, s.URL + "/429: status 429, expected 2xx"},
		"no page":       {[]string{s.URL + "/pdf"}, s.URL + `/pdf: content type "application/pdf", expected one with links`},
		"one redirect":  {[]string{"--max-redirects", "0", s.URL + "/go"}, "redirects: more redirects than --max-redirects"},
		"larger a file": {[]string{"--max-body", "3", os.Args[0]}, "larger than 3 bytes, see --max-body"},
	} {
		if e := weftRun(t, append([]string{"links"}, c.args...)...); e.code != exitError || e.stdout != "" || !strings.Contains(e.stderr, c.want) {
			t.Errorf("%s: %+v, expected exit %d and %s", name, e, exitError, c.want)
		}
	}
	if e := weftRun(t, "links", "http://127.0.0.1:1/"); e.code != exitError || !strings.Contains(e.stderr, "connect: ") {
		t.Errorf("nobody there: %+v", e)
	}
}

// TestDemoAlone: the demo shows some of each failure, and leaves no files behind.
func TestDemoAlone(t *testing.T) {
	t.Parallel() // it waits for time-outs
	cmd, stderr := weftCommand(t, "demo")
	temporary := t.TempDir()
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	for _, kind := range []string{"early-end", "encoding", "protocol", "redirects", "robots", "timeout"} {
		if !strings.Contains(stderr.String(), " "+kind+" ") {
			t.Errorf("no %s: %s", kind, stderr)
		}
	}
	for _, dir := range []string{cmd.Dir, temporary} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestDemo: the demo finds all pages of its site.
func TestDemo(t *testing.T) {
	t.Parallel() // it waits for time-outs
	e := weftRun(t, "demo", "--seed", "3", "--pages", "12", "--job", "job")
	if e.code != exitDone || !strings.Contains(e.stderr, "a generated site of 12 pages") || !strings.Contains(e.stderr, "job/pages.jsonl") {
		t.Errorf("%+v", e)
	}
	pages := 0
	for line := range strings.Lines(e.file("job/pages.jsonl")) {
		var r weft.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Status == 200 && r.ErrorKind == "" {
			pages++
		}
	}
	site := webtest.Start(t, webtest.Config{Seed: 3, Pages: 12})
	want := 0
	for _, fate := range site.Web.Truth(webtest.Policy{MaxRedirects: 10, Robots: true, Agent: webtest.Agent, Retries: 1}) {
		if fate.Status == 200 && fate.Error == "" {
			want++
		}
	}
	if pages != want {
		t.Errorf("%d whole answers with status 200, the site has %d", pages, want)
	}
}

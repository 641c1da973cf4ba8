package served

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/wefttest"
)

func TestMain(m *testing.M) { wefttest.Main(m, 6) }

// site is a site of n pages, each of which links to the next one, that counts requests.
func site(t *testing.T, n int) (*httptest.Server, func() map[string]int) {
	t.Helper()
	var mu sync.Mutex
	asked := make(map[string]int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if r.URL.Path == "/" {
			i, err = 0, nil
		}
		if err != nil || i > n {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Page %d</title><main><h1>Page %[1]d</h1><p>The text of page %[1]d.</p><a href=/%d>next</a></main>", i, i+1)
	}))
	t.Cleanup(s.Close)
	return s, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		all := make(map[string]int)
		for path, times := range asked {
			all[path] = times
		}
		return all
	}
}

// server is a weft serve that runs.
type server struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	token string

	client http.Client
}

// serve starts one for a folder.
func serve(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	cmd, stderr := wefttest.Command(t, append(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), dir)...)
	// Killed, its crawls would go on.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", cmd.Wait(), stderr)
	}
	s := &server{t: t, cmd: cmd, url: strings.TrimSuffix(strings.TrimSpace(line), "/")}
	t.Cleanup(func() { s.signal(syscall.SIGTERM) })
	return s
}

// signal ends it, and waits for that.
func (s *server) signal(sig os.Signal) {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(sig)
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// ask requests a path, and reads the body into v, if it is JSON.
func (s *server) ask(method, path string, body, v any, header ...string) (status int, text string) {
	s.t.Helper()
	var send io.Reader
	if body != nil {
		b, is := body.(json.RawMessage) // which need be no JSON
		if !is {
			var err error
			if b, err = json.Marshal(body); err != nil {
				s.t.Fatal(err)
			}
		}
		send = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, send)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.isDescribed(resp, b)
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			s.t.Fatalf("%s %s: %d, %s: %v", method, path, resp.StatusCode, b, err)
		}
	}
	return resp.StatusCode, string(b)
}

type crawl struct {
	ID, State, Message, URL string
	Status                  struct{ Pages, Done int }
}

// start starts a crawl.
func (s *server) start(body map[string]any, header ...string) crawl {
	s.t.Helper()
	var c crawl
	if status, text := s.ask("POST", "/v1/crawls", body, &c, header...); status != http.StatusCreated {
		s.t.Fatalf("%d: %s", status, text)
	}
	return c
}

// until waits for a crawl to end.
func (s *server) until(id string) (c crawl) {
	s.t.Helper()
	for began := time.Now(); time.Since(began) < 3*time.Minute; {
		s.ask("GET", "/v1/crawls/"+id+"?wait=20", nil, &c)
		if c.State != "queued" && c.State != "running" {
			return c
		}
	}
	s.t.Fatalf("%+v, expected its end", c)
	return c
}

// TestPaused: a crawl that waits for one of its host says that this is paused, and goes on once it
// has ended.
func TestPaused(t *testing.T) {
	t.Parallel()
	web, release := holding()
	defer web.Close()
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	s := serve(t, t.TempDir(), "--allow-private")
	first := s.start(map[string]any{"urls": []string{web.URL}})
	waits := s.start(map[string]any{"urls": []string{web.URL + "/x"}})
	until := func(what string, is func() bool) {
		t.Helper()
		for began := time.Now(); !is(); {
			if time.Since(began) > time.Minute {
				t.Fatal(what)
			}
		}
	}
	until("not paused", func() bool {
		status, _ := s.ask("POST", "/v1/crawls/"+first.ID+"/orders", map[string]any{"words": []string{"pause"}}, nil)
		return status == http.StatusOK
	})
	until("not told", func() bool {
		_, text := s.ask("GET", "/v1/crawls/"+waits.ID, nil, nil)
		return strings.Contains(text, `"waits":{"for":"host","crawl":"`+first.ID+`","paused":true}`)
	})
	if _, text := s.ask("GET", "/v1/crawls", nil, nil); !strings.Contains(text, `"waits":{"for":"host","crawl":"`+first.ID+`"}`) {
		t.Error(text)
	}
	free()
	s.ask("POST", "/v1/crawls/"+first.ID+"/stop", nil, nil)
	if c := s.until(waits.ID); c.State != "done" {
		t.Errorf("%+v", c)
	}
}

// TestCrawl: a program starts a crawl, and has all that it brings.
func TestCrawl(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 20)
	dir := t.TempDir()
	s := serve(t, dir, "--allow-private")
	c := s.start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"warc": true, "links": true, "limit": 200, "exclude": []string{"/19$", "/x"}}})
	c = s.until(c.ID)
	if c.State != "done" || c.Status.Pages != 19 || c.URL != web.URL+"/" {
		t.Fatalf("%+v", c)
	}
	at := "/v1/crawls/" + c.ID
	var pages struct {
		Pages []struct {
			Record   struct{ URL, Title string }
			Markdown string
		}
		Next string
		More bool
	}
	seen, after := 0, ""
	for more := true; more; more = pages.More {
		s.ask("GET", at+"/pages?format=markdown&limit=7&after="+after, nil, &pages)
		for _, p := range pages.Pages {
			if !strings.Contains(p.Markdown, "The text of page "+strings.TrimPrefix(p.Record.Title, "Page ")) {
				t.Errorf("%+v", p)
			}
			seen++
		}
		after = pages.Next
	}
	if seen != 19 {
		t.Errorf("%d pages", seen)
	}
	for path, want := range map[string]string{
		at + "/urls?state=done&limit=3":    `"next":`,
		at + "/errors":                     `{"urls":[]}`,
		at + "/hosts":                      `//127.0.0.1:`,
		at + "/why?url=" + web.URL + "/19": "exclude",
		at:                                 `"job":"` + c.ID + `.weft"`,
		at + "/check":                      `"subject":"` + c.ID + `.weft"`,
		at + "/files":                      `"archive/`,
		at + "/files/links.jsonl":          `"to"`,
		at + "/export?format=csv&fields=url,status": "url,status\n",
		at + "/export?where=status+==+404":          "",
		"/v1/crawls?state=done":                     c.ID,
		"/v1/openapi.json":                          `"openapi":"3.1`,
		"/metrics":                                  "\nprocess_open_fds ",
		"/crawls/" + c.ID + "/":                     "<title>Weft</title>",
		"/crawls/" + c.ID + "/v1/status":            `{"job":"` + c.ID + `.weft","state":"finished"`,
		at + "/pages?after=3":                       "expected the value of next",
		at + "/export?format=none":                  "none",
		at + "/files/..%2f..%2f..%2fetc%2fpasswd":   "no such file",
		at + "/files/state":                         "no such file",
		"/v1/crawls/..%2fx":                         "",
		"/v1/crawls/none/pages":                     "no such crawl",
		"/v1/crawls/" + strings.Repeat("x", 500):    "length",
	} {
		if _, text := s.ask("GET", path, nil, nil); !strings.Contains(text, want) || strings.Contains(text, dir) {
			t.Errorf("%s: %.500s, expected %s, and no path of this machine", path, text, want)
		}
	}
	var files struct{ Files []struct{ Name string } }
	s.ask("GET", at+"/files", nil, &files)
	archive := regexp.MustCompile(`archive/[^ ]*\.warc\.gz`).FindString(fmt.Sprint(files))
	if status, text := s.ask("GET", at+"/files/"+archive, nil, nil, "Range", "bytes=0-1"); status != http.StatusPartialContent || text != "\x1f\x8b" {
		t.Errorf("%d, %x", status, text)
	}
	if status, _ := s.ask("DELETE", at, nil, nil); status != http.StatusNoContent {
		t.Error(status)
	}
	if status, _ := s.ask("GET", at, nil, nil); status != http.StatusNotFound {
		t.Error(status)
	}
}

// TestRetry: a crawl that has ended requests again what failed, by status and error kind, and
// nothing else.
func TestRetry(t *testing.T) {
	t.Parallel()
	var there atomic.Bool
	web, asked := site(t, 2)
	handler := web.Config.Handler
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/3" && there.Load() { // the last page links there
			r.URL.Path = "/2"
		}
		handler.ServeHTTP(w, r)
	})
	s := serve(t, t.TempDir(), "--allow-private")
	c := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}}).ID)
	path := "/v1/crawls/" + c.ID
	var all struct{ Hosts []struct{ Done, Errors int } }
	if s.ask("GET", path+"/hosts", nil, &all); len(all.Hosts) != 1 || all.Hosts[0].Errors != 1 {
		t.Errorf("%+v", all)
	}
	there.Store(true)
	for body, want := range map[string]int{`{"error":"dsn"}`: 422, `{"status":"many"}`: 422, `{"all":true}`: 422} {
		if status, text := s.send(path+"/retry", body); status != want {
			t.Errorf("%s: %d: %s", body, status, text)
		}
	}
	if status, text := s.send(path+"/retry", `{"status":"404"}`); status != http.StatusAccepted {
		t.Fatalf("%d: %s", status, text)
	}
	if c = s.until(c.ID); c.State != "done" || c.Status.Pages != 4 {
		t.Errorf("%+v", c)
	}
	if _, text := s.ask("GET", path+"/hosts", nil, nil); strings.Contains(text, "errors") {
		t.Error(text)
	}
	if all := asked(); all["/"] != 1 || all["/1"] != 1 {
		t.Errorf("%v", all)
	}
	if status, text := s.send(path+"/resume", ""); status != http.StatusAccepted {
		t.Errorf("%d: %s", status, text)
	}
	if c = s.until(c.ID); c.State != "done" { // the retry is over
		t.Errorf("%+v", c)
	}
}

// TestPrivate: no URL, redirect or name leads who asks to a private address.
func TestPrivate(t *testing.T) {
	t.Parallel()
	web, asked := site(t, 3)
	s := serve(t, t.TempDir())
	c := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}}).ID)
	if c.State != "failed" || !strings.Contains(c.Message, "127.0.0.1") || len(asked()) > 0 {
		t.Errorf("%+v, %v", c, asked())
	}
}

// TestTokens: without a token nobody is let in once there is one; each does what its rights say,
// within its limits.
func TestTokens(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 30)
	dir := t.TempDir()
	token := func(args ...string) string {
		e := wefttest.Run(t, append(append([]string{"serve"}, args...), dir)...)
		if e.Code != wefttest.Done {
			t.Fatal(e)
		}
		return strings.TrimSpace(e.Stdout)
	}
	reader := token("--add-token", "reader", "--rights", "read")
	writer := token("--add-token", "writer", "--max-pages", "5", "--max-memory", "512MiB", "--rights", "all")
	if got := token("--tokens"); !regexp.MustCompile(`^reader  read  [\d-]{10}\nwriter  read,write,fetch,others  [\d-]{10}  --max-pages 5  --max-memory 512MiB$`).MatchString(got) {
		t.Errorf("tokens: %q", got)
	}
	s := serve(t, dir, "--allow-private")
	ask := func(token, method, path string, body any) (int, string) {
		s.token = token
		return s.ask(method, path, body, nil)
	}
	crawl := map[string]any{"urls": []string{web.URL + "/"}}
	for _, c := range []struct {
		token, method, path string
		body                any
		want                int
	}{
		{"", "GET", "/v1/crawls", nil, 401},
		{"weft_none", "GET", "/v1/crawls", nil, 401},
		{"", "GET", "/v1/openapi.json", nil, 200},
		{"", "GET", "/healthz", nil, 200},
		{reader, "GET", "/v1/crawls", nil, 200},
		{reader, "POST", "/v1/crawls", crawl, 403},
		{reader, "DELETE", "/v1/crawls/none", nil, 403},
		{writer, "POST", "/v1/crawls", map[string]any{"urls": crawl["urls"], "options": map[string]any{"limit": 6}}, 422},
		{writer, "POST", "/v1/crawls", map[string]any{"urls": crawl["urls"], "options": map[string]any{"header": "A: b"}}, 422},
	} {
		if status, text := ask(c.token, c.method, c.path, c.body); status != c.want {
			t.Errorf("%s %s: %d %s, expected %d", c.method, c.path, status, text, c.want)
		}
	}
	s.token = writer
	c := s.until(s.start(crawl).ID)
	if c.State != "limited" || c.Status.Pages != 5 {
		t.Errorf("%+v", c)
	}
	if status, text := ask(writer, "GET", "/v1/crawls/"+c.ID+"/pages?format=text", nil); status != 422 || !strings.Contains(text, "the crawl keeps no bodies") {
		t.Errorf("texts without bodies: %d %s", status, text)
	}
	for token, want := range map[string]string{"weft_none": "there is no such token", "": "expected a token"} {
		if _, text := ask(token, "GET", "/v1/crawls", nil); !strings.Contains(text, want) {
			t.Errorf("%s, expected %s", text, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "tokens.json"))
	if err != nil || bytes.Contains(text, []byte(writer)) {
		t.Errorf("%s, %v", text, err)
	}
	token("--remove-token", "writer")
	token("--remove-token", "reader")
	if status, _ := ask(writer, "GET", "/v1/crawls", nil); status != 401 {
		t.Errorf("%d after the last token was removed", status)
	}
	for want, args := range map[string][]string{
		"--listen 0.0.0.0:0: beyond this machine, expected a token":       {"--listen", "0.0.0.0:0"},
		`--host "a.test": for others than this machine, expected a token`: {"--listen", "127.0.0.1:0", "--host", "a.test"},
		"--max-pages: expected together with --add-token":                 {"--max-pages", "9"},
		"--rights: expected together with --add-token":                    {"--tokens", "--rights", "read"},
	} {
		if e := wefttest.Run(t, append(append([]string{"serve"}, args...), t.TempDir())...); e.Code != 3 || !strings.Contains(e.Stderr, want) {
			t.Errorf("%q: %+v", args, e)
		}
	}
}

// TestStrangers: pages of a browser, and names that lead here, use nothing.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	for want, header := range map[int][]string{
		http.StatusForbidden: {"Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"},
	} {
		if status, _ := s.ask("POST", "/v1/crawls", map[string]any{"urls": []string{"https://a.test/"}}, nil, header...); status != want {
			t.Errorf("%v: %d", header, status)
		}
	}
	r, _ := http.NewRequest("GET", s.url+"/v1/crawls", nil)
	r.Host = "evil.test"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Error(resp.Status)
	}
}

// TestBadInput: whatever is sent, the answer is a short line that says what is wrong.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	many := strings.Repeat(`"https://a.test/",`, 100_001)
	alone := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for body, want := range map[string]int{
		"": 400, "{": 400, "null": 422, "[]": 422, `"x"`: 422, `{"urls":null}`: 422, `{"urls":"https://a.test/"}`: 422,
		`{"urls":[1]}`: 422, `{"urls":[""]}`: 422, `{"urls":["file:///etc/passwd"]}`: 422, `{"urls":["javascript:alert(1)"]}`: 422,
		`{"urls":["https://a.test/"],"other":1}`: 422, `{"urls":["https://a.test/"],"options":{"job":"/"}}`: 422,
		`{"urls":["https://a.test/"],"options":{"allow-private":true}}`: 422, `{"urls":["https://a.test/"],"options":{"proxy":"http://a.test"}}`: 422,
		`{"urls":["https://a.test/"],"options":{"config":"/etc/passwd"}}`: 422, `{"urls":["https://a.test/"],"options":{"render":"auto"}}`: 422, `{"urls":["https://a.test/"],"options":{"distrust":false}}`: 422,
		`{"urls":["https://a.test/"],"options":{"limit":-1}}`: 422, `{"urls":["https://a.test/"],"options":{"limit":1e99}}`: 422,
		`{"urls":["https://a.test/"],"options":{"limit":[1,2]}}`: 422, `{"urls":["https://a.test/"],"options":{"include":["("]}}`: 422,
		`{"urls":["https://a.test/"],"options":{"memory":"1 byte"}}`: 422, `{"urls":["https://a.test/"],"options":{"max-time":"forever"}}`: 422,
		`{"urls":["https://a.test/"],"webhook":{"url":"file:///x"}}`: 422, `{"urls":["https://a.test/"],"webhook":{"url":"https://b.test/","events":["x"]}}`: 422,
		`{"urls":["https://a.test/"],"webhook":{"url":"https://b.test/","secret":"x"}}`: 422,
		`{"urls":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}":    400,
		`{"urls":[` + many + `"https://a.test/"]}`:                                      422,
		`{"urls":["` + strings.Repeat("a", 5<<20) + `"]}`:                               413,
	} {
		resp, err := alone.Post(s.url+"/v1/crawls", "application/json", strings.NewReader(body))
		if err != nil {
			t.Errorf("%.60s: %v", body, err)
			continue
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || len(answer) > 2000 {
			t.Errorf("%.60s: %d, expected %d; %d bytes: %.300s, %v", body, resp.StatusCode, want, len(answer), answer, err)
		}
	}
	for path, want := range map[string]int{
		"/v1/crawls/..%2f..%2fx": 422, "/v1/crawls/%2e%2e/pages": 422, "/v1/crawls/a%00b": 422, "/v1/crawls?limit=0": 422,
		"/v1/crawls?limit=1e9": 422, "/v1/crawls?state=x": 422, "/crawls/none/": 404, "/crawls/%2e%2e/": 404, "/v1/none": 404,
		"/v1/crawls/tokens.json": 404, "/v1/crawls/serve.lock/files": 404, "/v1/crawls/none/files/pages.jsonl": 404,
	} {
		if status, text := s.ask("GET", path, nil, nil); status != want || len(text) > 2000 {
			t.Errorf("%s: %d, expected %d: %.300s", path, status, want, text)
		}
	}
	var all struct{ Crawls []crawl }
	if s.ask("GET", "/v1/crawls", nil, &all); len(all.Crawls) > 0 {
		t.Errorf("%+v", all)
	}
}

// TestRestOfBody: what is left of a body that is too long is no request.
func TestRestOfBody(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	const hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	long := strings.Repeat("x", 4<<20) + strings.Repeat(hidden, 30_000)
	for _, path := range []string{"/v1/crawls", "/session", "/none"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(long), long)
		}()
		answers, _ := io.ReadAll(conn) // the server may reset the connection
		conn.Close()
		if n := bytes.Count(answers, []byte("HTTP/1.1 ")); n != 1 || bytes.Contains(answers, []byte("200 OK")) {
			t.Errorf("%s: %d answers: %.500s", path, n, answers)
		}
	}
}

// TestKilled: whenever the server is killed, no crawl is lost or there twice, and none fetches a
// page again. In its long form WEFT_KILLS sets the number of kills; with the usual 100, 1,000
// crawls wait while 50 run.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crawls, kills, atOnce, delay := 6, 5, 3, 20
	if long.Enabled() {
		kills = 100
		if s := os.Getenv("WEFT_KILLS"); s != "" {
			var err error
			if kills, err = strconv.Atoi(s); err != nil || kills < 2 {
				t.Fatalf("WEFT_KILLS=%s, expected a number of kills", s)
			}
		}
		crawls, atOnce, delay = 12*kills, kills/2, 10*kills
	}
	const pages = 25
	options := map[string]any{"urls": nil, "options": map[string]any{"delay": fmt.Sprintf("%dms", delay), "memory": "64MiB"}}
	s := serve(t, dir, "--allow-private", "--crawls", strconv.Itoa(atOnce))
	began, most := time.Now(), 0
	var ids []string // in the order of their start, which is that of their turns
	sites := make(map[string]func() map[string]int)
	add := func(i int) {
		web, asked := site(t, pages-2)
		options["urls"] = []string{web.URL + "/"}
		key := strconv.Itoa(i)
		first := s.start(options, "Idempotency-Key", key)
		ids, sites[first.ID] = append(ids, first.ID), asked
		if again := s.start(options, "Idempotency-Key", key); again.ID != first.ID {
			t.Errorf("%s and %s", first.ID, again.ID)
		}
	}
	for i := range crawls {
		add(i)
	}
	queued := s.counted("&state=queued")
	for i := range kills { // when this part of them has ended, and those after it run or wait
		s.until(ids[i*crawls/kills])
		most = max(most, s.counted("&state=running"))
		s.signal(syscall.SIGKILL)
		s = serve(t, dir, "--allow-private", "--crawls", strconv.Itoa(atOnce))
	}
	if long.Enabled() && (most < atOnce || queued < 10*kills) {
		t.Errorf("%d crawls ran at a time, expected %d; %d waited, expected %d", most, atOnce, queued, 10*kills)
	}
	for id, asked := range sites {
		if c := s.until(id); c.State != "done" {
			t.Errorf("%+v", c)
		}
		text, err := os.ReadFile(filepath.Join(dir, id+".weft", "pages.jsonl"))
		if err != nil || bytes.Count(text, []byte("\n")) != pages {
			t.Errorf("%d records, %v", bytes.Count(text, []byte("\n")), err)
		}
		for path, times := range asked() {
			if times > 1 && path != "/robots.txt" { // no crawl was killed
				t.Errorf("%s was requested %d times", path, times)
			}
		}
	}
	if n := s.counted(""); n != crawls {
		t.Errorf("%d crawls, expected %d", n, crawls)
	}
	t.Logf("%d crawls of %d URLs, %d of which waited at once, up to %d at a time; the server was killed %d times; %.0f s", crawls, pages, queued, most, kills, time.Since(began).Seconds())
}

// counted is the number of crawls in a list.
func (s *server) counted(query string) (n int) {
	s.t.Helper()
	for after := ""; ; {
		var some struct {
			Crawls []crawl
			Next   string
		}
		s.ask("GET", "/v1/crawls?limit=1000&after="+after+query, nil, &some)
		if n, after = n+len(some.Crawls), some.Next; after == "" {
			return n
		}
	}
}

// TestInterrupted: crawls end with the server that is interrupted, and go on with the next one.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	web, asked := site(t, 40)
	fifth := make(chan struct{})
	handler := web.Config.Handler
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/5" {
			close(fifth)
		}
		handler.ServeHTTP(w, r)
	})
	dir := t.TempDir()
	s := serve(t, dir, "--allow-private")
	c := s.start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"delay": "20ms"}})
	<-fifth
	if _, text := s.ask("GET", "/metrics", nil, nil); !strings.Contains(text, `weft_crawls{state="running"} 1`) || !strings.Contains(text, "weft_records_total{crawl=\""+c.ID) {
		t.Errorf("series: %.3000s", text)
	}
	s.signal(syscall.SIGTERM)
	before := len(asked())
	s = serve(t, dir, "--allow-private")
	if c = s.until(c.ID); c.State != "done" || before >= 42 {
		t.Errorf("%+v; %d URLs before", c, before)
	}
	for path, times := range asked() {
		if times > 1 && path != "/robots.txt" {
			t.Errorf("%s was requested %d times", path, times)
		}
	}
}

// TestSecure: behind a server with TLS, the cookie of a person goes over TLS alone.
func TestSecure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", dir).Stdout)
	s := serve(t, dir)
	for proto, want := range map[string]bool{"http": false, "https": true} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/session", strings.NewReader(`{"token":"`+token+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-Proto", proto)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if all := resp.Cookies(); len(all) != 1 || all[0].Secure != want {
			t.Errorf("%s: %s, %v", proto, resp.Status, all)
		}
	}
}

// TestTLS: beyond loopback a server takes a certificate, its key and a token; a program with the
// token has its crawl over HTTPS.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written := func(name, kind string, der []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(nil, of, of, public, private)
	cert := written("cert.pem", "CERTIFICATE", der, err)
	known, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	der, err = x509.MarshalPKCS8PrivateKey(private)
	key := written("key.pem", "PRIVATE KEY", der, err)
	_, private, err = ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err = x509.MarshalPKCS8PrivateKey(private)
	other := written("other.pem", "PRIVATE KEY", der, err)
	jobs := filepath.Join(dir, "jobs")
	refused := func(want string, args ...string) {
		t.Helper()
		if e := wefttest.Run(t, append(append([]string{"serve", "--listen", "0.0.0.0:0"}, args...), jobs)...); e.Code != 3 || !strings.Contains(e.Stderr, want) {
			t.Errorf("%q: %d, %s", args, e.Code, e.Stderr)
		}
	}
	refused("expected a token", "--tls-cert", cert, "--tls-key", key)
	token := strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", jobs).Stdout)
	refused("expected --tls-cert and --tls-key")
	refused("expected both or none", "--tls-cert", cert)
	refused("private key", "--tls-cert", cert, "--tls-key", other)
	s := serve(t, jobs, "--listen", "0.0.0.0:0", "--allow-private", "--tls-cert", cert, "--tls-key", key)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "https://"))
	if err != nil {
		t.Fatalf("%s: %v", s.url, err)
	}
	s.url = "https://127.0.0.1:" + port
	roots := x509.NewCertPool()
	roots.AddCert(known)
	wire := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer wire.CloseIdleConnections()
	s.client.Transport = wire
	if status, text := s.ask("GET", "/v1/crawls", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", status, text)
	}
	s.token = token
	web, _ := site(t, 3)
	if c := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}}).ID); c.State != "done" || c.Status.Done != 5 {
		t.Errorf("%+v", c)
	}
}

// TestTokensOfRoot: tokens that root makes are for the server of the folder's owner.
func TestTokensOfRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := os.Getuid()
	if owner == 0 {
		owner = 65532
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	if e := wefttest.Run(t, "serve", "--add-token", "me", dir); e.Code != wefttest.Done {
		t.Fatal(e)
	}
	info, err := os.Stat(filepath.Join(dir, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	if has := info.Sys().(*syscall.Stat_t).Uid; int(has) != owner || info.Mode() != 0o600 {
		t.Errorf("owner %d, expected %d; mode %s", has, owner, info.Mode())
	}
}

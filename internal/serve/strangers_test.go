package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/internal/scrape"
)

// guarded is a server of an empty folder with one token, whose text is returned, and with room for
// few connections.
func guarded(t *testing.T, most int, rights ...Right) (at, token string) {
	t.Helper()
	dir := t.TempDir()
	folder, err := crawls.Open(dir, crawls.Options{Command: func(crawls.Run) []string { return []string{"false"} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	tokens, err := OpenTokens(dir)
	if err == nil {
		token, err = tokens.Add("one", rights, Limits{})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{
		Crawls: folder, Tokens: tokens, Scraper: scrape.New(scrape.Options{}),
		Plan: func(o map[string][]string, _ Limits) (map[string][]string, error) { return o, nil },
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- loopback.Serve(ctx, listener, s, newDoor(most).guard) }()
	t.Cleanup(func() { cancel(); <-ended })
	return listener.Addr().String(), token
}

// begin sends the beginning of a request, on a connection that stays open until the test ends, and
// that receives little before it is read.
func begin(t *testing.T, at, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	}
	if err == nil {
		_, err = io.WriteString(conn, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestSlowStrangers: those who send the body of a request without a token byte after byte keep
// nobody out, and nothing is kept of a body that is too long for a token.
func TestSlowStrangers(t *testing.T) {
	t.Parallel()
	const most = 8
	at, token := guarded(t, most, Read)
	for range 3 * most {
		begin(t, at, "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{\"token\": \"")
		if status := get(t, at, token, "/v1/crawls"); status != http.StatusOK {
			t.Fatalf("%d beside strangers", status)
		}
	}
	conn := begin(t, at, fmt.Sprintf("POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n{\"token\": \"%s", strings.Repeat("x", 64<<10)))
	answer, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("a long token: %.300s", answer)
	}
}

// get requests a path on a connection of its own.
func get(t *testing.T, at, token, path string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+at+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestRemovedViewer: a stream ends once the token of its viewer is removed.
func TestRemovedViewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, err := crawls.Open(dir, crawls.Options{Command: func(crawls.Run) []string { return []string{"false"} }})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	c, _, err := folder.Add(crawls.Ask{Seeds: []string{"https://a.test/"}})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := OpenTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Add("one", Rights, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(New(Options{Crawls: folder, Tokens: tokens, Scraper: scrape.New(scrape.Options{})}))
	defer web.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", web.URL+"/crawls/"+c.Name+"/v1/looks", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, first); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	if _, err := tokens.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil { // which ends
		t.Error(err)
	}
}

// TestValues: values are counted, and not the signs within texts.
func TestValues(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "7": 0, "[1,2,3]": 3, `{"a":1,"b":[]}`: 5, `"[,,,,"`: 0, `["\"[,,", ","]`: 2, `["\\",1]`: 2, `"` + strings.Repeat(`\"`, 9) + `,`: 0,
		strings.Repeat("[", 9): 9,
	} {
		if got := values([]byte(text)); got != want {
			t.Errorf("%s: %d, expected %d", text, got, want)
		}
	}
}

// TestOrdersWithinLimits: no order leads beyond the rate and the pages of a token.
func TestOrdersWithinLimits(t *testing.T) {
	limited, free := &Token{Limits: Limits{Rate: 5, Pages: 9}}, &Token{}
	for words, ok := range map[string]bool{
		"": true, "pause": true, "set rate-limit=5": true, "set rate-limit=0.1": true, "set delay=0 per-host=9": true, "add rate-limit=0": true,
		"set rate-limit=0": false, "set rate-limit=6": false, "set rate-limit=-0": false, "set rate-limit=NaN": false, "set rate-limit=Inf": false,
		"set rate-limit=1 rate-limit=0": false, "set rate-limit=": false, "set delay=1s rate-limit=1e9": false, "set rate-limit=0x0p0": false,
		"set limit=9 max-time=0": true, "set limit=10": false, "set limit=0": false, "set delay=1s limit=1e9": false, "set limit=": false,
	} {
		if err := limited.allow(&crawls.Crawl{}, strings.Fields(words)); (err == nil) != ok {
			t.Errorf("%s: %v", words, err)
		}
		if err := free.allow(&crawls.Crawl{}, strings.Fields(words)); err != nil {
			t.Errorf("%s without a limit: %v", words, err)
		}
	}
	own, add := &crawls.Crawl{Own: true}, []string{"add", "http://127.0.0.1/"}
	if free.allow(own, add) == nil || free.allow(&crawls.Crawl{}, add) != nil || operator.allow(own, add) != nil || free.allow(own, []string{"stop"}) != nil {
		t.Error("who may add to a crawl of a file")
	}
}

// TestPageRights: from the page of a crawl, only who may write steers it.
func TestPageRights(t *testing.T) {
	t.Parallel()
	folder, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	c, _, err := folder.Add(crawls.Ask{Seeds: []string{"https://a.test/"}, By: "one"})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := OpenTokens(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Crawls: folder, Tokens: tokens, Scraper: scrape.New(scrape.Options{})})
	for right, refused := range map[Right]map[string]bool{
		Read:  {"GET /v1/urls": false, "HEAD /": false, "POST /v1/orders": true},
		Write: {"GET /v1/urls": true, "HEAD /": true, "POST /v1/orders": false},
	} {
		token, err := tokens.Add("one", []Right{right}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for what, want := range refused {
			method, path, _ := strings.Cut(what, " ")
			r := httptest.NewRequest(method, "/crawls/"+c.Name+path, strings.NewReader(`{"words":["stop"]}`))
			r.Host = "localhost"
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if (w.Code == http.StatusForbidden) != want {
				t.Errorf("%s with the right to %s: %d %s", what, right, w.Code, w.Body)
			}
		}
	}
}

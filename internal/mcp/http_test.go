package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/scrape"
)

// served serves the tools over HTTP, to the client that a header names by its rights.
func served(t testing.TB, jobs string) string {
	t.Helper()
	web := scrape.New(scrape.Options{HTTP: weft.HTTP{AllowPrivate: true, Timeout: time.Hour}, MaxTime: time.Hour})
	s := New(Options{Jobs: jobs, Pages: func(Client) Pages { return web }})
	server := httptest.NewServer(s.Handler(func(r *http.Request) (Client, bool) {
		rights, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		return Client{Name: rights, Fetch: strings.Contains(rights, "f"), Read: strings.Contains(rights, "r")}, ok
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func over(t *testing.T, url, rights string, o *sdk.ClientOptions) client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(rights)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return client{t, session, ctx}
}

// TestHTTP: over HTTP a client has the tools that its rights allow, and nobody without any has one.
func TestHTTP(t *testing.T) {
	page := site(t, map[string]string{"/": kettles})
	url := served(t, t.TempDir())
	for rights, want := range map[string][]string{
		"f": {"extract", "fetch", "map", "read"}, "r": {"check", "extract", "pages", "read", "search", "status", "why"}, "x": nil,
	} {
		var names []string
		c := over(t, url, rights, nil)
		for tool, err := range c.Tools(c.ctx, nil) {
			if err != nil {
				break // there are none
			}
			names = append(names, tool.Name)
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%s: %q", rights, names)
		}
	}
	if _, content, _ := parts(t, over(t, url, "f", nil).call("read", args{"url": page})); !strings.Contains(content, "# Kettles") {
		t.Errorf("%q", content)
	}
	for _, tool := range []string{"read", "extract"} {
		if r := over(t, url, "r", nil).call(tool, args{"url": page, "structured": true}); tool == "extract" && !r.IsError {
			t.Errorf("%s without the right: %s", tool, textOf(r))
		}
	}
	if r := over(t, url, "r", nil).call("read", args{"url": page}); !r.IsError {
		t.Errorf("read without the right: %s", textOf(r))
	}
	res, err := http.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode < 400 {
		t.Errorf("nobody: %d %s", res.StatusCode, text)
	}
}

// TestHTTPContent: over HTTP an answer has the content that it has on standard output, whatever the
// characters of the page, when it is new and when it is known, part by part, and in a batch.
func TestHTTPContent(t *testing.T) {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "%d \"quoted\" back\\slash \t \u2028 <script>&amp; ünï 🫖 \\u003c \\n data: x\r\n\n", i)
	}
	page := site(t, map[string]string{"/": "text/plain; charset=utf-8\n" + text.String(), "/kettles": kettles})
	url := served(t, "")
	pipe, web := start(t, nil, "--allow-private"), over(t, url, "f", nil)
	cursor := any("")
	for n := 0; ; n++ {
		in := args{"url": page, "max_tokens": 2000, "cursor": cursor}
		want, wanted, last := parts(t, pipe.call("read", in))
		for range 3 {
			r := web.call("read", in)
			if before, content, behind := parts(t, r); before != want || content != wanted || behind != last {
				t.Fatalf("part %d: %.300q, %.300q, %q, expected %.300q, %.300q, %q", n, before, content, behind, want, wanted, last)
			}
			cursor = r.Meta["next_cursor"]
		}
		if cursor == nil {
			if n < 3 {
				t.Errorf("%d parts", n)
			}
			break
		}
	}
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"url":%q}}}`
	r, err := http.NewRequest("POST", url, strings.NewReader(fmt.Sprintf("["+call+","+call+"]", 1, page, 2, page+"/kettles")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	res, err := bearer("f").RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if said, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a batch: %s, %.200s", res.Status, said)
	}
}

// TestHTTPCancel: who gives up a call over HTTP ends its request.
func TestHTTPCancel(t *testing.T) {
	asked, gone := make(chan bool, 1), make(chan bool, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
		gone <- true
	}))
	defer s.Close()
	defer s.CloseClientConnections() // or a call that goes on holds up the end
	c := over(t, served(t, ""), "f", nil)
	ctx, cancel := context.WithCancel(c.ctx)
	go c.CallTool(ctx, &sdk.CallToolParams{Name: "read", Arguments: args{"url": s.URL}})
	for what, ch := range map[string]chan bool{"no request": asked} {
		select {
		case <-ch:
		case <-c.ctx.Done():
			t.Fatal(what)
		}
	}
	cancel()
	select {
	case <-gone:
	case <-c.ctx.Done():
		t.Fatal("the request goes on")
	}
}

package weft_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/warc"
)

// speaker is a server that speaks HTTP/2, and keeps a log.
type speaker struct {
	*httptest.Server
	atOnce, others int
	mu             struct {
		sync.Mutex
		conns, now, most int
		others           int      // requests for other servers
		requests         []string // protocol and URL
	}
	crowd chan struct{} // closed when the first requests may be answered
}

// newSpeaker starts a server. Its requests are not answered before there are so many, and so many for
// other servers.
func newSpeaker(t *testing.T, atOnce, others int, page http.HandlerFunc) *speaker {
	s := &speaker{atOnce: atOnce, others: others, crowd: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.mu.requests = append(s.mu.requests, r.Proto+" "+r.Host+r.URL.Path)
		s.mu.now++
		s.mu.most = max(s.mu.most, s.mu.now)
		s.look()
		s.mu.Unlock()
		<-s.crowd
		page(w, r)
		s.mu.Lock()
		s.mu.now--
		s.mu.Unlock()
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.mu.conns++
			s.mu.Unlock()
		}
	}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// look answers requests, if there are enough. The caller holds the lock.
func (s *speaker) look() {
	select {
	case <-s.crowd:
	default:
		if len(s.mu.requests) >= s.atOnce && s.mu.others >= s.others {
			close(s.crowd)
		}
	}
}

// TestStreamsArePolite checks, by the server's log, that requests over one connection of HTTP/2 count for
// a host, a domain and an address as requests over several do, and that each origin has one connection.
func TestStreamsArePolite(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		host  string
		hosts int
		o     weft.Options
	}{
		"host":    {"h%d.test", 1, weft.Options{PerHost: 3}},
		"domain":  {"h%d.site.test", 4, weft.Options{PerDomain: 3}},
		"address": {"h%d.test", 4, weft.Options{PerAddress: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpeaker(t, 3, 20, func(http.ResponseWriter, *http.Request) {})
			port := s.Listener.Addr().(*net.TCPAddr).Port
			over, err := httpclient.ParseOverride(fmt.Sprintf("*:443:127.0.0.1:%d", port))
			if err != nil {
				t.Fatal(err)
			}
			// A site at another address is crawled while the first requests wait.
			other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.mu.others++
				s.look()
			}))
			if other.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
				t.Fatal(err)
			}
			other.Start()
			defer other.Close()
			o := test.o
			for n := range 20 {
				o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", other.URL, n))
			}
			o.Resolve, o.Insecure, o.NoRobots, o.Loops = []httpclient.Override{over}, true, true, 2
			var want []string
			for n := range 24 {
				at := fmt.Sprintf(test.host, n%test.hosts) + fmt.Sprintf("/%d", n)
				o.Seeds = append(o.Seeds, "https://"+at)
				want = append(want, "HTTP/2.0 "+at)
			}
			c, err := weft.New(o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			slices.Sort(s.mu.requests)
			slices.Sort(want)
			if s.mu.most != 3 || s.mu.conns != test.hosts || !slices.Equal(s.mu.requests, want) {
				t.Errorf("%d at once over %d connections: %q", s.mu.most, s.mu.conns, s.mu.requests)
			}
		})
	}
}

// TestPostsOverHTTP2: POSTs of a crawl go over HTTP/2, over the connection that others use, and one whose
// response breaks off is not sent again.
func TestPostsOverHTTP2(t *testing.T) {
	t.Parallel()
	const seeds = 4
	s := newSpeaker(t, 2*seeds, 0, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) == "q=cut" {
			panic(http.ErrAbortHandler)
		}
	})
	o := weft.Options{Insecure: true, NoRobots: true, Loops: 2, PerHost: 2 * seeds, Job: filepath.Join(t.TempDir(), "job")}
	for n := range seeds {
		o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", s.URL, n))
		o.Posts = append(o.Posts, weft.PostForm(s.URL+"/form", url.Values{"q": {[]string{"cut", "a", "b", "c"}[n]}}))
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for path, r := range records(t, o.Job) {
		switch {
		case r.Error != "" && r.Tries <= 1:
			failed++
		case r.Protocol != "h2" || r.Status != 200 || strings.Contains(path, "/form") != (r.Method == "POST"):
			t.Errorf("%s: %s, status %d over %q", path, r.Method, r.Status, r.Protocol)
		}
	}
	if n := len(s.mu.requests); failed != 1 || n != 2*seeds || s.mu.conns != 1 {
		t.Errorf("%d requests over %d connections, of which %d failed, expected %d over 1, and 1", n, s.mu.conns, failed, 2*seeds)
	}
}

// TestArchiveOfHTTP2: exchanges over HTTP/2 are archived as text of HTTP/1.1, and say what they were; so
// do their records.
func TestArchiveOfHTTP2(t *testing.T) {
	t.Parallel()
	s := newSpeaker(t, 1, 0, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<a href=/cut>cut</a>")
		case "/cut":
			fmt.Fprint(w, "<p>half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			http.NotFound(w, r)
		}
	})
	job := filepath.Join(t.TempDir(), "job")
	c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Archive: true, Insecure: true, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, r := range records(t, job) {
		if r.Protocol != "h2" || !strings.HasPrefix(r.TLS, "TLS 1.3, TLS_") {
			t.Errorf("%s: protocol %q, TLS %q", path, r.Protocol, r.TLS)
		}
	}
	files, _ := filepath.Glob(filepath.Join(job, "archive", "*.warc.gz"))
	if len(files) != 1 {
		t.Fatalf("archives %q", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for in := warc.NewReader(bytes.NewReader(data)); ; {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Type() != warc.Response {
			continue
		}
		res, err := http.ReadResponse(bufio.NewReader(r), nil)
		if err != nil {
			t.Fatalf("%s: %v", r.URL(), err)
		}
		body, _ := io.ReadAll(res.Body)
		var protocols []string
		for _, f := range r.Header {
			if f.Name == "WARC-Protocol" {
				protocols = append(protocols, f.Value)
			}
		}
		found[strings.TrimPrefix(r.URL(), s.URL)] = fmt.Sprintf("%s %d %s %s%q", res.Proto, res.StatusCode, strings.Join(protocols, ","), r.Header.Get("WARC-Truncated"), body)
		if !strings.HasPrefix(r.Header.Get("WARC-Cipher-Suite"), "TLS_") {
			t.Errorf("%s: cipher suite %q", r.URL(), r.Header.Get("WARC-Cipher-Suite"))
		}
	}
	for path, want := range map[string]string{
		"/":    `HTTP/1.1 200 h2,tls/1.3 "<a href=/cut>cut</a>"`,
		"/cut": `HTTP/1.1 200 h2,tls/1.3 disconnect"<p>half"`,
	} {
		if found[path] != want {
			t.Errorf("%s is %s, expected %s", path, found[path], want)
		}
	}
}

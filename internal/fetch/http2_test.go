package fetch_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
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
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/warc"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
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

// newSpeaker starts a server. Its requests are not answered before there are so many, and so many
// for other servers.
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

// TestStreamsArePolite checks, by the server's log, that requests over one connection of HTTP/2
// count for a host, a domain and an address as requests over several do, and that each origin has
// one connection.
func TestStreamsArePolite(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		host  string
		hosts int
		o     weft.Options
	}{
		"host":    {"h%d.test", 1, weft.Options{Pace: weft.Pace{PerHost: 3}}},
		"domain":  {"h%d.site.test", 4, weft.Options{Pace: weft.Pace{PerDomain: 3}}},
		"address": {"h%d.test", 4, weft.Options{Pace: weft.Pace{PerAddress: 3}}},
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
			o.HTTP.Resolve, o.HTTP.Insecure, o.Reach.NoRobots, o.Loops = []httpclient.Override{over}, true, true, 2
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

// TestPostsOverHTTP2: POSTs of a crawl go over HTTP/2, over the connection that others use, and one
// whose response breaks off is not sent again.
func TestPostsOverHTTP2(t *testing.T) {
	t.Parallel()
	const seeds = 4
	s := newSpeaker(t, 2*seeds, 0, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) == "q=cut" {
			panic(http.ErrAbortHandler)
		}
	})
	o := weft.Options{HTTP: weft.HTTP{Insecure: true}, Reach: weft.Reach{NoRobots: true}, Loops: 2, Pace: weft.Pace{PerHost: 2 * seeds}, Job: filepath.Join(t.TempDir(), "job")}
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
	for path, r := range crawltest.Records(t, o.Job) {
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

// TestArchiveOfHTTP2: exchanges over HTTP/2 are archived as text of HTTP/1.1, and say what they
// were; so do their records.
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
	c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Keep: weft.Keep{Archive: true}, HTTP: weft.HTTP{Insecure: true}, Pace: weft.Pace{Retries: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, r := range crawltest.Records(t, job) {
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

// framed is a server that takes HTTP/2 frame by frame.
type framed struct {
	*httptest.Server
	conns atomic.Int64
}

// framedConn is a connection to it.
type framedConn struct {
	*http2.Framer
	block bytes.Buffer
	hpack *hpack.Encoder
	open  []uint32 // streams without a response
	more  bool     // some have come since the last PING
}

// ask sends a PING, whose reply shows whether more requests were on their way.
func (c *framedConn) ask() { c.WritePing(false, [8]byte{}) }

// answer responds to a request with a page.
func (c *framedConn) answer(id uint32) {
	c.block.Reset()
	c.hpack.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	c.hpack.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
	c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block.Bytes(), EndHeaders: true})
	c.WriteData(id, true, []byte("<p>a page"))
}

// newFramed starts a server. It calls request for each, with those before it that have no response
// yet, and with a stream of 0 when all have come that were sent together; over ends the connection.
// Then a request that is open still is answered.
func newFramed(t *testing.T, request func(c *framedConn, id uint32, path string) (over bool)) *framed {
	t.Helper()
	s := &framed{Server: httptest.NewUnstartedServer(http.NotFoundHandler())}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
			defer conn.Close()
			s.conns.Add(1)
			c := &framedConn{Framer: http2.NewFramer(conn, conn)}
			c.hpack = hpack.NewEncoder(&c.block)
			c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
			c.WriteSettings()
			for over := false; ; {
				f, err := c.ReadFrame()
				if err != nil {
					return
				}
				switch f := f.(type) {
				case *http2.MetaHeadersFrame:
					c.open, c.more = append(c.open, f.StreamID), true
					if over = request(c, f.StreamID, f.PseudoValue("path")); len(c.open) == 1 {
						c.ask()
					}
				case *http2.PingFrame:
					switch over = !c.more && request(c, 0, ""); {
					case over:
					case !c.more && len(c.open) > 0:
						c.answer(c.open[0])
						c.open = c.open[1:]
					}
					if c.more = false; len(c.open) > 0 {
						c.ask()
					}
				}
				if over {
					conn.CloseWrite()
					io.Copy(io.Discard, conn)
					return
				}
			}
		},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// TestOverloadOverHTTP2: a server that asks for calm, or refuses requests, when there are more than
// ten at once loses no page, and is asked for few of them in vain.
func TestOverloadOverHTTP2(t *testing.T) {
	t.Parallel()
	const pages, most = 60, 10
	for name, object := range map[string]func(c *framedConn, id uint32) (over bool){
		"it asks for calm": func(c *framedConn, _ uint32) bool {
			c.WriteGoAway(c.open[len(c.open)-1], http2.ErrCodeEnhanceYourCalm, nil)
			return true
		},
		"it asks for calm when it has taken all of them": func(c *framedConn, id uint32) bool {
			if id == 0 {
				c.WriteGoAway(c.open[len(c.open)-1], http2.ErrCodeEnhanceYourCalm, nil)
			}
			return id == 0
		},
		"it asks for calm, and has looked at no request": func(c *framedConn, _ uint32) bool {
			c.WriteGoAway(c.open[0]-1, http2.ErrCodeEnhanceYourCalm, nil)
			return true
		},
		"it resets requests for calm": func(c *framedConn, id uint32) bool {
			c.WriteRSTStream(c.open[most], http2.ErrCodeEnhanceYourCalm)
			c.open = c.open[:most]
			return false
		},
		"it refuses requests": func(c *framedConn, _ uint32) bool {
			c.WriteRSTStream(c.open[most], http2.ErrCodeRefusedStream)
			c.open = c.open[:most]
			return false
		},
		"it refuses all at first": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var vain, sent atomic.Int64
			s := newFramed(t, func(c *framedConn, id uint32, _ string) bool {
				n := sent.Load()
				if id > 0 {
					n = sent.Add(1)
				}
				switch {
				case object == nil && id == 0:
				case object == nil && n <= 2*pages: // each is sent twice before its caller is told
					vain.Add(1)
					c.WriteRSTStream(id, http2.ErrCodeRefusedStream)
					c.open = nil
				case object != nil && len(c.open) > most:
					if id > 0 {
						vain.Add(1)
					}
					return object(c, id)
				}
				return false
			})
			o := weft.Options{HTTP: weft.HTTP{Insecure: true}, Reach: weft.Reach{NoRobots: true}, Job: filepath.Join(t.TempDir(), "job")}
			for n := range pages {
				o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", s.URL, n))
			}
			c, err := weft.New(o)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := c.Run(t.Context())
			if err != nil || sum.Pages != pages || len(sum.Errors) > 0 {
				t.Errorf("%v: %d pages of %d, errors %v", err, sum.Pages, pages, sum.Errors)
			}
			t.Logf("%v: %d sent, %d in vain, over %d connections", sum.Elapsed, sent.Load(), vain.Load(), s.conns.Load())
			if n := sent.Load(); object != nil && n > 6*pages {
				t.Errorf("%d requests for %d pages", n, pages)
			}
		})
	}
}

// TestPoisonOverHTTP2: a page that makes its server ask for calm, whatever else is under way, costs
// no other, and fails after its tries.
func TestPoisonOverHTTP2(t *testing.T) {
	t.Parallel()
	const pages = 20
	s := newFramed(t, func(c *framedConn, id uint32, path string) bool {
		if path != "/7" {
			return false
		}
		c.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, nil)
		return true
	})
	o := weft.Options{HTTP: weft.HTTP{Insecure: true}, Reach: weft.Reach{NoRobots: true}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Retries: 1}}
	for n := range pages {
		o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", s.URL, n))
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil || sum.Pages != pages-1 || sum.Errors["early-end"].URLs != 1 {
		t.Errorf("%v: %d pages of %d, errors %v", err, sum.Pages, pages-1, sum.Errors)
	}
}

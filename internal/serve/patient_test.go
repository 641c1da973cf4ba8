package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/results"
)

// serving serves an empty folder without a token, with so many bytes for answers, and more by
// handlers of a test.
func serving(t *testing.T, times times, answers int, more map[string]http.HandlerFunc) (s *Server, at string) {
	t.Helper()
	folder, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	tokens, err := OpenTokens(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	s = New(Options{Crawls: folder, Tokens: tokens, Scraper: scrape.New(scrape.Options{})})
	s.takes, s.answers = times, share.NewStock(answers, 0)
	for path, handler := range more {
		s.mux.HandleFunc(path, handler)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- loopback.Serve(ctx, listener, s, newDoor(8).guard) }()
	t.Cleanup(func() { cancel(); <-done })
	return s, listener.Addr().String()
}

// pause waits for a time, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// TestLongAnswers: an answer that somebody reads goes on beyond the time of a request, and ends
// once nobody reads it.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	const parts, part = 30, 32 << 10
	_, at := serving(t, times{time.Second, 500 * time.Millisecond}, mostAnswers, map[string]http.HandlerFunc{
		"GET /slow": func(w http.ResponseWriter, r *http.Request) {
			var err error
			for i := 0; i < parts && err == nil; i++ {
				_, err = w.Write(make([]byte, part))
				if f, ok := w.(http.Flusher); ok {
					f.Flush()
				}
				pause(r.Context(), 50*time.Millisecond)
				if r.Context().Err() != nil {
					err = r.Context().Err()
				}
			}
			ended <- err
		},
		"GET /stalled": func(w http.ResponseWriter, _ *http.Request) {
			var err error
			for i := 0; i < 10_000 && err == nil; i++ {
				_, err = w.Write(make([]byte, part))
			}
			ended <- err
		},
	})
	resp, err := http.Get("http://" + at + "/slow")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if cut := <-ended; n != parts*part || err != nil || cut != nil {
		t.Errorf("%d bytes, %v, cut %v", n, err, cut)
	}

	late, end := context.WithTimeout(t.Context(), 20*time.Second)
	defer end()
	begin(t, at, "GET /stalled HTTP/1.1\r\nHost: localhost\r\n\r\n")
	select {
	case err := <-ended:
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Error(err)
		}
	case <-late.Done():
		t.Error("a reader that reads nothing holds its connection")
	}
}

// parts records the parts of a response, each of which has a time.
type parts struct {
	*httptest.ResponseRecorder
	times, most int
}

func (p *parts) SetWriteDeadline(time.Time) error { p.times++; return nil }

func (p *parts) Write(b []byte) (int, error) {
	p.most = max(p.most, len(b))
	return p.ResponseRecorder.Write(b)
}

// TestParts: who reads slowly has the time of a part for each part of a long answer, however it is
// written.
func TestParts(t *testing.T) {
	const n = 10
	w := &parts{ResponseRecorder: httptest.NewRecorder()}
	p := &patient{ResponseWriter: w, conn: http.NewResponseController(w), ctx: t.Context()}
	text := bytes.Repeat([]byte("text"), n*mostPart/4)
	if some, err := p.Write(text); some != len(text) || err != nil || !bytes.Equal(w.Body.Bytes(), text) || w.times != n || w.most != mostPart {
		t.Errorf("%d bytes, %v, %d times, parts of %d", some, err, w.times, w.most)
	}
}

// TestManyAnswers: answers that nobody reads take no more memory than there is for them: others are
// told to come again, and do once there is room.
func TestManyAnswers(t *testing.T) {
	t.Parallel()
	const large = 16 << 20 // more than the buffers of a connection
	_, at := serving(t, times{time.Minute, time.Minute}, large*inMemory*3/2, map[string]http.HandlerFunc{
		"GET /large": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write(make([]byte, large))
		},
		"GET /parts": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "begun")
			_, _ = w.Write(make([]byte, large))
		},
	})
	get := func(path string) (resp *http.Response, n int64, err error) {
		if resp, err = http.Get("http://" + at + path); err != nil {
			return nil, 0, err
		}
		defer resp.Body.Close()
		n, err = io.Copy(io.Discard, resp.Body)
		return resp, n, err
	}
	late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	until := func(status int) *http.Response {
		for {
			resp, n, err := get("/large")
			if err != nil || resp.StatusCode == http.StatusOK && n != large {
				t.Fatalf("%d bytes, %v", n, err)
			}
			if resp.StatusCode == status {
				return resp
			}
			if late.Err() != nil {
				t.Fatalf("%s, expected %d", resp.Status, status)
			}
		}
	}
	silent := begin(t, at, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := io.ReadFull(silent, make([]byte, 12)); err != nil { // it is being written
		t.Fatal(err)
	}
	if resp := until(http.StatusTooManyRequests); resp.Header.Get("Retry-After") == "" || resp.Header.Get("ETag") != "" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") {
		t.Errorf("%v", resp.Header)
	}
	if _, n, err := get("/parts"); err == nil {
		t.Errorf("%d bytes are taken for the whole", n)
	}
	if resp, _, err := get("/v1/crawls"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a short answer: %v", err)
	}
	silent.Close()
	until(http.StatusOK)
}

// TestAnswersHeld: what is kept of pages counts as it is read, whether they are written or not.
func TestAnswersHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ room, status int }{{1 << 20, http.StatusOK}, {64 << 10, http.StatusTooManyRequests}} {
		s, at := serving(t, times{time.Minute, time.Minute}, c.room, nil)
		one, _, err := s.o.Crawls.Add(crawls.Ask{Seeds: []string{"https://a.test/"}})
		job := s.o.Crawls.Job(one.Name)
		if err == nil {
			err = os.MkdirAll(job, 0o700)
		}
		if err == nil {
			line := `{"status":200,"url":"https://a.test/` + strings.Repeat("x", 1000) + `"}` + "\n"
			err = os.WriteFile(filepath.Join(job, results.Pages), []byte(strings.Repeat(line, 40)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/v1/crawls/" + one.Name + "/pages", "/v2/crawl/" + one.Name} {
			resp, err := http.Get("http://" + at + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("%s: %s with room for %d bytes", path, resp.Status, c.room)
			}
		}
	}
}

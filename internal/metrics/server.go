package metrics

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/loopback"
)

// Path is that of the series on a server.
const Path = "/metrics"

// ContentType is that of Text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

const (
	lookEvery = time.Second
	lookTakes = 8 * time.Second // at most: a scraper waits for 10 s
)

// Server serves the series of crawls. Any goroutine may use it.
type Server struct {
	look func(context.Context) ([]inspect.Figures, error)
	own  func() inspect.Figures // see NewOwn

	mu   sync.Mutex // held while looking
	made time.Time  // of text and err; zero: never
	text []byte
	err  error
}

// New returns a server of the crawls that look returns, one at a time.
func New(look func(context.Context) ([]inspect.Figures, error)) *Server { return &Server{look: look} }

// NewOwn is New for a process that carries out none of the crawls. Of its own figures those of
// the process count; their samples have no label crawl.
func NewOwn(look func(context.Context) ([]inspect.Figures, error), own func() inspect.Figures) *Server {
	return &Server{look: look, own: own}
}

// Text returns the series, no older than a second.
func (s *Server) Text() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made.IsZero() && time.Since(s.made) < lookEvery {
		return s.text, s.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTakes)
	defer cancel()
	all, err := s.look(ctx)
	var b bytes.Buffer
	if err == nil {
		var server *inspect.Figures
		if s.own != nil {
			f := s.own()
			server = &f
		}
		write(&b, all, server)
	}
	s.made, s.text, s.err = time.Now(), b.Bytes(), err
	return s.text, s.err
}

// ServeHTTP answers a request of this machine.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case !loopback.IsHost(r.Host): // a page on the Web may have its own name lead here
		http.Error(w, "this server has no such name", http.StatusMisdirectedRequest)
		return
	case r.URL.Path != Path:
		http.Error(w, "there is no such path, expected "+Path, http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "expected GET", http.StatusMethodNotAllowed)
		return
	}
	text, err := s.Text()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", ContentType)
	_, _ = w.Write(text) // who asked may have left
}

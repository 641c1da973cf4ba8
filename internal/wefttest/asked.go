package wefttest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Asked is a server that keeps its requests, except those for robots.txt.
type Asked struct {
	*httptest.Server
	mu struct {
		sync.Mutex
		requests []*http.Request
		robots   int
		now      int
		most     int // at once
	}
}

// NewAsked starts a server, with TLS if it is asked to, which ends with the test.
func NewAsked(t *testing.T, tls bool, handler http.HandlerFunc) *Asked {
	a := new(Asked)
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		if r.URL.Path == "/robots.txt" {
			a.mu.robots++
			a.mu.Unlock()
			http.NotFound(w, r)
			return
		}
		a.mu.requests = append(a.mu.requests, r)
		a.mu.now++
		a.mu.most = max(a.mu.most, a.mu.now)
		a.mu.Unlock()
		defer func() {
			a.mu.Lock()
			a.mu.now--
			a.mu.Unlock()
		}()
		handler(w, r)
	})
	a.Server = httptest.NewUnstartedServer(serve)
	if tls {
		a.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that clients refuse
		a.EnableHTTP2 = true
		a.StartTLS()
	} else {
		a.Config.Protocols = new(http.Protocols)
		a.Config.Protocols.SetHTTP1(true)
		a.Config.Protocols.SetUnencryptedHTTP2(true)
		a.Start()
	}
	t.Cleanup(a.Close)
	return a
}

// Address returns HOST:PORT of the server.
func (a *Asked) Address() string { return a.Listener.Addr().String() }

// Got returns the requests so far.
func (a *Asked) Got() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.mu.requests)
}

// ForRobots returns how often robots.txt was requested.
func (a *Asked) ForRobots() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.robots
}

// Last is the last request.
func (a *Asked) Last() *http.Request {
	got := a.Got()
	return got[len(got)-1]
}

// AtOnce is the maximum of concurrent requests.
func (a *Asked) AtOnce() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.most
}

// Paths returns the requested paths, sorted.
func (a *Asked) Paths() string {
	var all []string
	for _, r := range a.Got() {
		all = append(all, r.URL.Path)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// HTML responds with links to paths.
func HTML(w http.ResponseWriter, paths ...string) {
	w.Header().Set("Content-Type", "text/html")
	for _, p := range paths {
		_, _ = w.Write([]byte(`<a href="` + p + `">x</a>`))
	}
}

// Star is a home page with links to /a, /b and /c.
func Star(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		HTML(w, "/a", "/b", "/c")
	} else {
		HTML(w)
	}
}

package servers

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// here is net/http's server in this process.
type here struct {
	options *Options
	server  *http.Server
	ln      *net.TCPListener
	mu      sync.Mutex // of all
	all     []Request
}

func goVersion() string { return strings.TrimPrefix(runtime.Version(), "go") }

// startHere starts the server; without a certificate it speaks HTTP/1.1 without TLS.
func startHere(o *Options) (*here, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(o.Port))
	if err != nil {
		return nil, err
	}
	h := &here{options: o, ln: ln.(*net.TCPListener)}
	h.serve()
	return h, nil
}

// serve accepts connections.
func (h *here) serve() {
	o := h.options
	h.server = &http.Server{Handler: h.files(o.Root), ErrorLog: log.New(io.Discard, "", 0), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: o.Streams}}
	if o.HTTP1 {
		h.server.TLSNextProto = make(map[string]func(*http.Server, *tls.Conn, http.Handler))
	}
	server, ln := h.server, h.ln
	if o.Cert == "" {
		go server.Serve(ln)
	} else {
		go server.ServeTLS(ln, o.Cert, o.Key)
	}
}

func (h *here) port() int { return h.ln.Addr().(*net.TCPAddr).Port }

// files serves a folder without the redirects of http.FileServer.
func (h *here) files(root string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.all = append(h.all, Request{r.RemoteAddr, r.Proto, r.Method, r.RequestURI})
		h.mu.Unlock()
		name := filepath.Join(root, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
		if strings.HasSuffix(r.URL.Path, "/") {
			name = filepath.Join(name, "index.html")
		}
		f, err := os.Open(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.IsDir() {
			http.NotFound(w, r)
		} else {
			http.ServeContent(w, r, name, info.ModTime(), f)
		}
	}
}

func (h *here) requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.all...)
}

// reload lets another server accept connections, while this one completes what it has begun.
func (h *here) reload() error {
	f, err := h.ln.File()
	if err != nil {
		return err
	}
	defer f.Close()
	ln, err := net.FileListener(f)
	if err != nil {
		return err
	}
	old := h.server
	h.ln = ln.(*net.TCPListener)
	h.serve()
	go old.Shutdown(context.Background())
	return nil
}

func (h *here) stop() { _ = h.server.Close() }

package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Protocol is the version of the protocol.
const Protocol = 1

const (
	versionHeader = "Weft-Protocol"
	prefix        = "/v1/"

	maxCommand = 8 << 20 // bytes
	maxHeader  = 16 << 10
	patience   = 10 * time.Second // for a command to arrive
	farewell   = time.Second      // for running commands when the server closes
)

// Command carries out a command. It passes each value to reply, which fails when the client has
// left; then, and when ctx is done, the command must return. Commands run concurrently.
type Command func(ctx context.Context, args []string, reply func(value any) error) error

// Server serves the socket of a crawl.
type Server struct {
	dir      string
	commands map[string]Command
	http     http.Server
	running  sync.WaitGroup // http.Serve, and connections
	closing  context.Context
	end      context.CancelFunc // of closing
}

// Serve serves commands on the socket in dir until Close.
func Serve(dir string, commands map[string]Command) (*Server, error) {
	ln, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", filepath.Join(dir, Name), err)
	}
	s := &Server{dir: dir, commands: commands}
	s.closing, s.end = context.WithCancel(context.Background())
	s.http = http.Server{
		Handler: s, ReadHeaderTimeout: patience, MaxHeaderBytes: maxHeader, ConnState: s.count,
		ErrorLog: log.New(io.Discard, "", 0), // drops errors about clients that leave
	}
	s.running.Go(func() { _ = s.http.Serve(ln) }) // until Close
	return s, nil
}

// Wait is for a command with ctx that has replied: it returns when the client leaves, or the server
// closes.
func Wait(ctx context.Context) { ctx.Value(waitKey{}).(func())() }

type waitKey struct{}

// Close gives running commands a second to finish, and returns when nothing runs any more. Closing
// a nil server does nothing.
func (s *Server) Close() {
	if s == nil {
		return
	}
	_ = os.Remove(filepath.Join(s.dir, Name)) // absent already, or harmless
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	s.running.Wait()
}

// count counts connections. New ones come while http.Serve runs.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.running.Add(1)
	case http.StateClosed:
		s.running.Done()
	}
}

type line struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// ServeHTTP serves a command.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(versionHeader, strconv.Itoa(Protocol))
	w.Header().Set("Content-Type", "application/jsonl")
	refuse := func(status int, format string, args ...any) {
		w.WriteHeader(status)
		// The client may have left.
		_ = json.NewEncoder(w).Encode(line{Error: fmt.Sprintf(format, args...)})
	}
	name, _ := strings.CutPrefix(r.URL.Path, prefix)
	command := s.commands[name]
	if command == nil {
		refuse(http.StatusNotFound, "%.64q: no such command", name)
		return
	}
	if r.Method != http.MethodPost {
		refuse(http.StatusMethodNotAllowed, "method %.16q, expected POST", r.Method)
		return
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // a socket has deadlines
	r.Body = http.MaxBytesReader(w, r.Body, maxCommand)
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, "%v", err)
		return
	}
	_ = conn.SetReadDeadline(time.Time{}) // so that ctx ends only when the client leaves
	_ = conn.Flush()                      // sends the header: the crawl is alive
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	ctx := context.WithValue(r.Context(), waitKey{}, func() {
		_ = conn.Flush() // if the client has left, there is no waiting
		select {
		case <-r.Context().Done():
		case <-s.closing.Done():
		}
	})
	if err := command(ctx, r.PostForm["arg"], func(value any) error { return out.Encode(line{Value: value}) }); err != nil {
		_ = out.Encode(line{Error: err.Error()}) // the client may have left
	}
}

package live

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/internal/share"
)

// Server serves a job. Any number of goroutines may use it.
type Server struct {
	dir     string
	name    string // of the job in answers; "": dir
	root    string // the beginning of each path: nobody else can guess it
	looks   *looks
	records shared[records]
	speed   shared[speed]
	machine shared[weft.Figures]
	whole   shared[json.RawMessage]
	reading *share.Room // of those that read the files of the job
	guard   *http.CrossOriginProtection
}

// mostReading bounds the requests that read the files of the job at once.
const mostReading = 2

// New returns a server of the job in a folder, which has a name in answers; "": its folder.
func New(dir, name string) *Server { return NewIn(share.NewRoom(mostReading, 0), dir, name) }

// NewIn does so where all who read jobs share a room.
func NewIn(reading *share.Room, dir, name string) *Server {
	return &Server{
		dir: dir, name: name, root: "/" + rand.Text() + "/", guard: http.NewCrossOriginProtection(),
		looks: newLooks(reading, dir, name), reading: reading,
	}
}

// Root returns the path of the page.
func (s *Server) Root() string { return s.root }

//go:embed page
var page embed.FS

// policy lets the page load what this server has, and nothing else; texts cannot become markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// File serves a file of the page: another page of this program looks like it.
func File(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		Secure(w)
		http.ServeFileFS(w, r, page, "page/"+name)
	}
}

// Looks is the path of the stream of looks, below that of the page.
const Looks = "v1/looks"

// requestTakes bounds the time of a request, but for that of a look.
const requestTakes = 15 * time.Second

// mostOrder bounds the body of an order, in bytes.
const mostOrder = 64 << 10

// ServeHTTP answers a request of this machine, below the path of the page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, s.root)
	switch {
	case !loopback.IsHost(r.Host):
		Secure(w)
		fail(w, problem(http.StatusMisdirectedRequest, "this server has no such name"))
	case !ok:
		Secure(w)
		fail(w, problem(http.StatusNotFound, "open the address that weft web has printed: it changes each time"))
	default:
		if err := s.guard.Check(r); err != nil {
			Secure(w)
			fail(w, problem(http.StatusForbidden, "orders come from this page only"))
			return
		}
		s.Answer(w, r, path)
	}
}

// Secure sets what a browser has to know of any response.
func Secure(w http.ResponseWriter) {
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": policy, "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "X-DNS-Prefetch-Control": "off",
	} {
		w.Header().Set(name, value)
	}
}

// Answer answers a request for a path below that of the page, of somebody who may see the job, and,
// if it is a POST, steer it. The caller has looked who asks.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, path string) {
	Secure(w)
	late := time.Now().Add(2 * requestTakes)
	conn := http.NewResponseController(w)
	_, _ = conn.SetReadDeadline(late), conn.SetWriteDeadline(late) // a recorder of a test has none
	own := map[string]string{"": "index.html", "live.css": "live.css", "live.js": "live.js", "text.js": "text.js", "icon.svg": "icon.svg"}
	name, isFile := own[path]
	data, isData := resources[path]
	method := http.MethodGet
	if path == "v1/orders" {
		method = http.MethodPost
	}
	switch {
	case !isFile && !isData && path != Looks:
		fail(w, problem(http.StatusNotFound, "there is no such path"))
		return
	case r.Method != method && (r.Method != http.MethodHead || !isFile):
		w.Header().Set("Allow", method)
		fail(w, problem(http.StatusMethodNotAllowed, "expected "+method))
		return
	case path == Looks:
		s.looks.serve(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), requestTakes)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, mostOrder)
	if isFile {
		http.ServeFileFS(w, r, page, "page/"+name)
		return
	}
	v, err := data(s, r.WithContext(ctx))
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who asked may have left
}

package replay

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/weburl"
)

// Proxy replays an archive as an HTTP proxy does the Web: a browser that sends it all requests gets
// what the archive holds, at the URLs it had, and nothing else. Any number of goroutines may use
// it.
type Proxy struct {
	server  *Server
	at      time.Time
	config  *tls.Config
	tunnels http.Server // of what comes through CONNECT
}

const (
	headerTime = 10 * time.Second // for a handshake, and for the head of a request
	idleTime   = 2 * time.Minute
	mostHeader = 64 << 10
)

// NewProxy returns a proxy that serves the captures nearest to a date, or for the zero time the
// latest. It has to be closed.
func NewProxy(s *Server, at time.Time, ca *Authority) *Proxy {
	p := &Proxy{server: s, at: at, config: &tls.Config{
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return ca.certificate(hello.Conn.(*tunnel).host)
		},
	}}
	p.tunnels = http.Server{
		Handler: p, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		ErrorLog: log.New(io.Discard, "", 0), // of handshakes that fail
	}
	return p
}

// Close ends the connections that came through CONNECT.
func (p *Proxy) Close() error { return p.tunnels.Close() }

// ServeHTTP answers a request to the proxy, or one that came through CONNECT. The page of another
// program cannot ask it for anything: such a request has no URL, only a path.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := r.RequestURI
	switch path := strings.HasPrefix(target, "/"); {
	case path && r.TLS != nil:
		target = "https://" + r.Host + target
	case path:
		http.Error(w, "This is an HTTP proxy: it replays an archive to browsers that are set to use it.", http.StatusMisdirectedRequest)
		return
	case r.Method == http.MethodConnect && r.TLS == nil:
		p.connect(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store") // the live site has these URLs, too
	switch {
	case !allowed(w, r):
	case r.Header.Get("Service-Worker") != "": // it would stay in the browser
		http.Error(w, "A replay has no service workers.", http.StatusNotFound)
	default:
		p.serve(w, r, target)
	}
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, target string) {
	u, err := weburl.Parse(target)
	if err != nil || !u.IsHTTP() || u.Hostname() == "" {
		http.Error(w, fmt.Sprintf("%.200q: expected an http or https URL", target), http.StatusBadRequest)
		return
	}
	captures, err := p.server.captures(r, u)
	switch {
	case err != nil:
		p.fail(w, err)
	case len(captures) == 0:
		p.missing(w, r, u)
	default:
		p.capture(w, r, archive.Nearest(captures, p.at))
	}
}

// unsent are fields of a response that a proxy leaves out: those of a connection, those of the body
// as it was coded, and those that a browser would remember or act upon beyond the page.
var unsent = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
	"Accept-Ranges", "Content-Encoding", "Content-Length", "Content-Range",
	"Accept-CH", "Alt-Svc", "Clear-Site-Data", "Critical-CH", "Expect-CT", "NEL", "Public-Key-Pins", "Public-Key-Pins-Report-Only",
	"Report-To", "Reporting-Endpoints", "Strict-Transport-Security",
	"Age", "Cache-Control", "Expires", "Pragma",
}

// capture serves a capture as it was archived.
func (p *Proxy) capture(w http.ResponseWriter, r *http.Request, c archive.Capture) {
	record, err := p.server.archive.Read(c)
	if err != nil {
		p.fail(w, err)
		return
	}
	defer record.Close()
	a, h := answerOf(record), w.Header()
	for _, f := range a.header {
		h.Add(f.Name, f.Value)
	}
	for name := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		// RFC 9110, section 7.6.1.
		h.Del(strings.TrimSpace(name))
	}
	for _, name := range unsent {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Memento-Datetime", c.Date.Format(http.TimeFormat)) // RFC 7089
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // the browser looks for itself
	}
	if a.coding != "" {
		h.Set("Content-Encoding", a.coding)
	}
	p.server.send(w, r, c, a)
}

func (p *Proxy) fail(w http.ResponseWriter, err error) {
	p.server.note(err)
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// missing says that a URL was not archived, and which ones like it were.
func (p *Proxy) missing(w http.ResponseWriter, r *http.Request, u weburl.URL) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	style, err := files.ReadFile("assets/style.css")
	if err != nil {
		p.server.note(err)
	}
	p.server.missing(w, r, u, template.CSS(style), func(c archive.Capture) string { return c.URL })
}

// connect makes a connection to a host end here.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	u, err := weburl.Parse("https://" + r.RequestURI)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(r.RequestURI, "/?#@") {
		http.Error(w, fmt.Sprintf("%.200q: expected a host and a port", r.RequestURI), http.StatusBadRequest)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.fail(w, err)
		return
	}
	early, _ := buffered.Peek(buffered.Reader.Buffered())
	t := &tunnel{Conn: conn, host: strings.Trim(u.Hostname(), "[]"), early: bytes.NewReader(early)}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	// Returns at once: the server goes on with the connection.
	if err := p.tunnels.Serve(&single{tls.Server(t, p.config)}); !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrServerClosed) {
		p.server.note(err)
	}
}

// tunnel is a connection that came through CONNECT.
type tunnel struct {
	net.Conn
	host  string        // of the certificate
	early *bytes.Reader // bytes that came before the response to CONNECT
}

func (t *tunnel) Read(b []byte) (int, error) {
	if t.early.Len() > 0 {
		return t.early.Read(b)
	}
	return t.Conn.Read(b)
}

// single is a listener of one connection.
type single struct {
	conn net.Conn // nil: accepted
}

func (s *single) Accept() (conn net.Conn, err error) {
	if s.conn == nil {
		return nil, io.EOF
	}
	conn, s.conn = s.conn, nil
	return conn, nil
}

// Close closes a connection that nobody accepted.
func (s *single) Close() error {
	if s.conn == nil {
		return nil
	}
	return s.conn.Close()
}

func (s *single) Addr() net.Addr { return &net.TCPAddr{} }

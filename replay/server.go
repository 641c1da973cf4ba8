package replay

import (
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/weburl"
)

// Server replays an archive. It changes nothing, and any number of goroutines may use it.
type Server struct {
	archive *archive.Archive
	name    string
	root    string // the beginning of each path: a page elsewhere cannot guess it
	pages   *template.Template
	report  func(error)
}

// New returns a server of an archive. Pages show its name; report gets what cannot be read.
func New(a *archive.Archive, name string, report func(error)) *Server {
	s := &Server{archive: a, name: name, root: "/" + rand.Text() + "/", report: report}
	s.pages = template.Must(template.New("").Funcs(template.FuncMap{
		"root":   func() string { return s.root },
		"moment": func(t time.Time) string { return t.Format("2 January 2006 15:04:05") },
		"framed": func(t time.Time, url string) string { return s.path(framed, t.Format(digits), url) },
		"all":    func(url string) string { return s.path(calendar, "", url) },
	}).ParseFS(files, "pages/*.html"))
	return s
}

// Root returns the path of the first page. It differs from server to server.
func (s *Server) Root() string { return s.root }

//go:embed assets pages
var files embed.FS

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store") // another archive may be served here next
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-DNS-Prefetch-Control", "off")
	// No policy above stops a page from having names looked up and connections made in advance, to
	// a server that reads from them what the page knows:
	// https://wicg.github.io/connection-allowlists/.
	h.Set("Connection-Allowlist", "(response-origin)")
	if !loopback.IsHost(r.Host) {
		http.Error(w, "This server has no such name.", http.StatusMisdirectedRequest)
		return
	}
	own(h)
	if !allowed(w, r) {
		return
	}
	target, ok := strings.CutPrefix(r.RequestURI, s.root)
	if !ok {
		http.Error(w, "Open the address that weft replay has printed: it changes each time.", http.StatusNotFound)
		return
	}
	switch path, query, _ := strings.Cut(target, "?"); {
	case r.Method == http.MethodPost:
		s.serve(w, r, target)
	case path == "":
		s.start(w)
	case path == "-/open":
		form, _ := url.ParseQuery(query)
		a, err := parse(strings.TrimSpace(form.Get("url")))
		if err != nil {
			s.fail(w, http.StatusBadRequest, err)
			return
		}
		redirect(w, s.path(framed, "", a.url.String()))
	case strings.HasPrefix(path, "-/"):
		http.ServeFileFS(w, r, files, "assets/"+strings.TrimPrefix(path, "-/"))
	default:
		s.serve(w, r, target)
	}
}

// allowed refuses a request whose method no archive has.
func allowed(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodPost {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD, POST")
	http.Error(w, "The archive holds no responses to "+r.Method+".", http.StatusMethodNotAllowed)
	return false
}

// own sets what holds for the server's own pages: no other page may frame them or read them.
func own(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; "+
		"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, target string) {
	a, err := parse(target)
	if err != nil {
		s.fail(w, http.StatusNotFound, err)
		return
	}
	sent := r.Method == http.MethodPost
	if sent && a.view != rewritten {
		s.fail(w, http.StatusNotFound, errors.New("only an archived page sends a form"))
		return
	}
	// A page opened in a window of its own gets its banner there.
	if a.view == rewritten && !sent && r.Header.Get("Sec-Fetch-Dest") == "document" {
		redirect(w, s.path(framed, a.date, a.url.String()))
		return
	}
	captures, err := s.captures(r, a.url)
	switch {
	case err != nil:
		s.fail(w, http.StatusInternalServerError, err)
	case a.view == calendar:
		s.show(w, status(captures), "calendar.html", calendarOf(a, captures))
	case a.view == framed:
		s.frame(w, a, captures)
	case len(captures) == 0:
		sandbox(w.Header(), r, mayRun)
		s.missing(w, r, a.url, "", func(c archive.Capture) string { return s.path(rewritten, c.Date.Format(digits), c.URL) })
	default:
		s.capture(w, r, a, archive.Nearest(captures, a.at))
	}
}

// captures returns those of what a request asks for.
func (s *Server) captures(r *http.Request, u weburl.URL) ([]archive.Capture, error) {
	if r.Method == http.MethodPost {
		return s.archive.Posted(u.String(), r.Header.Get("Content-Type"), r.Body)
	}
	return s.archive.Captures(u.String())
}

// redirect leads to another path, which http.Redirect would clean.
func redirect(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusFound)
}

func status(captures []archive.Capture) int {
	if len(captures) == 0 {
		return http.StatusNotFound
	}
	return http.StatusOK
}

func (s *Server) show(w http.ResponseWriter, status int, page string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := s.pages.ExecuteTemplate(w, page, data); err != nil {
		s.note(err)
	}
}

func (s *Server) fail(w http.ResponseWriter, status int, err error) {
	if status >= http.StatusInternalServerError {
		s.note(err)
	}
	s.show(w, status, "error.html", err.Error())
}

// note reports an error, unless the browser went away.
func (s *Server) note(err error) {
	var gone *net.OpError
	if !errors.As(err, &gone) && !errors.Is(err, io.ErrClosedPipe) {
		s.report(err)
	}
}

const mostPages = 1000 // on the first page

// start shows pages to begin with.
func (s *Server) start(w http.ResponseWriter) {
	listed, err := s.archive.Pages(mostPages)
	if err != nil {
		s.note(err)
	}
	s.show(w, http.StatusOK, "start.html", map[string]any{"Name": s.name, "Pages": listed, "Most": mostPages, "Damage": s.archive.Damage, "Error": err})
}

// frame shows a capture below the banner.
func (s *Server) frame(w http.ResponseWriter, a asked, captures []archive.Capture) {
	at := a.at
	if len(captures) > 0 {
		at = archive.Nearest(captures, a.at).Date
	}
	if a.date == "" && len(captures) > 0 { // the address names the date from now on
		redirect(w, s.path(framed, at.Format(digits), a.url.String()))
		return
	}
	url := a.url.String()
	s.show(w, status(captures), "frame.html", map[string]any{"URL": url, "Date": at, "Found": len(captures) > 0, "Inside": s.path(rewritten, a.date, url)})
}

const mostSimilar = 20

// missing says that a URL was not archived, and which ones like it were, with links to them.
// Without a style of its own, the page refers to that of the server.
func (s *Server) missing(w http.ResponseWriter, r *http.Request, u weburl.URL, style template.CSS, link func(archive.Capture) string) {
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" && dest != "document" && !strings.HasSuffix(dest, "frame") {
		http.Error(w, fmt.Sprintf("%s is not in the archive.", u), http.StatusNotFound)
		return
	}
	similar, err := s.archive.Similar(u.String(), mostSimilar)
	if err != nil {
		s.note(err)
	}
	type row struct {
		Link, URL string
		Date      time.Time
	}
	var rows []row
	for _, c := range similar {
		rows = append(rows, row{link(c), c.URL, c.Date})
	}
	s.show(w, http.StatusNotFound, "missing.html", map[string]any{"URL": u.String(), "Sent": r.Method == http.MethodPost, "Similar": rows, "Style": style})
}

// month is the captures of a month.
type month struct {
	Name string
	Days []day
}

type day struct {
	Number   int
	Captures []archive.Capture
}

// calendarOf groups captures, which are in order, by month and day.
func calendarOf(a asked, captures []archive.Capture) map[string]any {
	var months []month
	for _, c := range captures {
		name := c.Date.Format("January 2006")
		if n := len(months); n == 0 || months[n-1].Name != name {
			months = append(months, month{Name: name})
		}
		m := &months[len(months)-1]
		if n := len(m.Days); n == 0 || m.Days[n-1].Number != c.Date.Day() {
			m.Days = append(m.Days, day{Number: c.Date.Day()})
		}
		d := &m.Days[len(m.Days)-1]
		d.Captures = append(d.Captures, c)
	}
	return map[string]any{"URL": a.url.String(), "Months": months, "Count": len(captures)}
}

package login

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/weburl"
)

// Session is an http.CookieJar with the cookies of a file, and with what else that file has. The
// zero value has nothing.
type Session struct {
	path string // empty: it is in no file

	mu struct {
		sync.Mutex
		reads int         // of the file
		holds secrets     // of it
		set   []setCookie // since then
		jar   *cookies.Jar
		sites map[string]bool // of the cookies in the file, expired ones included
		limit int             // of the jar; 0: its own
		about About
		login weburl.URL // About.Page; zero: none is known
		out   sign       // About.SignedOut
		form  []sign     // About.Form
	}
}

var _ http.CookieJar = (*Session)(nil)

// About is the rest of a session, beside cookies.
type About struct {
	Page      string   // URL of the login page; empty: unknown
	Form      []string // selectors of its fields
	SignedOut string   // see ParseSign; empty: none
	Stores    []Store
}

// Store is the localStorage of an origin: names and values.
type Store struct {
	Origin string
	Items  [][2]string
}

// mostBytes bounds a file. Browsers bound a store to 10 MiB.
const mostBytes = 32 << 20

// Open reads the file of a session, or one of cookies alone. It is called once.
func (s *Session) Open(path string) error {
	s.path = path
	return s.Reload()
}

// Reload reads the file of the session again: cookies that have come since are gone.
func (s *Session) Reload() error {
	f, err := os.Open(s.path)
	if err != nil {
		return pathless(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	switch {
	case err != nil:
		return pathless(err)
	case len(text) > mostBytes:
		return fmt.Errorf("longer than %d MiB, expected the file of a session", mostBytes>>20)
	}
	return s.read(text)
}

// pathless returns an error of the file system without its path, which the caller knows.
func pathless(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// Marks of the lines that the format of cookies takes for comments. Fields are separated by tabs.
const (
	markPage      = "#weft-page"
	markField     = "#weft-field"
	markSignedOut = "#weft-signed-out"
	markStored    = "#weft-stored" // origin, name and value, the latter as JSON
)

// read takes in the text of a file.
func (s *Session) read(text []byte) error {
	var about About
	var cookieLines bytes.Buffer
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if !bytes.HasPrefix(line, []byte("#weft-")) {
			cookieLines.Write(line)
			continue
		}
		cookieLines.WriteByte('\n') // so that lines keep their numbers
		if err := about.take(strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	sites, holds := sitesOf(cookieLines.Bytes()), secretsOf(cookieLines.Bytes(), about.Stores)
	jar := cookies.New()
	if err := jar.Load(&cookieLines); err != nil {
		return err
	}
	return s.set(jar, sites, holds, about)
}

// sitesOf returns the sites of cookies in a file: each line begins with a domain.
func sitesOf(text []byte) map[string]bool {
	sites := make(map[string]bool)
	for line := range bytes.Lines(text) {
		domain, _, isCookie := strings.Cut(strings.TrimPrefix(string(line), "#HttpOnly_"), "\t")
		if isCookie && !strings.HasPrefix(domain, "#") {
			sites[weburl.Site(strings.TrimPrefix(strings.ToLower(domain), "."))] = true
		}
	}
	return sites
}

// take takes in the fields of a line.
func (a *About) take(fields []string) error {
	switch mark := fields[0]; {
	case len(fields) == 2 && mark == markPage:
		a.Page = fields[1]
	case len(fields) == 2 && mark == markField:
		a.Form = append(a.Form, fields[1])
	case len(fields) == 2 && mark == markSignedOut:
		a.SignedOut = fields[1]
	case len(fields) == 4 && mark == markStored:
		var item [2]string
		for i := range item {
			if json.Unmarshal([]byte(fields[2+i]), &item[i]) != nil {
				return fmt.Errorf("%s: expected name and value as JSON", mark)
			}
		}
		if last := len(a.Stores) - 1; last < 0 || a.Stores[last].Origin != fields[1] {
			a.Stores = append(a.Stores, Store{Origin: fields[1]})
		}
		to := &a.Stores[len(a.Stores)-1]
		to.Items = append(to.Items, item)
	case mark != markPage && mark != markField && mark != markSignedOut && mark != markStored:
		return fmt.Errorf("%.32q: unknown, as of a newer weft", mark)
	default:
		return fmt.Errorf("%s: %d fields between tabs", mark, len(fields)-1)
	}
	return nil
}

// set has the session be another one.
func (s *Session) set(jar *cookies.Jar, sites map[string]bool, holds secrets, about About) (err error) {
	var login weburl.URL
	if about.Page != "" {
		if login, err = weburl.Parse(about.Page); err != nil {
			return fmt.Errorf("login page: %w", err)
		}
	}
	out, err := parseSign(about.SignedOut)
	if err != nil {
		return fmt.Errorf("sign of being logged out: %w", err)
	}
	var form []sign
	for _, selector := range about.Form {
		field, err := parseSign(selector)
		if err != nil {
			return fmt.Errorf("field of the login page: %w", err)
		}
		form = append(form, field)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.limit > 0 {
		jar.Limit(s.mu.limit)
	}
	s.mu.jar, s.mu.sites, s.mu.holds, s.mu.about, s.mu.login, s.mu.out, s.mu.form = jar, sites, holds, about, login, out, form
	s.mu.set = nil
	s.mu.reads++
	return nil
}

// Reads returns how often the file was read: what was requested before the last time says nothing
// about the session now. s may be nil.
func (s *Session) Reads() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.reads
}

func (s *Session) jar() *cookies.Jar {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jarLocked()
}

// Cookies is that of the jar.
func (s *Session) Cookies(u *url.URL) []*http.Cookie { return s.jar().Cookies(u) }

// SetCookies is that of the jar. Cookies of the session's sites are secrets from now on.
func (s *Session) SetCookies(u *url.URL, all []*http.Cookie) {
	if site := weburl.Site(u.Hostname()); s.isFor(site) {
		s.remember(site, all)
	}
	s.jar().SetCookies(u, all)
}

// Site is that of the jar.
func (s *Session) Site(host string) []*http.Cookie { return s.jar().Site(host) }

// Limit is that of the jar.
func (s *Session) Limit(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.limit = bytes
	s.jarLocked().Limit(bytes)
}

// jarLocked returns the jar. s.mu is held.
func (s *Session) jarLocked() *cookies.Jar {
	if s.mu.jar == nil {
		s.mu.jar = cookies.New()
	}
	return s.mu.jar
}

// Stores returns what pages of origins find stored.
func (s *Session) Stores() []Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.about.Stores
}

// Cookie is a cookie as a browser has it.
type Cookie struct {
	Domain   string // begins with a dot where it includes subdomains
	Path     string
	Name     string
	Value    string
	Expires  float64 // seconds since 1970; at most 0: end of the session
	Secure   bool
	HTTPOnly bool
}

// Save writes the file of a session, which its user alone may read, and makes the folders above it.
func Save(path string, about About, all []Cookie) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(fileOf(about, all))
		return err
	})
}

// fileOf is the text of a file. Cookies that a jar would refuse are left out.
func fileOf(about About, all []Cookie) []byte {
	var text bytes.Buffer
	text.WriteString("# Netscape HTTP Cookie File\n# Made by weft login. Whoever has it is logged in.\n")
	line := func(fields ...string) { fmt.Fprintf(&text, "%s\n", strings.Join(fields, "\t")) }
	if about.Page != "" {
		line(markPage, about.Page)
	}
	for _, selector := range about.Form {
		line(markField, selector)
	}
	if about.SignedOut != "" {
		line(markSignedOut, about.SignedOut)
	}
	for _, c := range all {
		one := c.line()
		if cookies.New().Load(strings.NewReader(one)) == nil {
			line(one)
		}
	}
	for _, s := range about.Stores {
		for _, item := range s.Items {
			line(markStored, s.Origin, quoted(item[0]), quoted(item[1]))
		}
	}
	return text.Bytes()
}

// line is the cookie in Netscape's format.
func (c *Cookie) line() string {
	truth := map[bool]string{true: "TRUE", false: "FALSE"}
	prefix := ""
	if c.HTTPOnly {
		prefix = "#HttpOnly_"
	}
	return strings.Join([]string{
		prefix + c.Domain, truth[strings.HasPrefix(c.Domain, ".")], c.Path, truth[c.Secure], fmt.Sprint(max(0, int64(c.Expires))), c.Name, c.Value,
	}, "\t")
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string is JSON always
	return string(text)
}

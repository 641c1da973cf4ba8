package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// Way is one way to fetch many pages.
type Way struct {
	Name  string // one word, for a command line
	About string // a line that says how it waits

	// Fetch fetches URLs, at most so many (1 or more) at once, and returns what came of each,
	// in their order. The error is one of the way itself: no process to be had, no
	// descriptor. It returns when ctx is done, with what it has.
	Fetch func(ctx context.Context, urls []string, atOnce int) ([]Page, error)

	// Crawl fetches a page and all that it leads to on its host, by links and redirects, each
	// URL once, at most so many at once. Pages come in any order. nil: a crawl adds
	// nothing to what Fetch shows.
	Crawl func(ctx context.Context, root string, atOnce int) ([]Page, error)
}

// Page is what came of a URL.
type Page struct {
	URL    string
	Status int // 0: there was no answer
	Header []byte
	Body   []byte
	Err    error // there was no whole answer
}

// Target is where a URL is asked for, and how.
type Target struct {
	Host    string // and port
	Request []byte // HTTP/1.0: the connection ends with the answer
}

// userAgent names all ways to the site that they visit. Its first word is the one that robots.txt
// is read for.
const userAgent = "weft/lab (+https://github.com/weftcrawl/weft)"

// ParseTarget reads an http URL whose host is an address or a name.
func ParseTarget(rawURL string) (Target, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Target{}, err
	}
	if u.Scheme != "http" || u.Hostname() == "" {
		return Target{}, fmt.Errorf("lab: %q: expected an http URL", rawURL)
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return Target{
		Host:    net.JoinHostPort(u.Hostname(), port),
		Request: []byte("GET " + u.RequestURI() + " HTTP/1.0\r\nHost: " + u.Host + "\r\nUser-Agent: " + userAgent + "\r\n\r\n"),
	}, nil
}

// maxAnswer is how many bytes of an answer a way reads. It then stops, and ParsePage says why.
const maxAnswer = 16 << 20

// ParsePage reads an answer, which is all that came before the end of its connection.
func ParsePage(rawURL string, answer []byte) Page {
	p := Page{URL: rawURL}
	if len(answer) > maxAnswer {
		p.Err = fmt.Errorf("lab: %s: the answer is longer than %d bytes", rawURL, maxAnswer)
		return p
	}
	head, body, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	status, header, _ := bytes.Cut(head, []byte("\r\n"))
	fields := bytes.Fields(status)
	if !ok || len(fields) < 2 || !bytes.HasPrefix(fields[0], []byte("HTTP/1.")) {
		p.Err = fmt.Errorf("lab: %s: %d bytes that are no answer of HTTP/1", rawURL, len(answer))
		return p
	}
	n, err := strconv.Atoi(string(fields[1]))
	if err != nil || n < 100 || n > 999 {
		p.Err = fmt.Errorf("lab: %s: status %q, expected three digits", rawURL, fields[1])
		return p
	}
	p.Status, p.Header, p.Body = n, header, body
	want, err := strconv.Atoi(p.field("Content-Length"))
	switch {
	case n == 204 || n == 304: // has none, whatever its header says
		p.Body = nil
	case err == nil && len(body) < want:
		p.Err = errors.New("lab: " + rawURL + ": the answer ends early")
	case err == nil && want >= 0:
		p.Body = body[:want] // what comes behind it is no part of it
	}
	return p
}

// field returns a field of the header, or nothing.
func (p *Page) field(name string) string {
	for line := range bytes.Lines(p.Header) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Next returns the URLs that a page leads to on its host: where it redirects, or its links, in
// canonical form, without their fragments, in no order and perhaps twice.
func (p *Page) Next() []string {
	base, err := weburl.Parse(p.URL)
	if err != nil {
		return nil
	}
	var next []string
	add := func(u weburl.URL) {
		if u.Origin() == base.Origin() {
			next = append(next, u.Canonical().String())
		}
	}
	switch location := p.field("Location"); {
	case p.Status/100 == 3 && location != "":
		if u, err := base.Resolve(location); err == nil {
			add(u)
		}
	case p.Status == 200 && strings.HasPrefix(p.field("Content-Type"), "text/html"):
		links.Extract(base, p.field("Content-Type"), p.Body, func(l links.Link) bool {
			if l.Kind == links.KindPage || l.Kind == links.KindFrame || l.Kind == links.KindRedirect {
				add(l.URL)
			}
			return true
		})
	}
	return next
}

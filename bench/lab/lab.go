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

	// Fetch fetches URLs, at most atOnce (1 or more) at a time, and returns their pages in the
	// same order. The error is one of the way itself, such as no process or no descriptor
	// left. When ctx is done it returns what it has.
	Fetch func(ctx context.Context, urls []string, atOnce int) ([]Page, error)

	// Crawl fetches a page and everything it leads to on its host, by links and redirects, each
	// URL once, at most atOnce at a time. Pages come in any order. nil: a crawl would show
	// nothing that Fetch does not.
	Crawl func(ctx context.Context, root string, atOnce int) ([]Page, error)
}

// Page is the outcome of a URL.
type Page struct {
	URL    string
	Status int // 0: no response
	Header []byte
	Body   []byte
	Err    error // the reason for which there is no complete response
}

// Target is the host of a URL, and the request to send it.
type Target struct {
	Host    string // and port
	Request []byte // HTTP/1.0: the server closes the connection after its response
}

// userAgent is the User-Agent of all ways. Its first word is the product token for robots.txt.
const userAgent = "weft/lab (+https://github.com/weftcrawl/weft)"

// ParseTarget parses an http URL whose host is an address or a name.
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

// maxResponse is the most bytes that a way reads of a response; ParsePage reports longer ones.
const maxResponse = 16 << 20

// ParsePage parses a response: all bytes up to the end of its connection.
func ParsePage(rawURL string, response []byte) Page {
	p := Page{URL: rawURL}
	if len(response) > maxResponse {
		p.Err = fmt.Errorf("lab: %s: the response is longer than %d bytes", rawURL, maxResponse)
		return p
	}
	head, body, ok := bytes.Cut(response, []byte("\r\n\r\n"))
	status, header, _ := bytes.Cut(head, []byte("\r\n"))
	fields := bytes.Fields(status)
	if !ok || len(fields) < 2 || !bytes.HasPrefix(fields[0], []byte("HTTP/1.")) {
		p.Err = fmt.Errorf("lab: %s: %d bytes that are not an HTTP/1 response", rawURL, len(response))
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
	case n == 204 || n == 304: // without a body, whatever the header says
		p.Body = nil
	case err == nil && len(body) < want:
		p.Err = errors.New("lab: " + rawURL + ": the response ends early")
	case err == nil && want >= 0:
		p.Body = body[:want] // bytes behind it are not part of it
	}
	return p
}

// field returns a header field; empty if it is absent.
func (p *Page) field(name string) string {
	for line := range bytes.Lines(p.Header) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && strings.EqualFold(key, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Next returns the URLs that a page leads to on its host, by a redirect or by links. They are
// canonical, without fragments, in no order, and may repeat.
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

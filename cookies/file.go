package cookies

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxLine bounds a line of a file, in bytes; the line of a cookie within the limits is shorter.
const maxLine = 16 << 10

// httpOnly begins a line whose cookie is hidden from scripts.
const httpOnly = "#HttpOnly_"

// Load reads a file in Netscape's format: one cookie a line, as seven fields separated by tabs:
// domain, whether it includes subdomains (TRUE or FALSE), path, whether it is for https only,
// expiry (seconds since 1970; 0: end of the session), name and value. Empty lines and lines that
// begin with # are ignored, but #HttpOnly_ may precede a domain. Expired cookies are skipped.
//
// The error names the line and what was expected, without the values of cookies.
func (j *Jar) Load(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line, hidden := strings.CutPrefix(strings.TrimSuffix(line, "\r"), httpOnly)
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		u, c, err := parseLine(line)
		if err == nil {
			if c.HttpOnly = hidden; !j.give(u, c) {
				err = fmt.Errorf("expected at most %d cookies of one registrable domain", maxPerSite)
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: expected at most %d bytes", n+1, maxLine)
	case err != nil:
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}

func (j *Jar) give(u *url.URL, c *http.Cookie) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.set(u, c, true)
}

// parseLine returns a cookie, and a URL that might have set it.
func parseLine(line string) (*url.URL, *http.Cookie, error) {
	fields := strings.Split(line, "\t")
	if len(fields) == 6 { // some programs write a cookie without a value like this
		fields = append(fields, "")
	}
	if len(fields) != 7 {
		return nil, nil, fmt.Errorf("%d fields, expected 7 between tabs: domain, subdomains, path, secure, expires, name, value", len(fields))
	}
	domain, path := fields[0], fields[2]
	host := strings.TrimPrefix(domain, ".")
	subdomains, ok1 := truth(fields[1])
	secure, ok2 := truth(fields[3])
	expires, ok3 := moment(fields[4])
	c := &http.Cookie{Name: fields[5], Value: fields[6], Path: path, Secure: secure, Expires: expires}
	var wrong error
	switch {
	case host == "" || len(host) > maxDomain || strings.ContainsFunc(host, notInHost):
		wrong = errors.New("domain, expected one such as .example.org")
	case !ok1:
		wrong = errors.New("subdomains, expected TRUE or FALSE")
	case !strings.HasPrefix(path, "/") || len(path) > maxPath || control(path):
		wrong = fmt.Errorf("path, expected one that begins with / and has at most %d bytes", maxPath)
	case !ok2:
		wrong = errors.New("secure, expected TRUE or FALSE")
	case !ok3:
		wrong = errors.New("expires, expected seconds since 1970, or 0")
	case c.Name == "" || control(c.Name) || strings.ContainsAny(c.Name, "=;"):
		wrong = errors.New("name, expected at least one character, and no control character, = or ;")
	case control(c.Value) || strings.ContainsAny(c.Value, ";"):
		wrong = errors.New("value, expected no control characters and no ;")
	case len(c.Name)+len(c.Value) > maxCookie:
		wrong = fmt.Errorf("name and value, expected at most %d bytes", maxCookie)
	}
	if wrong != nil {
		return nil, nil, wrong
	}
	if subdomains {
		c.Domain = host
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	u := &url.URL{Scheme: "http", Host: host, Path: path}
	if secure {
		u.Scheme = "https"
	}
	return u, c, nil
}

func truth(s string) (is, ok bool) {
	is = strings.EqualFold(s, "TRUE")
	return is, is || strings.EqualFold(s, "FALSE")
}

// moment parses seconds since 1970, which some programs write with fractions. 0 and less mean no
// time.
func moment(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = math.MaxInt64, nil
	}
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, false
	}
	if n <= 0 {
		return time.Time{}, true
	}
	const lastYear = 253402300799 // the end of 9999, the last year that the library accepts
	return time.Unix(min(n, lastYear), 0).UTC(), true
}

func notInHost(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/\?#@%[]`, r) }

func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

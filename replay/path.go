package replay

import (
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
)

// view is the way in which a capture is shown.
type view string

const (
	framed    view = ""    // below the banner
	rewritten view = "mp_" // by itself, as pywb names it
	identical view = "id_" // as it was archived
	calendar  view = "*"   // all captures
)

// asked is the request that a path stands for.
type asked struct {
	date string // as given: up to 14 digits
	at   time.Time
	view view
	url  weburl.URL
}

const digits = "20060102150405"

// parse reads the path of a request as it was sent: cleaning it would change the URL in it.
func parse(rest string) (asked, error) {
	var a asked
	n := 0
	for n < len(rest) && n < len(digits) && '0' <= rest[n] && rest[n] <= '9' {
		n++
	}
	head, url, slash := strings.Cut(rest, "/")
	switch mode := view(head[min(n, len(head)):]); {
	case slash && (mode == framed && n > 0 || mode == rewritten || mode == identical):
		a.date, a.view, rest = head[:n], mode, url
	case slash && head == string(calendar):
		a.view, rest = calendar, url
	}
	var err error
	if a.at, err = ParseDate(a.date); err != nil {
		return a, err
	}
	if scheme, path, ok := strings.Cut(rest, ":/"); ok && !strings.HasPrefix(path, "/") && isWeb(scheme) {
		rest = scheme + "://" + path // something has cleaned the path
	}
	if scheme, _, ok := strings.Cut(rest, "://"); !ok || !isWeb(scheme) {
		if !strings.Contains(strings.SplitN(rest, "/", 2)[0], ".") {
			return a, fmt.Errorf("%.200q: expected a URL", rest)
		}
		rest = "https://" + rest
	}
	if a.url, err = weburl.Parse(rest); err == nil && a.url.Hostname() == "" {
		err = fmt.Errorf("%.200q: expected a URL with a host", rest)
	}
	return a, err
}

func isWeb(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// ParseDate reads the first digits of a date, in UTC; what is missing is the least there is. No
// digits are the zero time.
func ParseDate(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	const least = "00000101000000"
	at, err := time.Parse(digits, s+least[len(s):])
	if err != nil {
		return at, fmt.Errorf("date %q, expected up to 14 digits: year, month, day, hour, minute, second", s)
	}
	return at, nil
}

// path returns the path of a view.
func (s *Server) path(v view, date, url string) string {
	switch {
	case v == calendar:
		return pathOf(s.root+"*/", url)
	case date == "" && v == framed:
		return pathOf(s.root, url)
	}
	return pathOf(s.root+date+string(v)+"/", url)
}

// pathOf appends a URL to a prefix. A '%' that encodes nothing is encoded: the server of net/http
// refuses it.
func pathOf(prefix, url string) string {
	if !strings.Contains(url, "%") {
		return prefix + url
	}
	b := []byte(prefix)
	for i := range len(url) {
		b = append(b, url[i])
		if url[i] == '%' && (i+2 >= len(url) || !markup.IsHexDigit(url[i+1]) || !markup.IsHexDigit(url[i+2])) {
			b = append(b, "25"...)
		}
	}
	return string(b)
}

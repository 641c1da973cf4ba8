package httpcache

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// leastAsset is the least lifetime of a script, a style sheet or a font: a crawl takes them for
	// the same during that time, where a browser would ask again.
	leastAsset = time.Hour
	// mostLifetime is the longest lifetime that a server can ask for.
	mostLifetime = 7 * 24 * time.Hour
)

// Lifetime returns for how long a response may be used again; 0: not at all. asset: it is a script,
// a style sheet or a font, which hardly change during a crawl. (RFC 9111, sections 3, 4.1 and
// 4.2.1, as a private cache reads them, but that nothing is validated.)
func Lifetime(r *Response, asset bool, now time.Time) time.Duration {
	switch r.Status {
	case http.StatusOK, http.StatusMovedPermanently, http.StatusPermanentRedirect:
	case http.StatusNotFound, http.StatusGone: // of an asset that many pages name
		if !asset {
			return 0
		}
	default:
		return 0
	}
	life, known := time.Duration(0), false
	for _, field := range r.Header.Values("Cache-Control") {
		for directive := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
			switch name {
			case "no-store":
				return 0
			case "no-cache":
				life, known = 0, true
			case "immutable":
				asset = true
			case "max-age":
				if s, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil && !known {
					life, known = time.Duration(s)*time.Second, true
				}
			}
		}
	}
	if expires, err := http.ParseTime(r.Header.Get("Expires")); err == nil && !known {
		date, err := http.ParseTime(r.Header.Get("Date"))
		if err != nil {
			date = now
		}
		life = expires.Sub(date)
	}
	if slices.ContainsFunc(varies(r), differs) {
		return 0
	}
	if asset {
		life = max(life, leastAsset)
	}
	return min(max(life, 0), mostLifetime)
}

// alike are the fields that are the same in all requests of a crawl, part of a key, or looked at by
// who asks: see Varies.
var alike = map[string]bool{"": true, "accept": true, "accept-encoding": true, "accept-language": true, "user-agent": true, "origin": true}

// differs reports whether requests of a crawl may differ in a field.
func differs(name string) bool {
	return !alike[name] && !strings.HasPrefix(name, "sec-") && !strings.HasPrefix(name, "access-control-")
}

// Varies reports whether a response depends on a field of the request.
func Varies(r *Response, field string) bool {
	return slices.Contains(varies(r), strings.ToLower(field))
}

// varies returns the fields of the request that a response depends on, in lower case.
func varies(r *Response) (names []string) {
	for _, field := range r.Header.Values("Vary") {
		for name := range strings.SplitSeq(strings.ToLower(field), ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

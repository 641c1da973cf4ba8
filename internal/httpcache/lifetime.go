package httpcache

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// leastAsset is the least lifetime of a script, a style sheet or a font: a crawl takes them for
	// the same during that time, where a browser would ask again.
	leastAsset = time.Hour
	// mostLifetime bounds what a server can ask for.
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
	if varies(r.Header.Values("Vary")) {
		return 0
	}
	if asset {
		life = max(life, leastAsset)
	}
	return min(max(life, 0), mostLifetime)
}

// alike are the fields that are the same in all requests of a crawl, or part of its key.
var alike = map[string]bool{"": true, "accept": true, "accept-encoding": true, "accept-language": true, "user-agent": true, "origin": true}

// varies reports whether a response depends on fields that may differ.
func varies(fields []string) bool {
	for _, field := range fields {
		for name := range strings.SplitSeq(strings.ToLower(field), ",") {
			if name = strings.TrimSpace(name); !alike[name] && !strings.HasPrefix(name, "sec-") && !strings.HasPrefix(name, "access-control-") {
				return true
			}
		}
	}
	return false
}

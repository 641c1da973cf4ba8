package view

import (
	"iter"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/weburl"
)

// meant returns a URL that the crawl knows, and that is one of the spellings of an unseen one.
// Empty: there is none.
func (q *explainer) meant() (string, error) {
	for spelling := range spellings(q.url) {
		u, err := weburl.Parse(spelling)
		if err != nil || u == q.url {
			continue
		}
		entry, seen, err := q.view.Job.Store.Find(u)
		if err != nil {
			return "", err
		}
		if seen && entry.State != store.Dropped {
			return u.String(), nil
		}
	}
	return "", nil
}

// spellings yields the URLs that people mean by another one: of the other scheme, with or without
// www., in lower case, with or without a slash at the end of the path.
func spellings(u weburl.URL) iter.Seq[string] {
	scheme, rest, _ := strings.Cut(u.String(), "://")
	host, path, _ := strings.Cut(rest, "/")
	path, query, hasQuery := strings.Cut("/"+path, "?")
	if hasQuery {
		query = "?" + query
	}
	schemes := []string{scheme, map[string]string{"http": "https", "https": "http"}[scheme]}
	lower := strings.ToLower(path)
	return func(yield func(string) bool) {
		for _, scheme := range schemes {
			for _, host := range []string{host, otherHost(host)} {
				for _, path := range []string{path, slashed(path), lower, slashed(lower)} {
					if !yield(scheme + "://" + host + path + query) {
						return
					}
				}
			}
		}
	}
}

func otherHost(host string) string {
	if bare, ok := strings.CutPrefix(host, "www."); ok {
		return bare
	}
	return "www." + host
}

func slashed(path string) string {
	if bare, ok := strings.CutSuffix(path, "/"); ok {
		return bare
	}
	return path + "/"
}

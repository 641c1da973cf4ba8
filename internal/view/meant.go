package view

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/weburl"
)

// mostCompared bounds the URLs that are compared with an unseen one.
const mostCompared = 100_000

// meant returns a URL that the crawl knows, and that a person means by an unseen one: of the other
// scheme, with or without www., in another case, with or without a slash or index.html at the end
// of the path, with a port or a query that was left out. Of several, the one with the fewest
// differences and the shortest. Empty: there is none.
func (q *explainer) meant() (string, error) {
	name := q.url.Hostname()
	origins, err := q.view.Job.Store.Named([]string{name, otherHost(name)})
	if err != nil {
		return "", err
	}
	origins = slices.DeleteFunc(origins, func(o store.Origin) bool {
		u, err := weburl.Parse(o.Name + "/")
		return err != nil || q.url.Port() != "" && q.url.Port() != u.Port()
	})
	best, least, left := "", differ, mostCompared
	for _, o := range origins {
		for e, err := range q.view.Job.Store.URLsOf(o.Name) {
			if left--; err != nil || left < 0 {
				return best, err
			}
			u := e.URL.URL
			n := differences(q.url, u)
			if n < least || n < differ && n == least && len(u.String()) < len(best) {
				best, least = u.String(), n
			}
		}
	}
	return best, nil
}

// differ is more than the differences of two URLs of which one may be meant by the other.
const differ = 1 << 10

// differences returns how much a known URL differs from one that was typed.
func differences(typed, known weburl.URL) int {
	if !strings.EqualFold(bare(typed.Path()), bare(known.Path())) {
		return differ
	}
	n := 0
	switch a, b := typed.Query(), known.Query(); {
	case strings.EqualFold(a, b):
	case a == "":
		n += 8
	default:
		return differ
	}
	for _, same := range []bool{
		typed.Host() == known.Host(), typed.Scheme() == known.Scheme(),
		typed.Path() == known.Path() && typed.Query() == known.Query(),
	} {
		if !same {
			n++
		}
	}
	return n
}

func otherHost(host string) string {
	if bare, ok := strings.CutPrefix(host, "www."); ok {
		return bare
	}
	return "www." + host
}

// bare returns a path without what many servers add to the one of a folder.
func bare(path string) string {
	folder, file := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	if name := strings.ToLower(file); name == "index.html" || name == "index.htm" || name == "index.php" {
		path = folder
	}
	return strings.TrimSuffix(path, "/")
}

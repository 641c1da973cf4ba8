package engine

import (
	"hash/maphash"
	"iter"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// linkAdder adds the links of outcomes to the frontier, within the bounds of traps and sitemaps.
// Owner: the coordinator's loop.
type linkAdder struct {
	frontier *frontier.Frontier
	traps    *traps
	nested   nested
}

// add adds links of an outcome, and returns how many were new, and how many there are too many of;
// stale says that its page has nothing new.
func (a *linkAdder) add(links []frontier.URL, stale bool) (added, tooMany int) {
	for _, u := range links {
		if a.nestedTooOften(u) {
			tooMany++
		} else if a.frontier.Add(u) {
			added++
			if stale {
				a.traps.found(u.URL)
			}
		}
	}
	return added, tooMany
}

// nestedTooOften reports whether u exceeds the number of sitemaps that a host's indexes may name.
// Sitemaps of an earlier run do not count.
func (a *linkAdder) nestedTooOften(u frontier.URL) bool {
	if !fetch.IsSitemap(u) || a.frontier.View().Seen(u.URL) {
		return false
	}
	return a.nested.count(u.URL.Host()) > fetch.MaxNested
}

// nested counts the sitemaps that the indexes of hosts have named in this run.
type nested struct {
	key maphash.Seed
	by  map[uint64]int // by hash of the host
}

// maxNesting is the number of hosts whose sitemaps are counted. With more, all start again.
const maxNesting = 1 << 16

func (n *nested) count(host string) int {
	if n.by == nil || len(n.by) == maxNesting {
		*n = nested{maphash.MakeSeed(), make(map[uint64]int)}
	}
	h := maphash.String(n.key, host)
	n.by[h]++
	return n.by[h]
}

// urlsOf yields the URLs of links.
func urlsOf(links []frontier.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for i := range links {
			if !yield(links[i].URL) {
				return
			}
		}
	}
}

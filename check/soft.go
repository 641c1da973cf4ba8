package check

import (
	"bytes"
	"encoding/hex"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// madeUp begins the last segment of a path that no site has.
const madeUp = "weft-no-such-page-"

// madeUpBeside returns a URL, in the folder of a seed, that no site has: the response to it tells
// how the site says that a page is missing. A job that has requested it finds pages that say so
// with a status of 200. It is the same for the same seed.
func madeUpBeside(seed weburl.URL) (weburl.URL, error) {
	sum := seed.Fingerprint()
	return seed.Resolve(madeUp + hex.EncodeToString(sum[:6]))
}

// missing returns URLs that no site has, one for each seed.
func missing(seeds []string) (all []string) {
	for _, seed := range seeds {
		s, err := weft.ReadSeed(seed)
		if err != nil {
			continue // the crawl says so
		}
		if u, err := madeUpBeside(s.URL); err == nil && !slices.Contains(all, u.String()) {
			all = append(all, u.String())
		}
	}
	return all
}

// missingPosts returns the requests to URLs that no site has, one for each other request.
func missingPosts(posts []weft.Post) (all []weft.Post) {
	for _, p := range posts {
		for _, p.URL = range missing([]string{p.URL}) {
			same := func(q weft.Post) bool { return q.URL == p.URL && q.Type == p.Type && bytes.Equal(q.Body, p.Body) }
			if !slices.ContainsFunc(all, same) {
				all = append(all, p)
			}
		}
	}
	return all
}

// withMissing yields seeds of a list, and beside the first one of each host a URL that no site has.
// As the list may be long, that holds for its first hosts.
func withMissing(seeds iter.Seq2[string, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		const most = 10_000
		known := make(map[string]bool)
		for seed, err := range seeds {
			if !yield(seed, err) {
				return
			}
			s, bad := weft.ReadSeed(seed)
			if err != nil || bad != nil || len(known) == most || known[s.URL.Origin()] {
				continue
			}
			known[s.URL.Origin()] = true
			if u, err := madeUpBeside(s.URL); err == nil && !yield(u.String(), nil) {
				return
			}
		}
	}
}

func isMadeUp(u weburl.URL) bool { return strings.HasPrefix(path.Base(u.Path()), madeUp) }

// textOf returns a hash of what a page says; never 0.
func textOf(r *record.Record) uint64 {
	if hash, err := strconv.ParseUint(r.TextHash, 16, 64); err == nil && hash != 0 {
		return hash
	}
	return Anchor(r.SHA256)
}

// mark marks the pages that say that they are missing. A site whose seeds say the same as a made-up
// URL says it for every URL, as applications in scripts do: nothing can be told of its pages.
func (t *targets) mark() {
	for i := range t.all {
		if n := &t.all[i]; n.flags&isSeed != 0 {
			delete(t.missing, n.text)
		}
	}
	for i := range t.all {
		if n := &t.all[i]; n.flags&isPage != 0 && t.missing[n.text] {
			n.flags |= isMissing | hasIssue
		}
	}
}

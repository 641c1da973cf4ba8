package fetch

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/weburl"
)

// GuessedRank is the rank of a seed whose scheme is a guess: https, and http if its host does not
// answer by that. It says so for as long as the job has the URL.
const GuessedRank = leastSitemap - 1

// Instead returns the URL to fetch in place of u, which failed with a kind of error: the same by
// http, if the scheme of u was a guess and its host did not answer.
func Instead(u frontier.URL, kind string) (frontier.URL, bool) {
	if u.Rank != GuessedRank || !IsUnanswered(kind) {
		return frontier.URL{}, false
	}
	plain, err := weburl.Parse("http" + strings.TrimPrefix(u.URL.String(), "https"))
	if err != nil {
		panic(fmt.Sprintf("fetch: %s: %v", u.URL, err)) // it is a URL with either scheme
	}
	return frontier.URL{URL: plain.Canonical(), From: u.URL.String()}, true
}

// IsUnanswered reports whether an error of a kind came before a host could answer at all, so that it
// may by another scheme.
func IsUnanswered(kind string) bool {
	switch http1.Kind(kind) {
	case http1.KindConnect, http1.KindDialTimeout, http1.KindTLS, http1.KindTLSTimeout, http1.KindProxy:
		return true
	}
	return false
}

// TriedInstead is what the record of a URL says that Instead has replaced.
func TriedInstead(reason string, by frontier.URL) string {
	return fmt.Sprintf("%s; %s is tried instead", reason, by.URL)
}

package fetch

import (
	"fmt"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// Instead returns the URL to fetch in place of u, which failed with a kind of error: see seed.Seed.
func Instead(u frontier.URL, kind string) (frontier.URL, bool) {
	guess := seed.Seed{URL: u.URL, Guessed: u.Rank == GuessedRank}
	plain, ok := guess.Instead(httpclient.Kind(kind))
	return frontier.URL{URL: plain, From: u.URL.String()}, ok
}

// IsUnanswered is that of package seed.
func IsUnanswered(kind string) bool { return seed.IsUnanswered(httpclient.Kind(kind)) }

// TriedInstead returns the reason in the record of a URL that Instead has replaced.
func TriedInstead(reason string, by weburl.URL) string {
	return fmt.Sprintf("%s; %s is tried instead", reason, by)
}

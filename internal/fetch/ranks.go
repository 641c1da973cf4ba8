package fetch

import (
	"math"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/sitemap"
)

// A sitemap is a URL like any other, but for its rank: it is leased, guarded, retried and saved
// like them. Among URLs of one depth sitemaps come first, the sitemaps of robots.txt before the
// entries of an index; then pages, by the priority that a sitemap gives them.
const (
	namedSitemap = math.MaxInt8              // that robots.txt names; one less for each index above it
	maxIndexes   = 5                         // above a sitemap
	leastSitemap = namedSitemap - maxIndexes // lowest rank of a sitemap
	rankSpan     = 10                        // between the ranks of priority 0 and 1
)

// GuessedRank is the rank of a seed whose scheme is a guess: https, and http if its host does not
// answer by that. It says so for as long as the job has the URL.
const GuessedRank = leastSitemap - 1

// probeRank is the rank of an external URL that no link leads to: see collector.probe.
const probeRank = 1

// IsSitemap reports whether a URL is requested as a sitemap.
func IsSitemap(u frontier.URL) bool { return u.Rank >= leastSitemap }

// rankOf is the rank of a page with a priority in a sitemap; 0 for most.
func rankOf(priority float32) int8 {
	return int8(math.Round(float64(priority-sitemap.DefaultPriority) * rankSpan))
}

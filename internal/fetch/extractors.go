package fetch

import (
	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// extractors read one page after another.
type extractors struct {
	links  *links.Extractor
	text   *fingerprint.Reader
	pieces *links.Extractor // finds what belongs to a page itself: see sketched
	recent *weburl.Memo     // URLs that they found, and that were sent to the coordinator lately
	pages  uint32           // read so far, for recent.Met
	places weburl.Places    // to where the page leads that is read, as its links say it
}

// newExtractors returns extractors that take a number of quarters of what a loop may have.
func newExtractors(cfg *Config, quarters int) *extractors {
	return &extractors{
		links: links.NewExtractor(extraction(cfg)), text: &fingerprint.Reader{HashOnly: !cfg.Near},
		pieces: links.NewExtractor(links.Options{Kinds: sketched}),
		recent: weburl.NewMemo(recentURLs/4*quarters, cfg.RecentBytes/4*quarters),
	}
}

// recentURLs is the number of URLs sent to the coordinator that a loop remembers.
const recentURLs = 1 << 12

// extraction selects the links to read from a page: all, or only the kinds to follow.
func extraction(c *Config) links.Options {
	if c.KeepLinks || c.Hooks.OnLink != nil || c.Hooks.OnPage != nil {
		return links.Options{Agent: c.HTTP.UserAgent, Positions: c.KeepLinks, Scripts: c.KeepLinks}
	}
	return links.Options{Kinds: c.wanted(), Bare: true, Agent: c.HTTP.UserAgent}
}

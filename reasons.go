package weft

// Why a link is not followed, or a URL that was found not taken in. The reasons of single mentions
// of links are the keys of Summary.NotFollowed.
const (
	reasonTooMany   = "too-many"
	reasonNoFollow  = "nofollow"
	reasonRel       = "rel-nofollow"
	reasonDuplicate = "duplicate"
	reasonBroken    = "broken-sitemap"
	reasonDropped   = "dropped"
	reasonScope     = "scope"
	reasonDepth     = "depth"
	reasonExclude   = "exclude"
	reasonInclude   = "include"
	reasonTooLong   = "too-long"
	reasonTooDeep   = "too-deep"
	reasonRepeats   = "repeats"
	reasonPerHost   = "limit-per-host"
	reasonVariants  = "max-variants"
)

// Reason is why a link is not followed, or a URL not taken in.
type Reason struct {
	Name    string
	Meaning string // for people, on one line; flags are those of the command
}

// Reasons returns all reasons why a link is not followed, beside those of Hooks.OnLink's own,
// first those of all links of a page, then those of one mention: they are keys of
// Summary.NotFollowed. The last two are of URLs: Summary.OverLimit and OverVariants count these.
func Reasons() []Reason {
	return []Reason{
		{reasonTooMany, "it is behind a page's or sitemap's first 100,000 links, 32 MiB or 1,000 sitemaps; once a page"},
		{reasonNoFollow, "its page says nofollow, in a robots meta element or X-Robots-Tag: see --no-robots"},
		{reasonDuplicate, "its page is a duplicate: see --prune-duplicates"},
		{reasonBroken, "it stands in a sitemap where that is broken, or behind what could be read; counted once a sitemap"},
		{reasonDropped, "the program that uses the library dropped it (Hooks.OnLink) and gave no reason"},
		{reasonRel, "it has rel=nofollow: see --no-robots"},
		{reasonScope, "it leads out of --scope"},
		{reasonDepth, "it leads further from a seed than --depth"},
		{reasonExclude, "an --exclude matches its URL"},
		{reasonInclude, "no --include matches its URL"},
		{reasonTooLong, "its URL is longer than --max-url-length, or than 16 KiB"},
		{reasonTooDeep, "its path has more segments than --max-path-depth"},
		{reasonRepeats, "a segment of its path comes over and over, more often than --max-repeats"},
		{reasonPerHost, "its host has had its --limit-per-host"},
		{reasonVariants, "as many URLs were taken as --max-variants says that differ from it only behind the first ; or ?"},
	}
}

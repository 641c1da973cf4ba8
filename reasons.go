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
		{reasonTooMany, "beyond a page's or sitemap's first 100,000 links, 32 MiB or 1,000 sitemaps; counted once a page"},
		{reasonNoFollow, "the page says nofollow, in a robots meta element or X-Robots-Tag: see --no-robots"},
		{reasonDuplicate, "the page is a duplicate: see --prune-duplicates"},
		{reasonBroken, "in or behind the broken part of a sitemap; counted once a sitemap"},
		{reasonDropped, "dropped without a reason by the program that uses the library (Hooks.OnLink)"},
		{reasonRel, "the link has rel=nofollow: see --no-robots"},
		{reasonScope, "out of --scope"},
		{reasonDepth, "further from a seed than --depth"},
		{reasonExclude, "matched by an --exclude"},
		{reasonInclude, "matched by no --include"},
		{reasonTooLong, "the URL is longer than --max-url-length, or than 16 KiB"},
		{reasonTooDeep, "the path has more segments than --max-path-depth"},
		{reasonRepeats, "the path repeats a segment more often than --max-repeats"},
		{reasonPerHost, "the host has reached --limit-per-host"},
		{reasonVariants, "more than --max-variants URLs differ only behind their first ; or ?"},
	}
}

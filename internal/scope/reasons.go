package scope

// Reasons why a link is not followed, or a URL not queued. The first group concerns all links
// of a page, the second one mention of a link, the last one URL.
const (
	ReasonTooMany   = "too-many"
	ReasonNoFollow  = "nofollow"
	ReasonDuplicate = "duplicate"
	ReasonBroken    = "broken-sitemap"
	ReasonUnclosed  = "unclosed"
	ReasonDropped   = "dropped"

	ReasonRel     = "rel-nofollow"
	ReasonScope   = "scope"
	ReasonPort    = "blocked-port"
	ReasonDepth   = "depth"
	ReasonExclude = "exclude"
	ReasonInclude = "include"
	ReasonLogout  = "logout"
	ReasonTooLong = "too-long"
	ReasonTooDeep = "too-deep"
	ReasonRepeats = "repeats"

	ReasonPerHost  = "limit-per-host"
	ReasonVariants = "max-variants"
)

// Reason is the ground on which a link is not followed, or a URL not queued.
type Reason struct {
	Name    string
	Meaning string // for people, on one line; flags are those of the command
}

// Reasons lists every reason, in the order of the constants. The last two count URLs, in
// Counters.OverLimit and Counters.OverVariants; the others count mentions of links.
func Reasons() []Reason {
	return []Reason{
		{ReasonTooMany, "beyond a page's or sitemap's first 100,000 links, their text or 1,000 sitemaps; once a page"},
		{ReasonNoFollow, "its page says nofollow, in a robots meta element or X-Robots-Tag: see --no-robots"},
		{ReasonDuplicate, "its page is a duplicate: see --prune-duplicates"},
		{ReasonBroken, "the sitemap is broken at this entry, or ends before it; counted once a sitemap"},
		{ReasonUnclosed, "its page ends within a tag, a comment, a script or the like, which hides it; counted once a page"},
		{ReasonDropped, "the program that uses the library dropped it (Hooks.OnLink) without a reason"},
		{ReasonRel, "it has rel=nofollow: see --no-robots"},
		{ReasonScope, "it leads out of --scope"},
		{ReasonPort, "its port is one that browsers block, such as 25 or 6379, and not that of a seed"},
		{ReasonDepth, "it is further from a seed than --depth"},
		{ReasonExclude, "an --exclude matches its URL"},
		{ReasonInclude, "no --include matches its URL"},
		{ReasonLogout, "it may log out, and the crawl is logged in: see --session"},
		{ReasonTooLong, "its URL is longer than --max-url-length, or than 16 KiB"},
		{ReasonTooDeep, "its path has more segments than --max-path-depth"},
		{ReasonRepeats, "a segment of its path repeats more often than --max-repeats"},
		{ReasonPerHost, "its host reached --limit-per-host"},
		{ReasonVariants, "--max-variants URLs that differ only after the first ; or ? were queued before it"},
	}
}

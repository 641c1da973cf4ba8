// Package robots reads robots.txt as RFC 9309 defines it, with the two
// extensions that crawlers agree on: Crawl-delay and Sitemap.
//
// # Vocabulary
//
//   - product token: the name of a crawler, letters, '_' and '-': "weft".
//   - group: one or more User-agent lines and the rules below them. Groups of the
//     same name are one; a crawler that no group names obeys that of "*".
//   - rule: an Allow or a Disallow line. The one whose pattern is longest decides,
//     and Allow when two are equally long.
//   - pattern: the beginning of a target, in which '*' stands for any bytes and a
//     '$' at the end for the end of the target.
//   - target: path and query of a URL as they are sent, "/a?b".
//
// # Lifecycle
//
// [For] tells what the status of an answer means. The body of one that is to be
// read goes to [Parse], which takes anything. [Robots.Agent] picks the [Rules] of
// one crawler, which are what is kept for a host; [Rules.Test] decides a target.
// The host's rules hold for [CacheFor].
//
//	rules := robots.Parse(body).Agent("weft/0.1 (+https://example.org/bot)")
//	if rules.Test(u.RequestTarget()).Allowed { … }
//
// # Percent-encoding
//
// A pattern and a target are compared with their escapes in capitals and with
// escapes for what a URL cannot hold. A Disallow line is also compared as RFC 9309,
// section 2.2.2 says: "%7Ejoe" means "~joe", whichever of the two the line has. An
// Allow line is not: here google/robotstxt takes "%62" and "b" for different
// paths, the RFC for the same, and where the two disagree Weft does not fetch.
// In a path, "%2F" is never "/".
//
// Nor is "/robots.txt" allowed in spite of a rule. The RFC has it so; but whoever
// fetches the rules has none to ask, and a link to them is a link like any other.
//
// # Limits
//
// Of a file, [MaxSize] bytes are read, and [MaxSitemaps] sitemaps kept;
// [Robots.SitemapsCut] tells that there were more. Memory is
// a small multiple of the bytes read. A test takes time proportional at most to
// the rules of the group times the length of the target, whatever the wildcards;
// a rule without a wildcard takes no longer than its pattern. Nothing panics and
// nothing is an error: what is not understood is skipped, and does not end a group.
//
// # Concurrency
//
// Functions here are pure. [Robots] and [Rules] do not change and can be shared.
package robots

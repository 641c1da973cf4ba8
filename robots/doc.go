// Package robots reads robots.txt as RFC 9309 defines it, with the two extensions that crawlers
// agree on: Crawl-delay and Sitemap.
//
// # Vocabulary
//
//   - product token: the name of a crawler, letters, '_' and '-': "weft" ([ProductToken]).
//   - group: one or more User-agent lines and the rules below them. Groups with the same name are
//     one; a crawler that no group names obeys the group of "*".
//   - rule: an Allow or Disallow line. The one with the longest pattern decides, and Allow if two
//     are equally long.
//   - pattern: the beginning of a target, in which '*' matches any bytes and a final '$' the end
//     of the target.
//   - target: path and query of a URL as they are sent, "/a?b".
//
// # Lifecycle
//
// [For] gives the meaning of a response's status. [Parse] reads the body and accepts anything.
// [Robots.Agent] picks the [Rules] of one crawler, which are kept for a host; [Rules.Test] decides
// a target. The rules of a host are valid for [CacheFor].
//
//	rules := robots.Parse(body).Agent("weft/0.1 (+https://example.org/bot)")
//	if rules.Test(u.RequestTarget()).Allowed { … }
//
// # Percent-encoding
//
// Patterns and targets are compared with their escapes in capitals, and with bytes escaped that a
// URL cannot hold. A Disallow line is also compared as RFC 9309, section 2.2.2 says: "%7Ejoe" means
// "~joe", whichever of the two the line has. An Allow line is not: there google/robotstxt takes
// "%62" and "b" for different paths, the RFC for the same, and where the two disagree Weft does
// not fetch. In a path, "%2F" never means "/".
//
// Nor is "/robots.txt" allowed regardless of the rules, as the RFC has it: a crawler that fetches
// the rules has none to ask, and a link to them is a link like any other.
//
// # Mistakes
//
// Where google/robotstxt reads a mistake, so does this package: a space instead of the colon, if a
// line has two words, some misspelt names, and names that only begin like one: "Dissalow: /a",
// "disallowed /a".
//
// # Limits
//
// The first [MaxSize] bytes of a file are read, and [MaxSitemaps] sitemaps kept;
// [Robots.SitemapsCut] reports whether there were more. Memory is a small multiple of the bytes
// read. Nothing panics and nothing is an error: unknown lines are skipped, and do not end a group.
//
// A test takes time for the length of the target and for the rules that may match it, not for all
// rules of the group: a page can have as many links as a robots.txt has rules. A rule with a
// wildcard within may match if the letters of it that are the rarest in the group occur in the
// target. Of more than 64 rules, at most 500 such rules are compared with a target, those with the
// longest patterns first; if none of them matches, the target is disallowed: [Verdict.Undecided].
//
// # Concurrency
//
// Functions here are pure. [Robots] and [Rules] do not change and can be shared.
package robots

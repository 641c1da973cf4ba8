// Package scope decides where a crawl goes: which links are followed and which are left.
//
// # Vocabulary
//
//   - scope: the part of the Web that seeds open, by page, prefix, host or domain.
//   - trap: a page that makes links without end; limits on the shape of a URL end it.
//   - reason: the rule by which a link is not followed.
//
// # Lifecycle
//
// [New] makes the bounds of a crawl from its [Rules]; [Bounds.Open] widens them by a seed,
// or by the target of a seed's redirect; [Bounds.Refuses] judges a link.
//
// # Concurrency
//
// The package is pure. A Bounds has one owner; each loop of a crawl has one of its own, and
// [Bounds.Share] lets them look at what the coordinator opens.
//
// # Limits
//
// The hosts, domains or prefixes of the seeds take 8 to 16 bytes each. Judging a URL takes time in
// proportion to its length and to the number of expressions.
package scope

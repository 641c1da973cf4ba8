// Package duplicates remembers which contents a crawl has seen, and the first URL of each: the
// content-seen test of Mercator (Heydon and Najork, 1999), and for nearly identical texts the
// tables of Manku, Jain and Das Sarma, Detecting Near-Duplicates for Web Crawling, WWW 2007.
//
// # Vocabulary
//
//   - content: the first 64 bits of a hash of the body.
//   - simhash: 64 bits that differ in at most text.Near bits for pages with nearly
//     identical text; 0 stands for none. See package text.
//   - first: the earliest page with a content; for pages with nearly identical text,
//     the page that the others are near to. A page that is near a first is not a first
//     for later ones, so a series of small steps does not connect distant pages.
//
// # Lifecycle
//
// [New] makes an index, and [Index.Restore] adds entries of an earlier run, in their order, before
// [Index.Judge] judges page after page. The verdicts depend on that order alone.
//
// # Concurrency
//
// Any goroutine may use an Index: the loops of a crawl share one. A call waits for nothing but a
// short lock.
//
// # Limits
//
// An index holds as many pages as it was made for, with 128 bytes of URL each on average; then the
// oldest leave. A page takes 64 bytes and its URL, all pages together up to 2 MiB more.
//
// Of the simhashes that share the same one of four 16-bit blocks with a given one, only the latest
// 64 are compared: pages made to crowd a block escape detection beyond these, and cost no more.
package duplicates

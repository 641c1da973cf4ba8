// Package refs keeps which pages of a job link to which URLs, and finds the pages that link to
// some.
//
// # Vocabulary
//
//   - entry: a page and the targets that its links, its redirect or its entries, if it is a
//     sitemap, lead to, each once. Links that the crawl does not follow have none, and those to
//     URLs that it knows already have one all the same.
//   - [Key]: a target, as the first 8 bytes of the fingerprint of its URL.
//   - block: some entries, compressed together.
//
// # File
//
// An entry is a byte of flags (1: it may replace an earlier one; 2: redirect; 4: sitemap), the page
// and the keys, each of the two after its length as a varint:
//
//	flags  len URL  n key key …
//
// The file is a sequence of blocks. A block is its compressed length and the number of its entries
// with flag 1, both as varints, and the entries, compressed with S2. Length 0 ends the file for
// good: it has reached [MaxSize], and later pages are not in it.
//
// Pages of a site share most of their links, in the same order, so most of an entry repeats another
// one: on two documentation sites, with 26 and 318 links a page, S2 leaves 38 and 150 bytes a page.
//
// # Lifecycle
//
// A fetch loop collects the keys of a page, [Append] makes an entry of them, and a [Writer] makes
// blocks of the entries of a batch, which is committed with the records of their pages. A page that
// was visited again has a second entry if its links may have changed; the last one counts.
//
// [Of] finds referrers by reading the whole file: see [Each].
//
// # Limits
//
// A page has at most 100,000 keys, a file some more bytes than MaxSize. Reading takes the memory of
// a block, a few MiB, besides that of the targets and of what is found; after recrawls 64 MiB more.
package refs

// Package duplicates remembers which contents a crawl has seen, and under which URL first:
// the content-seen test of Mercator (Heydon and Najork, 1999), and for texts that are
// nearly the same the tables of Manku, Jain and Das Sarma, Detecting Near-Duplicates for
// Web Crawling, WWW 2007.
//
// # Vocabulary
//
//   - content: the 64 first bits of a hash of the body.
//   - simhash: 64 bits of which pages with nearly the same text share all but
//     text.Near at most; 0 stands for none. See package text.
//   - first: of the pages with one content, the one that came first; of those with
//     nearly the same text, the one that the others are near. A page that is near a first
//     is none for later ones, so that a row of small steps does not make the same of what
//     is far apart.
//
// # Lifecycle
//
// [New] makes an index, [Index.Restore] puts entries of an earlier run back in, in their
// order, before [Index.Judge] is asked of page after page. What it says depends on that
// order alone.
//
// # Concurrency
//
// An Index may be used from any goroutine: the loops of a crawl share one. No call waits
// for anything but a short lock.
//
// # Limits
//
// An index holds as many pages as it was made for, and 128 bytes of URL for each on
// average; then the oldest leave. A page takes 64 bytes and its URL, all pages together
// up to 2 MiB.
//
// Of the simhashes that share 16 bits with one, in the same of four places, the 64 that
// came last are compared: those whose pages want them to be crowded are not found
// beyond, and cost no more.
package duplicates

// Package sitemap reads sitemaps. From a base URL, a content type and a body it yields the URLs
// that a site lists, with the date of the last change and a priority.
//
// The protocol is https://www.sitemaps.org/protocol.html.
//
// # Vocabulary
//
//   - entry: a URL in a sitemap with its properties ([Entry]).
//   - urlset: a sitemap of pages. index: a sitemap of other sitemaps.
//   - feed: RSS or Atom, whose items are entries.
//   - broken: cut off, or so malformed that an entry is lost. [Result].Err is the first loss, or
//     the reason why reading stopped. Malformed markup that loses nothing is no error: a bare &, an
//     element without an end tag, a warning before the first element.
//
// # Formats
//
// The body decides the format, whatever the content type says, which counts for its charset only:
//
//	urlset        url/loc, lastmod, priority; link rel=alternate href
//	sitemapindex  sitemap/loc, lastmod
//	RSS 2.0, 1.0  item/link, or a guid that is a URL; pubDate, date
//	Atom          entry/link without rel or with rel=alternate; updated, published
//	text          one absolute URL per line
//
// gzip is decompressed first, also twice, with any number of members. Elements are known by their
// local names, ignoring case; their prefix must be that of the entry's element, so that the loc of
// an image is not taken for the page. Images, videos and news of extensions are no entries, and
// changefreq is not read: it is a promise that few sites keep.
//
// Broken sitemaps are read as far as possible, by markup.XML, which knows no document type: a
// reference is one of XML's five, one of HTML's or a number. Any other stays text, and a URL that
// contains it is skipped, which is an error. The text of an element ends at the next tag, whatever
// that is; text that the end of the body cuts off is dropped. docs/adr/0018 says why.
//
// Only URLs that resolve to http or https are entries. The protocol wants absolute URLs; in XML,
// relative ones are resolved against the base all the same.
//
// # Lifecycle
//
// [Read] reads one body and calls yield for each entry in order; nothing outlives the call except
// the yielded entries.
//
// # Limits
//
// [Options] bounds the text, the entries and the length of a URL. All URLs of a sitemap together
// may have four times the limit of the text; elements nest at most 64 deep. The protocol allows 50
// MiB and 50,000 entries; the defaults allow ten times as many entries. Time is linear in the body
// and in the text that gzip makes of it. Memory is the text, at most once per layer of gzip and
// three times if it is not UTF-8, independent of the number of entries. Nothing panics, whatever
// the bytes.
//
// The caller decides how deep to follow indexes, and whether a sitemap may list URLs elsewhere.
//
// # Concurrency
//
// The package does no I/O and keeps no state.
package sitemap

// Package sitemap reads sitemaps: from a base URL, a content type and bytes, the URLs that
// a site tells of itself, when each was last changed and how much it matters to the site.
//
// The protocol is that of https://www.sitemaps.org/protocol.html.
//
// # Vocabulary
//
//   - entry: a URL that a sitemap tells of, with what it says of it ([Entry]).
//   - urlset: a sitemap of pages. Index: one of other sitemaps.
//   - feed: RSS or Atom, whose items are entries.
//   - broken: cut off, or so ill formed that an entry is lost. [Result].Err is the first thing that
//     is, or what has ended the reading. What is not well formed, and read all the same, is no
//     error: a bare &, an element that does not end, a warning before the first one.
//
// # What is read
//
// The bytes tell the format, whatever the content type says, which counts for its charset
// only:
//
//	urlset        url/loc, lastmod, priority; link rel=alternate href
//	sitemapindex  sitemap/loc, lastmod
//	RSS 2.0, 1.0  item/link, or a guid that is a URL; pubDate, date
//	Atom          entry/link without rel or rel=alternate; updated, published
//	text          one URL a line, absolute
//
// gzip is undone first, also twice, in as many members as there are. Elements are known by
// their local names, in any case; the prefix has to be that of the entry's element, so that the
// loc of an image is none of the page. The images, videos and news of extensions are no
// entries, and changefreq is not read: it is a promise that few keep.
//
// What is broken is read as far as it goes, by a scanner of its own that knows no
// document type: an entity is one of XML's five, of HTML's or a number, and any other is text, of
// which no URL is made: it is skipped, and an error. The text of an element ends at the next tag, whatever that is; what the end of the body
// cuts off is no entry.
//
// Only what resolves to http or https is an entry. URLs have to be absolute by the
// protocol; those in XML are resolved against the base all the same.
//
// # Limits
//
// [Options] bounds the text, the entries and the length of a URL; the URLs of one sitemap
// have 4 times the text's limit together; elements nest 64 deep. The protocol's limits
// are 50 MiB and 50,000 entries: ten times as many entries are read. Time is linear in
// the body and the text that gzip makes of it. Memory is the text, at most once for each
// gzip and three times where it is not in UTF-8, and no multiple of the entries.
// Nothing panics, whatever the bytes.
//
// How deep indexes are followed, and whether a sitemap may tell of URLs elsewhere, is the
// caller's business.
//
// # Concurrency
//
// The package does no I/O and keeps no state.
package sitemap

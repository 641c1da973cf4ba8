// Package lessons remembers what rendering has added to pages, by the shape of their documents, so
// that a crawl need not ask a browser again and again.
//
// # Vocabulary
//
//   - shape: a host, the judgement of package appshell, and the skeleton of the document: the
//     scripts and the elements around the content. The URL does not count.
//   - gain: the links and words of a rendered document that the received one lacks. See [Compare].
//   - doubtful: a page that looks empty without scripts. Its default is to be rendered, that of
//     others is not to be.
//
// # What is learnt
//
// Doubtful pages of a shape are not rendered any more when three in a row had no gain, and none
// ever had one; then one is rendered after 8 pages, 16, 32 and each 64. A gain ends that for good:
// one empty view of an application, all of whose pages have one shape, says nothing of the others.
//
// Of pages that show their text and links, the 8th of a shape is rendered as a sample, one after 64
// more, after 512, and each 4,096. In all that is one in 512 of such pages; of thin ones, which
// show a short text and next to no links, one in 256, and four. If scripts add much, all pages of
// the shape are rendered until eight in a row had no such gain.
//
// A page that could not be rendered is no lesson. Nor is a gain of nothing where requests or
// scripts of the page have failed.
//
// # Lifecycle
//
// [New] makes a table, [Table.Restore] adds what an earlier run has learnt. [Table.Ask] counts a
// page, [Table.Learn] takes its gain, and returns what to save of it.
//
// # Concurrency
//
// Any goroutine may use a Table: the loops of a crawl share one. A call waits for nothing but a
// short lock.
//
// # Limits
//
// A table has 4,096 shapes. The shapes used least recently leave, those first of which nothing is
// known.
package lessons

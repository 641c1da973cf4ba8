// Package weft is a web crawler: from seeds it fetches pages, follows their links
// and redirects, never fetches a URL twice, and stops when all is done.
//
// # Vocabulary
//
//   - seed: a URL the crawl begins at. Scope: which links are followed. A link
//     is judged when it is found, by the seeds that have been read by then.
//   - job: one crawl and its folder, where the records go.
//   - record: one line of pages.jsonl, written when a URL is finished.
//   - frontier: the set of URLs seen and the order in which they are fetched.
//   - lease: a URL given out to be fetched. Outcome: the answer to a lease.
//
// # Life of a crawl
//
// The desk is an event loop of its own: it owns the frontier and the outputs.
// Fetch loops, one a core, each have worker tasks that lease URLs from the desk,
// fetch them, scan them for links and send the outcome back, in a batch a turn.
// The crawl is over when nothing is pending and nothing leased: a count, never a
// time-out. ARCHITECTURE.md has the table of tasks.
//
// # Limits
//
// Of a page the first 100,000 links are looked at; see also Options. A URL for which
// this machine has no descriptor, port or memory waits for a minute, which is no try;
// then that is its error. Bodies of more than 64 KiB are decoded and read in turn, so
// that many of them at once do not hold up the rest.
//
// # Concurrency
//
// A Crawler may be used from any goroutine. Two crawlers in one process share
// nothing.
package weft

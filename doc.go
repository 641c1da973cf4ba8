// Package weft is a web crawler: from seeds it fetches pages, follows their links and redirects,
// never fetches a URL twice, and stops when all is done.
//
//	options := weft.Options{Seeds: []string{"https://example.org/"}}
//	for page, err := range weft.Crawl(ctx, options) { … }
//
// # Vocabulary
//
//   - seed: a URL at which the crawl starts. Scope: the links that it follows. A link is judged
//     when it is found, by the seeds that were read by then.
//   - job: a crawl on disk, a folder with its records, from which it resumes.
//   - record: one line of pages.jsonl, written when a URL is finished.
//   - frontier: the URLs seen, and the order in which they are fetched.
//
// # Lifecycle
//
// [New] checks the [Options] and opens the job; [Crawler.Run] crawls until nothing is left, a
// limit is reached or the context ends. [Crawl] is both, as an iterator over pages. [OpenJob]
// looks at a job, running or not, and steers a crawl that runs. [Fetch] requests one URL.
// ARCHITECTURE.md says how it works inside.
//
// # Concurrency
//
// Any goroutine may use a Crawler. Two crawlers in one process share nothing.
//
// # Limits
//
// The first 100,000 links of a page are followed; see [Options] for the limits that can be set. A
// URL for which this machine has no descriptor, port or memory waits until none has found them for
// a minute, which is no try; then that is its error.
package weft

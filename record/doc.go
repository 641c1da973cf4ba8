// Package record holds what a crawl writes and counts: the lines of pages.jsonl and
// links.jsonl, the stream of records, and the summary.
//
// # Vocabulary
//
//   - record: the fate of one URL, one line of pages.jsonl.
//   - done: fetched, with a response or an error. Refused: finished without a request, by
//     robots.txt, an exclusion or a host that is down. Each such URL has one record.
//   - visit: one pass of a job over all its URLs; a recrawl starts the next one.
//
// # Concurrency
//
// Nothing here is shared: a value belongs to the loop that made it.
//
// # Limits
//
// The Web chooses media types, hosts and errors, so a [Summary] bounds its tables: 100
// media types, 20 hosts, 10 slow responses.
package record

// Package read turns the pages of a job into texts: Markdown or plain text, a file a page or a line
// a page, without what stands on most pages of a site.
//
// # Vocabulary
//
//   - text: the content of a page for a reader, as Markdown or plain text.
//   - boilerplate: blocks that stand in the same place on at least half of the pages of a site. A
//     site is a host with its port.
//   - sample: the pages of a site that are looked at for its boilerplate, at most [SampleSize].
//   - chunk: a part of a text that fits into a number of characters, for search by meaning.
//   - change: the difference of a text from the same output as it was written before.
//
// # Order
//
// Pages come in the order of hosts and of the names of their files, so that two outputs of a site
// can be compared line by line, whatever the order of the crawl. [Folder] and [Lines] compare an
// output with the one before it in that order, a line at a time.
//
// # Limits
//
// Memory does not grow with the job: pages are sorted on disk, some 300 bytes each, and a site is
// done before the next begins. For each core, a page of at most [results.MaxBody] and what becomes
// of it is held. Only [content.MaxBody] of a page are parsed.
//
// # Concurrency
//
// Each function works on all cores, and returns when it is done. Several may read the same job.
package read

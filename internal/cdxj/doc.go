// Package cdxj makes indexes of archives in the format CDXJ: a line for each capture, sorted by
// bytes, so that a binary search finds a URL. Package warc reads and writes the lines.
//
// # Vocabulary
//
//   - capture: a response, revisit or resource record of an archive.
//   - captures.cdxj: the index of a job in the order of writing. The crawl appends to it.
//   - index.cdxj: the same lines, sorted.
//
// # Lifecycle
//
// [Update] brings the sorted index of a job up to date. [Scan] indexes any WARC or ARC file;
// package internal/extsort sorts what it finds.
package cdxj

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
// [Update] brings the sorted index of a job up to date. [Scan] indexes any WARC or ARC file, and a
// [Sorter] sorts what it finds.
//
// # Limits
//
// A sorter holds 32 MiB of lines in memory, and the rest in a file without a name, which is gone
// with the process. A line has at most 1 MiB.
package cdxj

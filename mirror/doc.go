// Package mirror writes a site as files that open without a network.
//
// [Site] crawls a site into a job in the folder, and writes what that has; called again, it brings
// the folder up to date. [Write] writes what another job has, and fetches nothing. Pages, style
// sheets and SVG get URLs that lead to the other files, everything else stays as it was received.
//
// # Vocabulary
//
//   - page: a URL with a body, of whatever type.
//   - taken: a page that has a file. Links to it are relative paths; other links are absolute.
//   - list: the files that are of the mirror, with their digests, in .weft/files.jsonl.
//   - own file: one on the list, with a digest that the list has. No other is touched.
//
// # Life of a mirror
//
// Names are given to all pages first, and noted in the list. Then each file is written beside its
// place, noted in the list with its digest, and renamed. When all are there, the list is written
// anew, and says that the mirror is complete. Killed in between, the next Write does what is left.
//
// # Limits
//
// Memory is some 1.2 KB for each URL of the job (158 MB for 100,000), and a few times the largest
// body, of which 64 MiB count.
//
// # Concurrency
//
// A folder belongs to one Write at a time, which has its lock.
package mirror

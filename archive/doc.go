// Package archive reads collections of captures: jobs, WACZ files, WARC and ARC files. It finds the
// captures of a URL, and opens what they hold. Of WARC and ARC files alone, [Find] and [ReadAt]
// read one record, an [Extractor] writes the bodies to files, and an [Indexer] makes an index.
//
// # Vocabulary
//
//   - capture: a response, revisit or resource record, as a line of an index knows it.
//   - key: the URL as the index sorts it (warc.SURT). URLs that differ only in scheme, www, a slash
//     at the end and the like share a key.
//   - source: one job, WACZ file, WARC or ARC file of an archive.
//
// # Index
//
// A look-up is a binary search in a file of sorted lines (CDXJ, package cdxj). A job and a WACZ
// file have one. What has none is read once when it is opened, into a temporary file without a
// name. The first revisit whose original is not at its URL makes another one, by digests of
// payloads.
//
// # Limits
//
// Nothing in the files is trusted. Lines of an index have at most 1 MiB, and what is unpacked of a
// WACZ file's index at most 4 GiB. A damaged part is an error that names file and offset; the rest
// can be read. Names in an index lead to no file outside its source. Memory does not depend on the
// size of the archive.
//
// # Concurrency
//
// Any number of goroutines may use an Archive, until it is closed.
package archive

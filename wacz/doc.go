// Package wacz packs archives into a WACZ file and checks such files: WACZ 1.1.1
// (https://specs.webrecorder.net/wacz/1.1.1/), a ZIP file with WARC files, an index of them, a list
// of their pages and the digests of all that. ReplayWeb.page opens it from any static web server.
//
// # Vocabulary
//
//   - capture: a response, revisit or resource record of an archive.
//   - page: an HTML page of status 200 that has a capture.
//   - entry: a file in the ZIP file. Resource: an entry with its digest, in datapackage.json.
//
// # Lifecycle
//
// [PackJob] packs the archive of a job, [PackFiles] any WARC files, both in one pass over the
// archives, into anything that can be written to. The same archives make the same bytes: entries
// have the order of their names and no time, and the newest capture dates the package.
//
// Archives are stored without compression, because readers fetch records from them by ranges. An
// index of up to 4 MiB is one text, which ReplayWeb.page loads as a whole; a larger one consists of
// compressed blocks and a list of them, of which it loads what it needs.
//
// [Check] tests a WACZ file from any tool.
//
// # Limits
//
// Memory does not grow with the archives: see [extsort.Sorter], of which three are in use at a
// time.
package wacz

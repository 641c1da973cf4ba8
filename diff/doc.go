// Package diff says what has changed between two visits of a job, two jobs or two archives.
//
// # Vocabulary
//
//   - side: the old or the new pages that are compared: a visit of a job, or an archive.
//   - fact: something that a page says, apart from its markup: its status, its title, a block of
//     text, a link, a value of structured data.
//   - detail: a fact that differs.
//   - figure: a run of words with digits, dates or times of day in it.
//   - churn: facts that differ by figures at each visit, on many pages, and tell nothing.
//   - rotation: texts that change places among pages, as adverts do.
//   - shared change: the same detail on several pages, as of a new item of a menu.
//
// # Method
//
// Both sides are sorted by host and URL, on disk, and joined. A page with the same body and header
// fields is unchanged, and not read. Of all others the facts are compared as sets: that a list is
// shuffled, or a block has moved, is no change. What differs is kept until the last page of the
// site has been read. Then what churns, rotates or is shared is known by comparing pages, and left
// out or told once. docs/diff.md shows the results, docs/adr/0055-what-has-changed.md has the
// reasons.
//
// # Limits
//
// Memory does not grow with the sides: some 200 MB. Of a page at most results.MaxBody is read and
// content.MaxBody parsed. A report has MaxDetails of it, each with at most MaxText bytes. Words of
// longer texts are not compared.
//
// # Concurrency
//
// The sides are opened, and the two versions of a page read, on two goroutines that share nothing.
// A Report belongs to one goroutine at a time. Several comparisons may read the same job.
package diff

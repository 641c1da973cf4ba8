// Package changelog writes changes of a partition as bytes.
//
// A node of a cluster tells the others by them what would be lost with its disk: the changes that
// its frontier reports to the journal. A snapshot of a partition is the same, as package store
// exports a partition to a journal.
//
// # Vocabulary
//
//   - block: changes of one partition, in order, that can be read without any other block. Blocks
//     in a row are the changes of all of them.
//   - log: a journal that passes everything on to a batch of the store, and keeps the changes of
//     each partition, which it posts to the outbox when the batch is sealed: first what was found,
//     then what has ended.
//   - links: a block of URLs that go to another node.
//
// # Format
//
// A block begins with the version of the format and the calendar's time. A change is a byte that
// says which, and fields: integers as varints; URLs by what they share with the one before; a bit
// set says which of the fields are not zero. A page of a crawl takes some 200 bytes: ADR 34.
//
// Times that a frontier lives by (delays, retries, back-off) are relative to the moment of the
// block: each node has a clock of its own. Who reads a block later has every wait begin then, so a
// wait may be longer than it should be, and never shorter. Times for people (tries, refusals,
// visits) are those of the calendar.
//
// # What is left out
//
// Dropped URLs, redirects, other ways to a URL and the counts of a frontier: see package store for
// why a partition does without.
//
// # Concurrency
//
// A Log belongs to one goroutine or event loop, as its frontier does. Functions may be called by
// any.
package changelog

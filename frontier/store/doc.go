// Package store keeps a crawl's frontier, and its outputs, so that a crawl that is
// killed at any instant goes on as if it had been stopped.
//
// # Vocabulary
//
//   - job: a folder. In it the folder state, which is Pebble's, and outputs.
//   - output: a file that is appended to, such as pages.jsonl.
//   - group: what is saved together: changes the frontier tells of (it is a
//     [frontier.Journal]), lines of outputs, notes of the caller's.
//   - pending, done, refused, dropped: where a URL stands. A lease is in memory only: the
//     URL is pending until it is done, so opening the store is what takes leases back.
//
// # Lifecycle
//
// [Open], [Store.Restore] into a new frontier, then groups: [Store.Begin], which the frontier
// tells its changes, and [Store.Commit]. Commit appends the lines and syncs them, and then
// writes the rest in one synced batch with the outputs' new lengths. Nothing of a group
// whose batch is not there has happened: Open cuts outputs to the lengths the state
// knows. An output that is shorter has lost what is claimed to be there: that is an error.
// So is a state that has lost groups. Options.Fresh begins such a job, or any, anew.
//
// A job that is finished can be visited again: [Store.Revisit] makes its URLs pending, with what
// is known of their last visit, before a frontier is restored.
//
// What the frontier does not keep in memory it reads back with [Store.Pending], and asks
// [Store.Known] for in batches. [Store.Find],
// [Store.URLs] and [Store.Host] are for people who ask.
//
// # Failure
//
// A write that finds the disk full waits until there is room, and Options.Waiting is told.
// Any other error of a write, or of a sync, is the store's end: that call of Commit and all
// later ones return it, and what earlier ones have committed is there when the store is
// opened again. Pebble itself is never shown an error of a write, for it would end the process.
//
// # Concurrency
//
// One goroutine at a time fills a group and commits; it may be another each time. Any may
// read, which shows what is committed, or call WriteFile, Abandon and Close. Commit, Close and
// reading wait for the disk: they are nothing for an event loop.
//
// # Limits
//
// Memory is about 60 MB at most, whatever the crawl's size: changes not yet sorted, and a
// small cache. A second process is kept out by a lock that NFS may not honour. A file
// system that has taken a write and reports only when it is synced that there was no room
// for it ends the store like any other error. That groups are missing, because the end of
// the log or of the manifest is damaged, is known from the number of the last one, kept in a file of
// its own that is not synced: of damage that comes with a loss of power, or if that file is
// gone too, the job goes on from the last group that is whole, and outputs are cut
// to that. A state that has failed leaves some goroutines behind, until the process ends.
package store

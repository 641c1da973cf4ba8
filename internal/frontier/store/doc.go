// Package store keeps the durable state of a crawl, its frontier and its outputs, so that a crawl
// that is killed at any instant continues without loss.
//
// # Vocabulary
//
//   - job: a folder that holds the outputs and the folder state, which is Pebble's.
//   - output: an append-only file such as pages.jsonl.
//   - batch: changes that are committed together: those of the frontier (a batch is a
//     [frontier.Journal]), lines of outputs, and the caller's notes.
//   - pending, done, refused, dropped: the states of a URL. Leases exist only in memory: a leased
//     URL is pending on disk, and opening the store returns it to its queue.
//   - watermark: the number of the last committed batch, kept outside Pebble's files.
//
// # Keys
//
// The state is one ordered map. The first byte of a key is its kind:
//
//	c                          counts of URLs
//	f fingerprint              the seen set: queue key, and why the URL was dropped
//	h name 0 origin 0          robots.txt of an origin
//	h name 0 origin 1          state of an origin
//	k fingerprint              fewest redirects to a URL, and its own target
//	m number                   mark of the last batch, without a value
//	n name                     note of the caller's
//	o name                     committed length of an output
//	p origin 0 queue key       pending URL
//	q                          next Seq
//	u URL                      outcome: done or refused; # follows one only needed or checked
//	v                          version of the format
//	w URL                      another way to a URL, not looked into yet
//	x variant key              number of variants taken
//
// A node of a cluster has a part of a crawl, and keys that other jobs lack:
//
//	b number                   message of the outbox
//	i partition h name 0 origin
//	                           an origin of the partition
//	i partition x variant key origin
//	                           a count of variants of the partition
//	s partition                state of the partition: imported, owned, left or being dropped
//	s partition e              its epoch: see [Batch.SetEpoch]
//
// In the key of an origin, the name precedes the scheme and the port. All integers of keys are
// ordered as bytes, so a scan of p returns each origin's URLs in the order of its queue.
//
// # Lifecycle
//
// [Open] the job, [Store.Restore] a new frontier, then repeat: [Store.Begin] a batch, let the
// frontier write its changes to it, [Store.Commit]. Commit appends the lines, syncs them, and then
// writes all other changes and the outputs' new lengths in one synced Pebble batch. Without that
// batch, nothing has happened: Open cuts outputs to the committed lengths. An output that is
// shorter than its committed length, or a state that lacks committed batches, is an error; with
// Options.Fresh, Open starts any job anew.
//
// [Store.Recrawl] makes the URLs of a finished job pending again, with a [frontier.Snapshot] of
// their last fetch, before a frontier is restored; [Store.Again] does so with some of them.
//
// The frontier reads the URLs it does not keep in memory with [Store.Pending], and looks up the
// seen set with [Store.Known]. [Store.Find], [Store.URLs] and [Store.Origin] serve people;
// [Store.Snapshot] copies the state for another process to do so.
//
// # Partitions
//
// With Options.Partition, a partition of the crawl can move from one store to another, each of a
// frontier of its own: [Store.Export] reports it to a journal, and [Store.Import] begins a batch
// that is one. The state of a partition is:
//
//   - its origins (h), with the rules of robots.txt
//   - its pending URLs (p), and those that are done or refused (u)
//   - the fingerprints (f) of these
//   - its counts of variants (x)
//
// It has no fingerprints of dropped URLs: what has dropped them, the limit of their host or of
// their path, is part of the state, and drops them again. Nor has it redirects (k) and other ways
// (w): the price of forgetting these is in package frontier. Notes are the caller's.
//
// Keys are ordered by host, not by partition, so that one machine's jobs are as they were. The list
// of a partition's origins, i, leads to everything else, so Export and [Store.Drop] cost what they
// read or delete: some seeks for each origin, and no scan of other partitions. The list costs a key
// without value for each change of an origin's state.
//
// Export is no snapshot: it reports what was there at some time since it began. Whoever then
// repeats all changes since the beginning has the state after these. [Store.Settle] ends an import.
//
// The outbox holds messages that a batch has posted, in order, until a later batch says that they
// were delivered.
//
// # Failure
//
// A write to a full disk waits for space, and Options.Waiting reports it. Any other error of a
// write or a sync fails the store: Commit returns it from then on, and what was committed is there
// when the store is opened again. Pebble itself never sees a write error, which would end the
// process.
//
// # Concurrency
//
// One goroutine at a time fills a batch and commits it; others may import and drop partitions
// meanwhile that it does not touch. Any goroutine may read, which shows
// committed state, or call WriteFile, Abandon and Close. Commit, Close and reads block on the disk;
// an event loop must offload them.
//
// # Limits
//
// Memory is bounded whatever the size of the crawl: Options.Cache and two of Options.Buffer,
// together 40 MiB by default, and the batch that is being filled. NFS may not honor the lock that
// keeps a second process out. A file system that accepts a write and reports a full disk only at
// the sync fails the store like any other error.
//
// Damage at the end of Pebble's log or manifest looks like its regular end; the watermark reveals
// the batches that it hides. The watermark is not synced: after a loss of power, or without it,
// the job continues from the last whole batch, and outputs are cut to that. A failed store leaks
// some goroutines until the process ends.
package store

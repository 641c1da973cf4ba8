// Package budget limits the memory that responses hold, in all loops of a crawl together.
//
// # Vocabulary
//
// A [Meter] counts bytes up to its share. Each response in progress has a [Hold], which grows
// before memory is allocated for arriving bytes, and is released when nobody needs the body any
// more. A Hold that would exceed the share waits: its connection is not read, so TCP stops the
// peer.
//
// One of the waiting Holds is favoured: it may grow beyond the share until it is released, and
// then the one that has waited longest is favoured. So half-read bodies never wait for each other.
//
// # Lifecycle
//
// New makes a Meter for a crawl; Meter.Open makes a Hold for each response, Hold.Release ends it.
//
// # Concurrency
//
// A Meter serves any number of loops and goroutines. A Hold belongs to one task or goroutine at a
// time. While nobody waits, a change costs one atomic operation.
//
// # Limits
//
// At most the share and one favoured body are held, plus memory counted with Set after its
// allocation.
//
// An eighth of the share is reserved for Holds that the caller calls prompt, so that hosts that
// send slowly hold up each other only. Of the rest a seventh is reserved for Holds of at most
// [Small] bytes, so that a few large bodies do not hold up many small ones; prompt ones leave them
// a sixteenth of the share. A Meter does not know the speed of a body: a caller should end slow
// ones while the Meter is [Meter.Crowded].
package budget

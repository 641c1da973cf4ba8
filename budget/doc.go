// Package budget keeps what answers hold in memory, of all loops of a crawl together,
// within a share.
//
// A [Meter] counts bytes. Each answer that comes in has a [Hold] of it, which grows as
// bytes arrive, before there is memory for them, and is released when nobody needs the
// body any more. What would go beyond the share waits: its connection is not read, so
// TCP stops the peer.
//
// So that bodies which are all half read do not wait for each other, one of those
// that wait is favoured: it grows whatever the share is, until it is released. Then the one
// that has waited longest is. What is held is at most the share and one favoured body, and
// what was counted with Set, after there was memory for it.
//
// So that a few large bodies do not hold up many small ones, a quarter of the share is only for
// Holds of at most [Small] bytes. Who has a body that comes slowly is to end it while the Meter is
// [Meter.Crowded]: it does not know how bodies come.
//
// A Meter is for any number of loops and goroutines. A Hold belongs to one task or
// goroutine at a time. Where nobody waits a change costs one atomic operation.
package budget

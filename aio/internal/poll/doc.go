// Package poll reports which descriptors are ready.
//
// # Vocabulary
//
// A [Selector] watches descriptors: epoll (Linux), kqueue (macOS and the BSDs: compiles, has never
// run) or poll, which is poll(2), works on any Unix and stands in for select(2) too. An [Interest]
// is a set of directions, read and write. A token identifies a descriptor to the caller, who
// chooses it: by the time an event is handled, the descriptor's number may belong to another file.
//
// # Lifecycle
//
// New makes a selector; Close releases it. Remove must precede the closing of a descriptor.
//
// # Concurrency
//
// One goroutine owns a selector; others may only call Wake.
//
// # Limits
//
// Poll and Wait return at most as many events as fit into the slice; the others are returned by
// the next calls, so that none is passed over repeatedly. poll(2) costs time in proportion to the
// descriptors it watches.
package poll

// Package frontier decides which URL is fetched next, and when.
//
// It is a pure state machine: it owns the set of URLs seen, the queue of every
// host and the rules of politeness, and is told the time. It knows no clock, no
// network, no disk and no goroutine, so that a crawl of a year is a test of a
// second.
//
// # Vocabulary
//
//   - host: scheme, host name and port; the unit whose pace is kept.
//   - pending: seen, and to be fetched. Leased: handed out to be fetched.
//     Done: finished, well or not. A URL goes from pending to leased, and from
//     there to done, or back to pending to be tried again.
//   - lease: a URL handed out. Every lease is answered by exactly one Done or Retry.
//
// # Lifecycle
//
// Add puts new URLs in, Lease takes some out, Done and Retry give them back. When
// Pending and Leased are both 0 the crawl is over: a count, never a time-out.
// The times it is told never go back.
//
// # Concurrency
//
// A Frontier is owned by one goroutine or event loop.
package frontier

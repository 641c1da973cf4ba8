// Package shardtest runs nodes of a cluster on virtual time: with a key-value store, a network
// that delays, reorders, repeats and loses, and processes that stop and die.
//
// # Vocabulary
//
//   - process: one run of a node, with its own clock and its own view of the store.
//   - stopped: a process that handles nothing for a while; its clock goes on. A frozen one has a
//     clock that stands still, too.
//   - cut off: a process whose messages are lost or late.
//
// # Lifecycle
//
// [New] makes a [World], [World.Start] a [Process] in it, and [World.Run] lets time pass. What a
// process does with the orders of its ownership.Node is up to the test ([Process.OnOrder]). The
// same seed gives the same run.
//
// # Concurrency
//
// A World and what is in it belong to one goroutine.
package shardtest

// Package aiotest provides what tests of event loops need: a virtual clock that jumps when all
// loops on it are idle, an in-memory network with latency, loss and resets drawn from a seed, a
// recorder of traces, and a check for leaks.
//
// # Vocabulary
//
// A [Clock] is a virtual clock, a [Net] an in-memory network, a [Trace] the last steps of a loop's
// tasks. Epoch is when virtual time starts. A blackhole is an address that never responds.
//
// # Lifecycle
//
// Most tests need only Run, or NewNet and Net.Run. Each Net, Trace and Clock serves one test.
//
// # Concurrency
//
// A Net and a Trace belong to the loop that uses them. A Clock may be shared by loops, and any
// goroutine may read it.
//
// # Limits
//
// A test on a virtual clock takes no time and gives the same trace every time: a loop is
// deterministic, and so is everything here. Other goroutines and the system's sockets are not, and
// are kept out; an Offload is waited for before time moves.
package aiotest

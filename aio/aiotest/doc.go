// Package aiotest is what tests of event loops need: a virtual clock that jumps
// when all loops on it are idle, an in-memory network with latency, loss and
// resets drawn from a seed, a recorder of traces, and a check for leaks.
//
// Most tests need no more than Run, or NewNet and Net.Run.
//
// A test on a virtual clock takes no time and gives the same trace every time: a
// loop is deterministic, and so is everything here. What is not, other goroutines
// and sockets of the system, is kept out or, for Offload, waited for before time
// moves.
package aiotest

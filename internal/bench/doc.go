// Package bench holds the benchmarks that prove the marks of the event loop, each
// beside the peer it has to beat. One file per mark: switch, get, memory, echo, timers.
//
// What is measured is the process of the benchmark, or of a child where memory is
// measured; the other side of each conversation is another child, which is this test
// binary started again (main_test.go), so that its cost is not in the figures. All
// traffic is on loopback, and every answer is checked.
//
// Figures are of one item: a switch, a request, an echo, a timer. cpu-ns/op is user
// and system time of all threads, garbage collection included. It is what the marks
// are about: wall time (ns/op) is also that of the child on the same cores.
//
// make bench-aio runs each benchmark five times, every time in a new process, since the
// memory that one leaves behind, in no order, makes the next slower; and all of them
// in turn, so that a change of the machine's mood meets both sides. The command table
// then writes docs/bench/aio.md. Shorter:
//
//	go test -run '^$' -bench Get -cpu 1,2 ./internal/bench
//
// The memory of aiohttp is measured with a script that is not part of this project:
// $WEFT_BENCH/slow/client_aiohttp.py, run by $PEERS_PYTHON. Without it that line is skipped.
package bench

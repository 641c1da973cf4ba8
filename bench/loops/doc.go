// Package loops holds the benchmarks behind the marks of the event loop, each beside the peer that
// it has to beat. One file per mark: switch, get, memory, echo, timers.
//
// A benchmark measures its own process, or a child where memory is concerned. The other side of
// each conversation is another child, this test binary again (main_test.go), so that its cost is
// not in the figures. All traffic is on loopback, and every response is checked.
//
// Figures are per item: a switch, a request, an echo, a timer. cpu-ns/op is user and system time of
// all threads, garbage collection included. The marks are about it: wall time (ns/op) is also that
// of the child on the same cores.
//
// make bench-aio runs each benchmark five times, each time in a new process, since the scattered
// memory that one leaves behind makes the next slower; and in turns, so that a change of the
// machine's load affects both sides. The command table then writes docs/bench/aio.md. For a quick
// look:
//
//	go -C bench test -run '^$' -bench Get -cpu 1,2 ./loops
//
// A script that is not part of this project measures the memory of aiohttp:
// $WEFT_BENCH/slow/client_aiohttp.py, run by $PEERS_PYTHON. Without it, that line is skipped.
package loops

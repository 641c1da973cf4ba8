// Package measure measures the ways of package lab, for `weft lab`. It stands apart from lab
// because the files there are to be read, and apart from the command because what it does is
// worth tests of its own.
//
// # Vocabulary
//
//   - way: of fetching many pages; a [lab.Way].
//   - round: the job done once: all pages fetched by one way.
//   - held: of a connection, made and asked on, and left without an answer.
//   - server: a small HTTP/1.0 server on loopback that answers late.
//
// # Lifecycle
//
// A server and each way run in processes of their own, so that time, memory, threads and
// context switches are those of the way alone, and so that neither has to share 20,000
// descriptors with the other. The processes are the program again: [Child], called first in
// main, sees by the name that it was started with what it is to be. It gets its task as JSON
// on standard input and answers with JSON on standard output. The parent ends it; if the parent
// dies, its standard input ends, and so does it.
//
// # Concurrency
//
// One way runs at a time; the processes of the others wait for their turn. In the first round of
// each a goroutine of the parent looks at its processes in /proc every 20 ms.
//
// # Limits
//
// What is read from /proc is there on Linux only; elsewhere it is 0. Memory is what a process has
// resident, without what the kernel holds for its sockets. Processes and threads are bounded, so
// that a machine survives it.
package measure

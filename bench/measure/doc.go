// Package measure measures the ways of package lab, for the command weft-lab. It is separate from
// lab because lab's files are for reading, and separate from the command so that it can have tests.
//
// # Vocabulary
//
//   - way: a way to fetch many pages; a [lab.Way].
//   - round: one way fetches all pages once.
//   - held: a connection that is made, has sent its request, and has no response yet.
//   - server: a small HTTP/1.0 server on loopback that responds late.
//
// # Lifecycle
//
// A server and each way run in processes of their own, so that time, memory, threads and context
// switches are those of the way alone, and so that they do not share 20,000 descriptors. The
// processes are this program again: [Child], called first in main, recognises its role by the name
// of the process. A child gets its task as JSON on standard input and replies with JSON on standard
// output. The parent kills it at the end; if the parent dies, the child's standard input ends, and
// so does the child.
//
// # Concurrency
//
// One way runs at a time; the processes of the others wait for their turn. In the first round of
// each way, a goroutine of the parent reads its processes in /proc every 20 ms.
//
// # Limits
//
// Figures from /proc exist on Linux only; elsewhere they are 0. Memory is the resident memory of a
// process, without what the kernel holds for its sockets. Processes and threads are bounded, to
// keep the machine usable.
package measure

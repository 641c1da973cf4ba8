// Package process runs the child processes of benchmarks and proofs, and reads what they use.
//
// [Start] starts a program and returns a [Process], which one goroutine waits for from the start:
// any number of callers may wait for its end, kill it, or read its output meanwhile. [Results]
// runs the calling program again as a worker that measures a task in a process of its own.
//
// [ReadStatus] and [Written] read /proc and need Linux; elsewhere they find nothing.
package process

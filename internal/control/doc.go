// Package control steers a running crawl: orders, and the questions and answers that pass over the
// socket in the job's folder.
//
// # Lifecycle
//
// A crawl that runs serves its [Commands]; a [Client] asks them, from the same or another process.
//
// # Concurrency
//
// Any goroutine may use a Client. Orders run on the coordinator's loop.
package control

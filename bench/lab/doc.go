// Package lab shows every way to fetch many pages, one file per way, side by side: from one
// blocking socket after the other to the event loop and coroutines that Weft is built on. Each way
// does the same job ([Way]), and its file reads from top to bottom. The ways share only the types
// in lab.go and, where they make sockets by hand, the look-up of names in address.go. Threads and
// processes run the code of blocking.go, which is their point; futures and the scheduler are both
// built on coroutine.go. docs/engine.md is the guide; the command weft-lab measures the ways.
//
// Ways that make system calls themselves exist on Linux only.
//
// The package is for learning and measuring, not for building on: it has few limits, reads
// responses whole into memory, and uses a connection (HTTP/1.0) once.
package lab

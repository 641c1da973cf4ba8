// Package lab shows every way to fetch many pages, one file a way, side by side: from one
// blocking socket after the other to the event loop and coroutines that Weft is built on. Each
// does the same job ([Way]) and is written to be read from top to bottom; nothing is shared
// between them but the types in lab.go and, where sockets are made by hand, the look-up of names
// in address.go. Threads and processes run the code of blocking.go: that they can is what
// they are for. Futures and the scheduler are both made of coroutine.go. `weft lab` measures them.
//
// The ways that make system calls themselves are for Linux; elsewhere they are missing.
//
// It is a place to learn and to measure, not to build on: limits are few, answers are read
// whole into memory, and the connections of HTTP/1.0 are used once.
package lab

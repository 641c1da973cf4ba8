// Package http2test judges what a client of HTTP/2 sends.
//
// A [Referee] reads every byte of both sides of a connection, and reports each frame of the client
// that RFC 9113 does not allow. Of the server, whose frames tests choose, it learns what the client
// may do.
//
// # Limits
//
// The referee sees when a server sends, not when the client reads. What the client cannot know yet
// is no fault, unless it is prompt: see [Referee.Prompt]. That the client responds to what the
// server does wrong is for tests to check.
//
// # Concurrency
//
// Its methods may be called from any goroutine.
package http2test

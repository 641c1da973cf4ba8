// Package http2 is a client's side of HTTP/2 (RFC 9113), as a state machine: bytes in, bytes out.
//
// # Vocabulary
//
//   - exchange: one request and its response, on a stream of its own.
//   - credit: bytes that the peer may send. WINDOW_UPDATE gives it more.
//   - idle frame: one that moves no response on, such as PING or an empty DATA.
//
// # Life of a connection
//
// [New] makes a connection whose output begins with the preface. What arrives goes to [Conn.Feed],
// in pieces of any size; what is to be sent is taken with [Conn.Output]. [Conn.Open] sends a
// request and returns its [Stream]; the response goes to the stream's [Receiver] within calls of
// Feed. A connection has ended when Feed has returned an error; each open stream has been told.
//
// # Flow control
//
// A stream has credit of Options.Window, and more by [Stream.Grant]: what a caller has to hold is
// bounded by what it grants. The connection's credit is returned as data arrive, before anybody has
// dealt with them, so no stream that waits for credit keeps another from its data. It is returned
// in halves of Options.ConnWindow, not for each piece.
//
// # Limits
//
// The fields of a response are bounded as they are decoded and as they are sent; idle frames are
// bounded by a rate (flood.go); what waits to be sent is bounded by the requests of the caller, and
// else by the idle frames that it responds to. Server push is refused.
//
// # Concurrency
//
// A Conn belongs to one goroutine, or one event loop. It has no clock: the time is an argument.
package http2

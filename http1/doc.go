// Package http1 is an HTTP/1.1 client on the event loop of package aio.
//
// A Client belongs to one loop. Get sends one request and returns the whole
// answer, decoded; connections are kept and used again. Redirects are returned as
// data: following them is the crawler's business.
//
// # Reading an answer
//
// The bytes of an answer are fed to a parser as they come, in pieces of any size,
// so the verdict on an answer does not depend on how the network cut it, and a
// connection that waits for its peer holds no buffer. Parsing runs on the loop's
// own stack: the stack of a task that waits stays small.
//
// # Connections
//
// A connection is used again if its answer has a known end and nothing came after
// it. One that has ended, or brought bytes that nobody asked for, while it was kept
// is dropped; if its end crosses the request, that is sent once more.
//
// # Limits
//
// Head and body are bounded, and so is what a compressed body may become. Every
// failure is an *Error with a Kind from the list in errors.go.
//
// For now: plain http, GET, gzip.
package http1

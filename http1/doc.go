// Package http1 is an HTTP/1.1 client on the event loop of package aio.
//
// A Client belongs to one loop. Do sends one GET or HEAD, over plain TCP or TLS, and
// returns the whole answer, decoded, with what can be told about how it came;
// connections are kept and used again. Redirects are returned as data: following them
// is the crawler's business.
//
// # Life of an exchange
//
//	look-up → connection → handshake → request → first byte → head → body → decoded
//
// Each step has a limit in time, and the exchange as a whole; the kind of an error
// says which of them ran out, its text how long that was. With an error in the body
// the Response is there as far as it came.
//
// # Reading an answer
//
// The bytes of an answer are fed to a parser as they come, in pieces of any size,
// so the verdict on an answer does not depend on how the network cut it, and a
// connection that waits for its peer holds no buffer of this package. Decrypting,
// parsing and decoding run on the loop's own stack: the stack of a task that waits
// stays small. Only the handshake of TLS runs on the task's.
//
// # Connections
//
// A connection is used again, for the same scheme, host and port, if its answer has a
// known end and nothing came after it. One that has ended, or brought bytes that
// nobody asked for, while it was kept is dropped; tickets of a TLS server are taken in.
// If the end of a kept connection, or a 408, crosses the request, that is sent once more.
//
// TLS sessions are resumed. A body that ends with its connection is whole over TLS only
// if there was a close_notify before the end: else anybody on the way could have cut it
// (RFC 9112, section 9.8). A connection that an answer ends is closed with one; a kept
// one that is closed is not: there is no task then that could write.
//
// # Names
//
// Names are resolved on the loop, by a Resolver: that of package dns, unless the options
// have another, which then answers for sharing look-ups and remembering them. An
// Override goes before.
//
// # Addresses
//
// Request.Allow says which addresses a request may be sent to. It is asked after the
// look-up, for the very addresses that are connected to; there is no second look-up that
// could answer another one. See package guard.
//
// # Who asks
//
// Cookies come from the jar of Options.Cookies, and what answers set goes there, once a head
// has come: the redirects' cookies, too. A Set-Cookie field is read as browsers read it, and at
// most 32 KiB of cookies are sent. A Credential goes to its origin alone, with every request.
// A field of the caller's own goes before these.
//
// # Proxies
//
// Options.Proxy says what a request goes through. Requests for http are sent to an HTTP proxy,
// over connections that all hosts share; those for https go through a tunnel, kept for its
// origin, and the proxy learns host and port. SOCKS proxies lead on whatever it is. Names are
// looked up by the proxy, but with socks5: so of where a request goes only an address in its
// URL is known here, and Response.Addr is invalid. All of this, the proxy's answer included, has to
// be done within Options.DialTimeout, and what goes wrong with it is KindProxy. An answer
// that a proxy gives in a server's place, such as a 502, cannot be told from one, but a 407.
//
// # Decoding
//
// The codings gzip, deflate (zlib, or without its header, as browsers take it), br and
// zstd are asked for and undone, up to four of them one after the other. A body that
// is empty is never decoded; bytes after the last member of gzip are dropped. Of bodies
// that become longer than 64 KiB about 1 MiB is decoded in a turn of the loop: others go
// on in between. One that comes in more than 256 KiB is decoded beside the loop: made of empty
// blocks, it could take seconds. A decoder that panics makes an error of that body.
//
// # What is tolerated
//
// Where a body's length is in doubt the answer is refused, and where it is not what is
// odd is read as browsers read it: docs/adr/0006-what-is-tolerated-on-the-wire.md has
// the table.
//
// # Asking again
//
// Response.Validators has the fields with which a later request asks for what has changed.
// If nothing has, the answer is a 304, without a body.
//
// # Limits
//
// Head and body are bounded, and so are the bytes of the chunked coding, what each
// step of decoding may make (between two codings 32 times as many bytes as before, and 64 KiB),
// the window of zstd (8 MiB), interim answers (16, within the
// limit of the head) and TLS sessions remembered (1,024). A body that is too long is an error, or with
// Request.Cut its beginning. Every failure is an *Error with a Kind from the list in
// errors.go.
package http1

// Package httpclient is an HTTP client on the event loop of package aio.
//
// Do sends one GET, HEAD or POST, over plain TCP or TLS, and returns the whole response, decoded,
// with all that is known about how it arrived. Connections are kept and used again. Redirects are
// returned as responses: following them is the crawler's business.
//
// # Vocabulary
//
//   - exchange: one request and its response, over a connection or a stream of one.
//   - route: scheme, host, port and proxy; kept connections are pooled by route.
//   - interim response: a 1xx before the real response.
//   - tunnel: a connection that a proxy has opened to the server.
//
// # Life of an exchange
//
//	look-up → connection → handshake → request → first byte → head → body → decoded
//
// Each step has a time limit, and so has the exchange as a whole; the kind of an error names the
// limit that was exceeded, its text gives the duration. With an error in the body the Response
// holds what has arrived.
//
// # Lifecycle
//
// NewClient makes a Client, and Client.Close closes its idle connections. Response.Close returns
// the buffer of a response.
//
// # Concurrency
//
// A Client belongs to one loop, and so do its responses.
//
// # Reading a response
//
// The bytes of a response go to a parser as they arrive, in pieces of any size, so the verdict on a
// response does not depend on how the network cut it, and a connection that waits for its peer
// holds no buffer of this package. Decrypting, parsing and decoding run on the loop's own stack:
// the stack of a waiting task stays small. Connecting and the TLS handshake have tasks of their
// own, whose stacks end with them.
//
// # Connections
//
// A connection is used again, for the same scheme, host and port, if its response has a known end
// and nothing came after it. A kept connection that has ended, or has received unrequested bytes,
// is dropped; session tickets of a TLS server are accepted. If the end of a kept connection, or a
// 408, crosses the request, the request is sent once more. A POST is not, as the server may have
// taken it: so none goes over a kept connection, or over one in use from which nothing has come for
// 5 s and no response to a PING.
//
// At most 128 TLS handshakes are under way at once, not counting those of more than a second. TLS
// sessions are resumed, and certificates that were found valid are not verified again for an hour.
// Over TLS, a body that ends with its connection is complete only if a
// close_notify preceded the end: otherwise anybody on the path could have cut it (RFC 9112,
// section 9.8). The client sends a close_notify when a response ends the connection; it sends none
// when it closes a kept connection, since no task is there to write it.
//
// # HTTP/2
//
// Over TLS a server chooses between HTTP/2 and HTTP/1.1. The first connection to a server is
// awaited before others are made: over HTTP/2 it serves them all, as streams, and another is made
// only while it takes no more. No task belongs to a connection: of the tasks that wait for its
// responses one reads for all, and what a server does not take at once is sent by the loop, while
// nobody waits. A server that asks for HTTP/1.1, by 421 or HTTP_1_1_REQUIRED, gets it for an hour.
// The client sends a request again that a server has not looked at (REFUSED_STREAM, GOAWAY), as
// often as it takes while the server takes others. If the server refuses a stream, the connection
// carries no more requests at once than are open then. If a connection ends with requests under
// way, the next one begins with as many at once as that one had served, and with each response it
// may carry one more. While a server allows no requests (SETTINGS_MAX_CONCURRENT_STREAMS is 0),
// they wait over the connection there is, each until its own time is over. Once the time of one is
// over, new ones go over another connection.
//
// A server may send Options.Window of each body, and then what Options.Meter has room for. What has
// arrived is read in any case, so responses that wait for room keep no others from arriving.
//
// # Names
//
// Names are resolved on the loop, by Options.Resolver or by default by package dns. A Resolver of
// the caller's is responsible for sharing and caching look-ups. An Override takes precedence.
//
// # Addresses
//
// Request.Allow decides which addresses a request may be sent to. It is called after the look-up,
// for the very addresses that are connected to; there is no second look-up that could return
// another one. See package guard.
//
// # Cookies and credentials
//
// Cookies come from the jar of Options.Cookies, and cookies that a response sets go there once its
// head has arrived, redirects included. A Set-Cookie field is parsed as browsers parse it, and at
// most 16 KiB of cookies are sent. A Credential goes with every request to its origin, and nowhere
// else. A header field of the caller's takes precedence.
//
// # Proxies
//
// Options.Proxy chooses the proxy of a request. Requests for http are sent to an HTTP proxy, over
// connections that all hosts share; requests for https go through a tunnel, kept for its origin,
// and the proxy learns host and port. SOCKS proxies connect to any host. Except with socks5, the
// proxy looks up names: then only an address in the URL is known here, and Response.Addr is
// invalid. All of this, the proxy's response included, must finish within Options.DialTimeout; its
// errors are of KindProxy. A response that a proxy gives in a server's place, such as a 502, looks
// like the server's, except for a 407.
//
// # Decoding
//
// The codings gzip, deflate (zlib, or raw as browsers accept it), br and zstd are requested and
// decoded, up to four of them one after the other. An empty body is never decoded; bytes after the
// last gzip member are dropped. Of bodies longer than 64 KiB about 1 MiB is decoded in a turn of
// the loop; other work runs in between. A source of more than 256 KiB is decoded off the loop:
// made of empty blocks, it could take seconds. A panic in a decoder becomes an error of that body.
//
// # Tolerance
//
// A response whose body has a doubtful length is refused; otherwise, oddities are read as browsers
// read them: docs/adr/0006-what-is-tolerated-on-the-wire.md has the table.
//
// # Conditional requests
//
// Response.Validators returns the fields with which a later request asks for changes. If nothing
// has changed, the response is a 304 without a body.
//
// # Limits
//
// These are bounded: head and body; the overhead of the chunked coding; the output of each
// decoding step (between two codings 32 times the input, or 64 KiB); the window of zstd (8 MiB);
// interim responses (16, within the limit of the head); fields of a head (2,000); the memory of
// remembered TLS sessions and of the certificates of idle connections (16 MiB each: see Options). A
// connection with a handshake of more than 32 KiB is used once. A body that is too long is an
// error, or with Request.Cut its beginning is returned. Every failure is an *Error with a Kind
// listed in errors.go.
package httpclient

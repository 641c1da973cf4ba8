// Package cookies keeps the cookies of a crawl within limits.
//
// # Vocabulary
//
// A [Jar] is an http.CookieJar: the standard library's with the public suffix list, one for each
// site. A site is a registrable domain. A given cookie comes from a file.
//
// # Rules
//
// A Jar follows RFC 6265 and the following parts of its successor: a Secure cookie can only be set
// and replaced over https, and names that begin with __Secure- and __Host- keep their promises. A
// cookie is sent to the hosts and paths that it was set for, a Secure one over https only.
//
// # Lifecycle
//
// A Jar starts empty, or with what Load has read from a file in Netscape's format, which browser
// add-ons, curl and wget write. It writes nothing: cookies last as long as the Jar.
//
// # Concurrency
//
// Any goroutine may use a Jar: the loops of a crawl share one, so that a session is the same on
// all of them. A call waits for nothing but a short lock.
//
// # Limits
//
// The cookies of a site are bounded, so that no site can fill the memory: 4,096 bytes of name and
// value, 1,024 bytes of path, 180 cookies per registrable domain, 16 MiB in all. Larger cookies
// are dropped. When a domain has too many, the one set longest ago makes room; when the jar is
// full, all cookies of the domain that has set none for longest do. Cookies from a file never make
// room for others.
package cookies

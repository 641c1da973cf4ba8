// Package cookies keeps the cookies of a crawl within limits.
//
// A Jar is an http.CookieJar: the standard library's, with the public suffix list, one
// for each registrable domain. It begins empty, or with what Load has read from a file in
// Netscape's format, which browsers' add-ons, curl and wget write.
//
// # What is taken
//
// What RFC 6265 takes, and of its successor: a cookie that is Secure only from https, and
// the promises of names that begin with __Secure- and __Host-. A cookie goes to the hosts
// and paths that it was set for, and one that is Secure to https alone.
//
// # Limits
//
// What a site sets is bounded, so that none can fill the memory: 4,096 bytes of name and
// value, 1,024 of a path, 180 cookies of a registrable domain, 16 MiB in all. What is
// larger is dropped. When a domain has too many, the one that was set longest ago makes
// room; when all have, so do all cookies of the domain that has set none for longest.
// Cookies of a file never make room for others.
//
// # Concurrency
//
// A Jar may be used from any goroutine: the loops of a crawl share one, so that a session
// is the same on all of them. No call waits for anything but a short lock.
//
// Nothing is written: cookies last as long as the Jar.
package cookies

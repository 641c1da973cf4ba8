// Package serve is a folder of crawls for programs and browsers: an HTTP API, and the page of each
// crawl. Its handlers call the library, and packages crawls, scrape and live; they decide nothing.
//
// # Who asks
//
// A request is made by the holder of a token, who has rights and limits, or, as long as there is no
// token, by anybody on this machine. Its Host is a name of this server, and its Origin, if it has
// one, is this server: other pages of a browser cannot use it.
//
// # Concurrency
//
// Any number of goroutines may use a Server.
package serve

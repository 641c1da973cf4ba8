// Package sites has only tests: crawls of whole sites over real sockets, two of real documentation
// and a synthetic web, which take longer than the other tests of the library.
package sites

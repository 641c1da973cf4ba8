// Package webtest is a synthetic web to crawl: hosts, pages, links in every
// spelling, redirects, dead ends and faults, all drawn from a seed; with the
// servers that answer for it and the truth about what a crawl must find.
//
// Nothing is stored for a page. What it holds is computed from seed, host and
// number when it is asked for, so a web of a million hosts costs nothing to make.
//
//	web, err := webtest.New(webtest.Config{Seed: 1, Hosts: 1000})
//	for url, fate := range web.Truth(webtest.Policy{Robots: true, Agent: "weft"}) { … }
//
// # Vocabulary
//
//   - place: one resource, as numbers: host, kind, number, variant. The link graph
//     is made of places; URLs are their spelling.
//   - fate: what becomes of a URL in a crawl that loses nothing: a status or an error.
//   - manners: how politely a crawler behaved, from the log of the server.
//
// # Lifecycle
//
// New makes a Web. It is served by a Server, on any listener of an event loop, real
// or in memory, or by Run, which has a loop of its own, real sockets and a name
// server. Start is Run for tests.
//
// # What is there
//
// The pages of a host form a tree (page n links to 3n+1 … 3n+3), the living hosts
// form another by their home pages; so all can be reached from host 0, but for what
// faults and robots.txt cut off. All other links are drawn. The home page of host
// 0 links to one of each thing that the configuration has. Host 0 itself always
// lives; its robots.txt closes /private/ and PDF files, and asks for no delay.
//
// # Concurrency
//
// A Web never changes: any goroutine may use it. A Server belongs to one loop. A Log
// and a Running may be used from any goroutine.
//
// # Limits
//
// The truth is walked without any code of the crawler, over places, never over
// URLs. It holds about 50 bytes for each URL. It says nothing about URLs inside a
// trap (Trap tells which these are), nor about robots.txt itself, and assumes that
// the crawler's time-outs are longer than Latency and SlowDelay and shorter than
// its patience for an answer that never ends.
//
// A Log in memory takes about 200 bytes for each request; the command writes lines
// instead.
//
// A Server speaks no TLS. It makes no connection resets: an aio.Conn has none to
// give. The in-memory network does (aiotest.NetOptions.Reset).
package webtest

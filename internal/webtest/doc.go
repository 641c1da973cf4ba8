// Package webtest is a synthetic web to crawl: hosts, pages, links in every spelling, redirects,
// dead ends and faults, all drawn from a seed. It has servers for it, and the ground truth about
// what a crawl must find.
//
// Nothing is stored for a page. Its contents are computed from seed, host and number on request, so
// a web of a million hosts costs nothing to make.
//
//	web, err := webtest.New(webtest.Config{Seed: 1, Hosts: 1000})
//	for url, fate := range web.Truth(webtest.Policy{Robots: true, Agent: "weft"}) { … }
//
// # Vocabulary
//
//   - resource: a node of the link graph, as numbers: host, kind, number, variant. URLs are its
//     spelling.
//   - fate: the outcome of a URL in a crawl that loses nothing: a status or an error.
//   - manners: the politeness of a crawler, from the log of the server.
//   - neighbour: a site, or many, that may hurt a healthy site of the same crawl.
//   - referee: judges politeness during a crawl, in memory that does not grow with the requests.
//
// # Lifecycle
//
// New makes a Web. A Server serves it on any listener of an event loop, real or in memory; or Run
// serves it on a loop of its own, with real sockets and a name server. Start is Run for tests.
//
// # Structure
//
// The pages of a host form a tree (page n links to 3n+1 … 3n+3), and the living hosts form another
// by their home pages. So host 0 leads to everything, except what faults and robots.txt cut off.
// All other links are drawn. The home page of host 0 links to one of each kind of resource that the
// configuration has. Host 0 always lives; its robots.txt closes /private/ and PDF files, and sets
// no delay.
//
// # Concurrency
//
// A Web never changes: any goroutine may use it. A Server belongs to one loop. Any goroutine may
// use a Log, a Referee or a Running.
//
// # Limits
//
// The truth is computed without any code of the crawler, over resources, never over URLs. It takes
// about 50 bytes per URL. It does not cover URLs in a calendar (see Trap) nor robots.txt itself,
// and assumes that the crawler's time-outs are longer than Latency and SlowDelay, and shorter than
// its patience for a response that never ends.
//
// A Log in memory takes about 200 bytes per request; the command writes lines instead.
//
// A Server speaks no TLS and resets no connections, as an aio.Conn cannot. The in-memory network
// can (aiotest.NetOptions.Reset).
package webtest

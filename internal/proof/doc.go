// Package proof crawls a synthetic web that is broad and holds every kind of host, and judges how
// it went: whether each host, domain and address was treated politely, as the servers saw it,
// whether each URL was found and recorded once, how much memory the crawl took, and how near it
// came to the time that politeness itself asks for.
//
// # Vocabulary
//
//   - bound: the longest time that any host, domain or address takes, asked for one URL after
//     the other with a delay between two. No polite crawl is faster.
//   - run: the command from its start until it is killed or ends by itself. The times of a crawl's
//     runs add up.
//
// # Lifecycle
//
// Crawl runs the real command against real sockets of this machine, kills it on the way and
// starts it again. Simulate drives a frontier alone, on virtual time and without a
// socket, so that a million hosts take minutes. Both write a page of Markdown.
//
// # Limits
//
// Crawl needs Linux: it reads /proc. The servers are in the process that judges, and share the
// cores with the command; their CPU time is told apart. What a server sees of a gap is right to the
// time that a request waits in its loop, which is told too: gaps may be shorter by that, and seem
// none the worse.
package proof

// Package proof crawls a broad synthetic web with every kind of host and judges the crawl: whether
// it was polite to each host, domain and address, measured at the servers; whether it found and
// recorded each URL exactly once; how much memory it took; and how close it came to the least time
// that politeness allows.
//
// # Vocabulary
//
//   - bound: the longest time that any host, domain or address takes, one request after the other
//     with a delay between two. No polite crawl is faster.
//   - run: the command from its start until it is killed or ends by itself. A crawl adds up the
//     times of its runs.
//
// # Lifecycle
//
// Crawl runs the real command against real sockets of this machine, kills it on the way and starts
// it again. Simulate drives a frontier alone, on virtual time and without a socket, so that a
// million hosts take minutes. SimulateCluster shares a crawl out to many nodes, with what they own
// and send, on virtual time, too. Beside.Run crawls a healthy site beside a neighbour that may hurt
// it, Over.Run a folder over a real web server. CrawlByNodes crawls with several nodes, each in a
// network namespace of its own, and strikes them on the way. Each writes a page of Markdown.
//
// # Limits
//
// Crawl needs Linux, as it reads /proc. The servers run in the judging process and share the cores
// with the command; their CPU time is reported separately. A server measures gaps exactly up to the
// time that a request waits in its loop, which is reported too: a gap may be shorter by that
// without counting as a violation.
package proof

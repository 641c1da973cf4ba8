// Package fetch is the fetch loops of a crawl: event loops whose workers fetch URLs, read what
// comes back, and report an outcome for each.
//
// # Vocabulary
//
//   - lease: a URL handed to a loop to fetch; or a host's robots.txt, or the address of a name.
//   - outcome: a worker's result of a lease: a record with the links to follow, a request for a
//     retry, or the rules of a robots.txt.
//   - worker: a task that fetches one URL at a time.
//
// # Lifecycle
//
// [NewLoop] makes a loop, [Loop.Run] is its main task. The coordinator posts leases
// ([Loop.Lease]) and what widens the crawl ([Loop.Permit], …), and ends the loop with
// [Loop.Close]. A worker takes a lease, fetches and reads, and reports; the outcomes of one
// turn of the loop go to the coordinator in one message.
//
// # Parts
//
// A [Loop] has workers, and connects parts that own their state:
//
//   - fetcher (worker.go) makes requests, and takes in what comes of them; robotsFetcher
//     (robots.go) does so for robots.txt
//   - pageReader (page.go, sitemaps.go) reads responses, when lines (memory.go) and interleaver
//     (interleave.go) let it
//   - collector (links.go) collects the links of one page, which outlinks (outlinks.go) judges;
//     reach (reach.go) has the private networks they may lead to
//   - originals (duplicates.go), itemFinder (items.go) and archiver (capture.go) see what was read
//   - reports (report.go) go to the coordinator
//
// # Life of an outcome
//
// worker.go makes the request; page.go reads the response (outlinks.go, links.go, sitemaps.go
// find what it leads to); recrawl.go and duplicates.go compare it with what is known; outcome.go
// carries the result; report.go sends it.
//
// # Concurrency
//
// A [Loop] and all that it holds belong to its event loop. [Shared] is the little that the loops
// of a crawl share; each part has a short lock of its own. A loop knows the coordinator only by
// the functions of [Report], which it posts to the coordinator's loop.
//
// # Limits
//
// The first 100,000 links of a page, or 32 MiB of their text, are read; one page at a time while
// the links of others fill memory. Bodies of more than 64 KiB are read in turn, about 1 MiB a turn
// of the loop.
package fetch

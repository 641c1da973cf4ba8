// Package inspect looks at a job: where it stands, its hosts, its URLs, and why a URL has become
// what it is.
//
// # Lifecycle
//
// A [View] reads the job's folder. While the job's crawl runs, in this process, the view asks its
// coordinator, too; what the crawl did in the last tenth of a second need not be saved yet.
//
// A [Listing] lists hosts and URLs. While the crawl runs it reads a snapshot, in the process that
// looks: whatever the length of the list, it costs the crawl no time.
//
// # Concurrency
//
// Any goroutine may use a View or a Listing.
//
// # Limits
//
// A running crawl answers for 256 hosts at a time, and continues its other work in between.
package inspect

// Package view looks at a job: a [View] of where it stands and why a URL has become what it is, a
// [Listing] of its hosts and URLs. Any goroutine may use them.
//
// A View reads the job's folder. While the job's crawl runs, in this process, the view asks its
// coordinator, too; what the crawl did in the last tenth of a second need not be saved yet.
//
// While the crawl runs, a Listing reads a snapshot, in the process that looks; the crawl only
// answers for hosts in its memory, 256 at a time, and continues its other work in between.
package view

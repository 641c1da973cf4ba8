// Package results reads what a crawl has left in the folder of its job, for all that comes after a
// crawl: the last record of each URL, and its body.
//
// It reads files alone, so the crawl may be running; what is committed later is not seen. Without a
// table of URLs in memory, a job of ten million URLs takes some 40 MB.
//
// # Concurrency
//
// Everything belongs to one goroutine at a time. Several may read the same job.
package results

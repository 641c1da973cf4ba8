// Package firecrawl answers the requests of Firecrawl's clients: its API, version 2, as far as Weft
// has the same. What it has not is refused by name, never left out in silence.
//
// The endpoints are scrape, map, crawl with its status, errors and end, active crawls, and batch
// scrape. Fields of requests are rows of tables: one that is not in the table of an endpoint is no
// field of it.
//
// # Concurrency
//
// Any number of goroutines may ask.
package firecrawl

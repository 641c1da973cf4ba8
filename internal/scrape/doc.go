// Package scrape fetches single pages, and lists the URLs of sites, for callers who may be
// strangers: clients of an API, and agents, which do what pages tell them.
//
// # Strangers
//
// What a caller may say is in [Ask] and [MapAsk], and is checked. The rest is the operator's:
// addresses, proxies, who the crawler says it is. Addresses are judged as those of links are, also
// where redirects lead and names resolve to: see package guard. No credential and no cookie of the
// operator's is sent. Those of a caller go to the origin of the caller's URL alone, and the cookies
// that a site sets last as long as the call.
//
// # Texts
//
// What people do not see on a page is left out of its texts, as orders to agents hide there; the
// result counts it. See [read.Unseen].
//
// # Limits
//
// Fetches wait for each other, in all and at one site, and too many that wait are refused. Bodies
// have a limit, pages are read by as many goroutines as there are cores, and what is kept of
// results has a limit in bytes. Every call has a time in which it ends.
//
// # Concurrency
//
// Any number of goroutines may use a Scraper.
package scrape

// Package crawltest is the harness of tests that run a whole crawl: sites to crawl, the crawl, and
// what it leaves behind. A [Web] is pages by URL, crawled over a network in memory on a virtual
// clock, so that hours of waiting take milliseconds; CrawlServed is the same for a test that writes
// the bytes of its server, CrawlSynthetic for a web of package webtest. The other sites serve on
// sockets of this machine.
package crawltest

// Package metrics shows running crawls to monitoring: in the text format of Prometheus, version
// 0.0.4, which its scrapers, those of OpenMetrics and the collector of OpenTelemetry read.
//
// # Series
//
// A table has each series once: name, type, help, and how it is read from the figures of a crawl.
// The label crawl names the folder of its job. No other label has a value from the Web: their
// number is bounded by the program.
//
// # Cost
//
// All who ask within a second share one look at the crawls. When nobody asks nothing is done.
package metrics

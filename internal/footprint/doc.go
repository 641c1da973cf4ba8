// Package footprint has the tests of what a crawl holds in memory: bodies and outcomes keep to
// their share of the budget, and a body that stalls delays no other for long.
package footprint

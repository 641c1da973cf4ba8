// Package content finds the main content of a page.
//
// # Concurrency
//
// The package does no I/O and keeps nothing. Several goroutines may extract from one tree at once.
package content

// Package extract takes fields out of pages: by rules, and from structured data.
//
// # Vocabulary
//
//   - rule: the fields of a kind of pages, and the URLs by which the kind is known.
//   - selector: CSS (package internal/css), or XPath 1.0, which tells itself by its first
//     characters.
//   - item: the fields that a rule has found on a page, or in one of its elements.
//   - structured data: the statements of a page for machines, in JSON-LD, microdata, RDFa Lite,
//     OpenGraph, cards of Twitter and meta elements.
//
// # Limits
//
// A page is parsed once, by [Parse], which bounds its size and its nesting. All that looks for
// something on it shares a number of steps, some for each element and millions on top; XPath walks
// over a page by steps that count, too. A value has at most [MaxValue] bytes, all values of a page
// [MaxPage]; what is cut, and what could not be read, is noted in the first item of the page.
// Regular expressions are Go's, linear in the text.
//
// # Concurrency
//
// An [Extractor] does not change: any number of goroutines may use it. A page belongs to one call.
package extract

// Package rewrite gives documents other URLs: pages, SVG and style sheets.
//
// A [Policy] says what becomes of each URL: a replay leads it into itself, a mirror to a file. All
// that is no URL keeps its bytes, but for what would stop a browser from following the new ones:
// the digests of what is loaded (integrity), policies of the site (crossorigin,
// Content-Security-Policy), and ping, which tells a server of each click.
//
// # Limits
//
// Time is linear in the document, and what it grows by is bounded: see [MaxAdded]. Documents in one
// another (srcdoc) are rewritten four deep, and up to 1 MiB.
package rewrite

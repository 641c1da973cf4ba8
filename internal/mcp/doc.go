// Package mcp offers live pages, and jobs on the disk, as tools for agents, by the Model Context
// Protocol: over standard input and output, or over HTTP.
//
// # Untrusted content
//
// An agent does what it reads, and anybody can write a page. What comes from the Web is therefore
// in a frame: between two lines with a mark that no page can know, after a sentence that says that
// it is data. What people do not see on a page is left out, and counted. See packages scrape and
// unseen.
//
// # Parts
//
// An answer has at most as many tokens as the call allows, estimated as a quarter of its bytes.
// What is left comes with a cursor, a further argument of the same call. The server keeps nothing
// for it: the cursor says where to go on, and a digest of the text tells whether that has changed.
//
// # Jobs
//
// Jobs are below one folder, by their names, which lead nowhere else. Who starts crawls is behind
// the interface Jobs.
//
// # Concurrency
//
// Any number of goroutines may use a Server.
package mcp

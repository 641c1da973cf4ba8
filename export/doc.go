// Package export writes what a job knows in the formats of other tools: CSV, JSON lines, Parquet,
// SQLite, and the link graph as GraphML or a list of edges.
//
// # Tables
//
// A job has five tables: pages, links, hosts, and of the pages the redirects and the errors. Their
// rows are read from pages.jsonl, links.jsonl and the state of the job, one at a time, and written
// as they come. Columns are the fields of the rows by their JSON names.
//
// # Visits
//
// The last record of a URL counts. Which one that is, is found without a table of all URLs: a hash
// of the URL of each line is sorted on disk, with the number of the line; all lines of a URL but
// its last are marked in a bitmap. So a job of ten million URLs needs megabytes. Links that a page
// no longer has, and links that are no edges of the graph, are found in the same way.
//
// # Concurrency
//
// A call uses one goroutine, and the job.
package export

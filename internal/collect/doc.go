// Package collect merges what the nodes of a crawl have left in the folders of their jobs into one
// folder.
//
// The folder has the records, links, items, bodies and archives of all nodes, each URL once: a page
// that two nodes have fetched, since one of them died before it could tell, counts as fetched last.
// It is no job: no crawl continues it. What reads the results of a job (package results) reads it.
package collect

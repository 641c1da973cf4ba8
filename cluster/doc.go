// Package cluster connects the nodes of a crawl by NATS JetStream.
//
// # Vocabulary
//
//   - servers: those of NATS, which carry what goes from node to node. A crawl has a name there.
//   - node: a process with a job folder, which crawls some partitions of the crawl: see package
//     ownership.
//   - bucket: the key-value store of a crawl: its plan, its nodes, the owners of partitions.
//   - links: messages with URLs for the owner of a partition. They are there until their URLs are in
//     its log.
//   - log: the changes of a partition: see package changelog. Who takes a partition over reads it.
//
// See docs/adr/0035-clusters.md for what happens in which order, and why nothing is lost.
//
// # Concurrency
//
// A [Client] and a [Crawl] may be used by any goroutine.
package cluster

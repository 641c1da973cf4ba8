// Package cluster connects the nodes of a crawl by NATS JetStream.
//
// # Vocabulary
//
//   - servers: those of NATS, which carry what goes from node to node. A crawl has a name there.
//   - node: a process with a job folder, which crawls some partitions of the crawl: see package
//     ownership.
//   - bucket: the key-value store of a crawl: its plan, its nodes, the owners of partitions.
//   - links: messages with URLs for the owner of a partition. They are there until their URLs are
//     in its log.
//   - log: the changes of a partition: see internal/shard/changelog. Who takes a partition over
//     reads it.
//
// See docs/adr/0035-clusters.md for what happens in which order, and why nothing is lost.
//
// # Parts
//
// Calls run from a row to rows below it. What comes back up is a function that the row above has
// given, and runs on the loop of its owner.
//
//	Crawl                        joins, and joins again after a cut
//	node                         the loop of this process: keys and ticks in, calls to its parts
//	quota ending reporter …      parts of the node, with the node lease and the addresses
//	partitions                   one operation after another for each partition
//	takeover                     what these operations do: logs, and the engine
//	inbox  outbox  logReader     links in; changes out; logs in
//	recorder, linkSender         messages of logs and links, as one process writes them
//	requests, watch              repeated requests; keys of the bucket as they change
//	remote                       what a crawl has on the servers. Client, for people, is beside node
//	servers                      a connection
//
// # Concurrency
//
// A [Client] and a [Crawl] may be used by any goroutine. A node's state belongs to the goroutine of
// its loop, and the outbox's to that of another loop; others leave these loops functions, in a
// mailbox. What takes time, such as a request to the servers, is an operation: a function on a
// goroutine of its own, which owns nothing, and returns what the loop is to do then. Where
// goroutines meet otherwise is a list in internal/archtest, with a reason for each file.
package cluster

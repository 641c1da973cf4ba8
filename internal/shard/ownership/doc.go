// Package ownership says who owns which partition of a crawl, as a state machine without I/O.
//
// # Vocabulary
//
//   - node: one process of the crawl. Its ID names its job folder; its incarnation, the process.
//   - beat: a node's write under its key every [Config.Beat], to say that it is alive.
//   - epoch: the revision of a partition's key at which its owner was written. It is the fencing
//     token: all that an owner writes for a partition bears it.
//   - drain: lease nothing more of a partition, and wait for what is in flight.
//
// # The store
//
// A key-value store has a key for each node and one for each partition, with revisions that grow
// over all keys. A write names the revision that it replaces, and is refused if the key has
// another. Everything that must not happen twice is decided by such a write, so a view that is
// late, or one that lacks entries, makes a node slow and never wrong.
//
// # Life of a node
//
// A [Node] is told what the store shows ([Node.See]) and how its writes went ([Node.Wrote],
// [Node.Failed]). [Node.Tick] returns what to write, and what the process has to do. Its key is
// written first. From then on, it takes the partitions that nobody owns and hands over those that
// others lack: all nodes compute the same balance from the same view. A node is given only as many
// at a time as it can soon start. [Node.Leave] hands all over.
//
// # Death
//
// A node whose key has not changed for [Config.TTL] is written dead by whoever sees it first,
// against the revision of its last beat: either the beat or the death is in the store. The
// partitions of the dead are free to take. A node that has not renewed its beat for two thirds of
// the TTL pauses: it neither fetches nor commits ([Node.Acts]). Whoever waits for a death counts
// only the time in which it has renewed its own beat and was called at least once a beat. So nobody
// is declared dead for an outage of the store, or by a process that was asleep or whose clock
// jumped.
//
// # Time
//
// Each process passes its own monotonic time, and no time is compared with that of another machine.
// The clocks may differ in speed by a quarter. Two nodes never act for a partition at once, as long
// as clocks go on while a process or its machine is suspended (on Linux, CLOCK_BOOTTIME does).
// Where they do not, or where a process is stopped between asking Acts and acting, the epoch keeps
// its writes from counting.
//
// # Cost
//
// A Tick does work in proportion to partitions and nodes, and only after something has changed; a
// beat is all that a cluster at rest writes.
//
// # Concurrency
//
// A Node belongs to one goroutine.
package ownership

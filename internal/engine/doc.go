// Package engine runs a crawl: one coordinator, which owns the frontier, and the fetch loops, which
// own their workers.
//
// # Vocabulary
//
//   - coordinator: the task that owns the frontier. Outcomes come in, leases go out.
//   - committer: the task through which every output of a job goes, in batches.
//   - batch: the changes of at most 50 ms, saved together or not at all.
//   - admission: outcomes and seeds on their way into the frontier, which may first need to read
//     the store.
//   - slot: the part of Concurrency that a lease takes.
//   - node: an engine that has some partitions of a crawl: see [Node]. What it finds for others,
//     and what must outlive its disk, goes with each batch into the outbox of the store.
//
// # Lifecycle
//
// [New] makes a [Crawl]; [Crawl.Run] runs the coordinator and each fetch loop on an event loop of
// its own, [Crawl.RunOn] runs all of them as tasks of one loop. The crawl ends when nothing is
// pending and nothing is leased: a count, never a timeout. A node ends when it is told so.
//
// # Parts
//
// The [Coordinator] connects parts, each of which owns its state: a file has one of them, with its
// behaviour. They call each other in one direction, from the first of these lines to the last:
//
//   - crawl.go, node.go: the doors, for any goroutine
//   - coordinator.go: what goes on, and what ends
//   - sharing.go, addresses.go: the crawl as one of several nodes
//   - outcomes.go, seeds.go: what comes in
//   - dispatch.go, refusals.go: what goes out, and what does not
//   - promises.go, again.go, links.go, traps.go, reach.go: what outcomes lead to
//   - admission.go: the way into the frontier
//   - outage.go, progress.go: what outcomes say of the network, and of the crawl
//   - commit.go, batch.go: the way to the disk
//   - pause.go, ending.go, loops.go, slots.go, clock.go: what the others stand on
//
// A part reaches those before it by functions that the coordinator gives it, such as dispatch.
//
// # Life of an outcome
//
// outcomes.go takes it from its fetch loop into the frontier and the open batch; commit.go saves
// that batch; dispatch.go hands out the next leases.
//
// # Concurrency
//
// The [Coordinator] and all that it holds belong to its event loop. A [Crawl] is the door: any
// goroutine may use it.
//
// # Limits
//
// A fetch loop never has more leases than workers, which bounds what is in flight between the
// loops. While a commit runs and 100 ms of work, or a batch's share of memory, waits for the next,
// no fetch starts.
package engine

// Package share says which node of a crawl may request from an address, as state machines without
// I/O.
//
// Hosts of one address may be of several partitions, and so of several nodes. A node asks before
// its first request to an address, and holds the address from then on; its frontier keeps the pace
// there as if it were alone. When another node asks, the holder gives the address up after a
// quantum, once nothing is in flight there and the delay is over. So all nodes together keep the
// pace of one machine.
//
// # Vocabulary
//
//   - process: one run of a node, as package ownership has it.
//   - home of an address: the owner of the partition that the address falls into. It knows who
//     holds it.
//   - to hold: only the holder starts requests. To rest: nothing is in flight, and the delay is
//     over.
//   - quantum: the time for which a holder may go on while others wait.
//   - table: the addresses of a partition as its home knows them, in one epoch. It is complete once
//     every process has declared what it holds of them.
//
// # The bound
//
// At most one process holds an address, whatever becomes of messages, processes and partitions. As
// long as a process lives, it gives an address up only when that rests. What an ended process held
// is free once the store says that it has ended, which frees its partitions, too; after that,
// nobody requests from the address for a delay.
//
// # Why that is right
//
// Nothing here depends on clocks: a process holds an address as long as its lease holds (package
// ownership), and the key-value store says when that has ended.
//
// Within one epoch, the home decides alone. Asks have numbers: a release counts only if the process
// has asked for nothing later, and a grant only if it is the reply to an ask that still waits.
//
// When a partition changes hands, holders go on. The new home grants nothing until its view of the
// store has come to its epoch and every process that runs in that view has declared what it holds.
// Whoever holds something has asked the home before, which granted it only to a process that it saw
// running: that one's key is older than the epoch. A process declares after it has seen the epoch,
// and then takes no grant of an earlier one. So a home that does not know yet that it has been
// replaced does no harm: whoever takes its grant declares it later.
//
// # Cost
//
// An address costs an ask and a reply of some 14 bytes each when it is taken into use, a release
// when it is given up, and nothing in between. One that several nodes want costs about six of these
// for each quantum, and two a second for each that waits. All that goes from one process to another
// within [Gather] is one message. A home has an entry for each address that is held or waited for,
// a holder for each that it holds or waits for. If a release is lost, the home's entry stays until
// another process wants the address, or its holder ends.
//
// # Concurrency
//
// A Home belongs to the goroutine of its node, a Holder to the loop of its frontier.
package share

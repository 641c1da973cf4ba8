// Package sending says which messages of a node's outbox go out at once, and when.
//
// # Order
//
// The links and new URLs that a commit has found go first. When the servers have acknowledged all
// of them, the URLs that the commit has done may follow. So if a log says that a page is done, the
// page's links are safe.
//
// # Phases
//
// A phase is the messages that go out at once: all that waits of what was found, by however many
// commits, and all that the commits before the first of these have done. Commits that wait together
// thus become one: what they have for a partition shares one message on the servers, and what is
// done shares it with what was found next.
//
// That keeps the order. If a phase has what a commit has done, an earlier phase had all that the
// commit has found, and was acknowledged as a whole before this one began. Within the log of a
// partition, what one commit has found may come before what an earlier one has done. The two are
// about different URLs: a URL that was found, or that moves because a shorter way to it was found,
// was not tried before.
//
// # Time
//
// In the time for which commits gather, a node sends at most one message for each partition. So
// after a phase of m messages it pauses for m/partitions of that time. A node with little to send
// hardly pauses; one that commits faster merges its commits. A phase begins before the pause is
// over if what was found has waited one and a half times the gathering time, if somebody waits for
// it, or if mostBytes wait.
//
// What is done waits for the next phase with something found, for at most two and a half gathering
// times. If the servers are slow, it waits for less: three gathering times minus twice what the
// last phase took. Three seconds, with a gathering time of one, are engine.MaxUndelivered. If it is
// only a few messages, it does not wait.
package sending

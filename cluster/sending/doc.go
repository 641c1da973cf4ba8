// Package sending says which messages of a node's outbox go out at once, and when.
//
// # Order
//
// What a commit has found, which is links and new URLs, goes first. When the servers have acknowledged all of
// it, what the commit has done may follow. So if a log says that a page is done, the page's links are safe.
//
// # Phases
//
// What goes out at once is a phase: all that was found and waits, of however many commits, and all that is done
// of the commits before the first of these. Commits that wait together thus become one: their messages for a
// partition share a message of the servers, and what is done shares one with what was found next.
//
// That keeps the order. Whatever is done in a phase, what its commit has found went out in an earlier phase,
// which was acknowledged as a whole before this one began. Within the log of a partition, what one commit has
// found may come before what an earlier one has done. The two are about different URLs: a URL that was found,
// or moved because a shorter way to it was found, was not tried before.
//
// # Time
//
// A node sends at most a message for each partition in the time for which commits gather. So a phase of m
// messages is followed by a pause of m/partitions of that time. A node with little to send pauses for next to
// nothing; one that commits faster merges its commits. A phase begins before the pause is over if what was found
// is one and a half times as old as that, if somebody waits for it, or if mostBytes wait.
//
// What is done waits for the next phase of what was found, until it is two and a half times as old, or less if
// the servers are slow: twice the time that the last phase took is to be left of three times. At a second for
// gathering, that is engine.MaxUntold. It waits for no others if it is a few messages.
package sending

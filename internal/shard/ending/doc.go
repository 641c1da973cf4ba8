// Package ending says whether a crawl of many nodes is over: by a count, never by a time-out.
//
// # Idle nodes
//
// A node is idle when nothing of its partitions is pending or leased, every message that it has
// taken in is acknowledged, and the streams have acknowledged everything that it sends, changes for
// the logs included. Only a message, or a partition, ends idleness, and only a node with work sends
// messages. So the crawl is over if, at one instant, all nodes are idle and no stream has a message
// that is not acknowledged. No such instant can be seen: beats are old when they arrive, and
// streams are read one after another.
//
// # The question
//
// A [Judge] asks in three steps.
//
//  1. All nodes say in their beats that they are idle, and each partition is one that its owner has
//     started at the epoch in the store.
//  2. Then the streams are read: none has a message that is not acknowledged.
//  3. Then the asking node writes a beat, and all nodes answer, at once, with a beat that they
//     composed after they had seen it. If all are idle still, and none has had work in between
//     (Wakes), nor has a partition changed hands (Digest), the crawl was over before step 2.
//
// # Why that is right
//
// Each node was idle from the beat of step 1 to the one of step 3, as Wakes counts every end of
// idleness: during step 2 none had work, none sent, and none acknowledged anything it had not
// finished before. A message that was not acknowledged when step 2 began was therefore found in its
// stream. A node that has died or was cut off is no exception: what it had not finished is pending
// with the node that has taken its partitions, or the digests differ.
//
// # Limits
//
// The digest has 64 bits. Seeds count as work of the node that brings them in, until the
// streams have them; whoever asks has to know that there were any.
package ending

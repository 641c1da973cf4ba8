// Package torture looks at what a crawl has left behind that was killed, or whose disk
// has failed, or whose machine has crashed: nothing may be lost, and nothing be there
// twice.
//
// # Vocabulary
//
//   - left: a job's outputs and its state, as they are after the next opening has cut
//     what was not committed.
//   - whole: what a finished crawl must have left, by the ground truth of the web it crawled.
//
// # Tests
//
// The test of this package kills the real command at random instants while it crawls a
// synthetic web over real sockets, and looks after each kill. WEFT_KILLS says how often; with
// WEFT_REPORT, the name of a file, a report is written there. The tests of package weft
// use this one too, for disks in memory that crash and fail at each of their operations:
// at some of them, or at all with WEFT_LONG=1. make torture has all of it.
package torture

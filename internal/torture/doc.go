// Package torture checks what a crawl leaves behind when it is killed, when its disk fails, or when
// its machine crashes: nothing is lost, and nothing is recorded twice.
//
// # Vocabulary
//
//   - left: a job's outputs and state after the next opening has cut what was not committed.
//   - whole: the state of a finished crawl that has left all it must, by the ground truth of the
//     synthetic web.
//
// # Tests
//
// The test of this package kills the real command at random instants while it crawls a synthetic
// web over real sockets, and checks what is left after each kill. WEFT_KILLS sets the number of
// kills; WEFT_REPORT names a file for a report. The tests of package weft use this package too, for
// disks in memory that crash and fail at some of their operations, or at all of them with
// WEFT_LONG=1. make torture runs everything.
package torture

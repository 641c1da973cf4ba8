// Package job is a crawl on disk: one folder with its outputs, its frozen options, its history
// and the state from which it resumes.
//
// # Vocabulary
//
//   - plan: the options that decide which URLs belong to the crawl and what their records contain.
//     The first run freezes it; later runs must give the same plan, or amend it.
//   - history: the results of the runs so far.
//   - visit: one pass over all URLs. A recrawl of a finished job starts the next one.
//   - note: a named value in the store, in addition to the frontier's state.
//
// # Lifecycle
//
// [Open] starts a job, or resumes the one in the folder; [View] opens one to look at. The
// coordinator writes to its store; [Job.Close] ends that.
//
// # Concurrency
//
// A Job belongs to the coordinator. KeepBody and KeepPicture may be called from any goroutine.
//
// # Limits
//
// One process at a time has the job open; another waits for up to 5 seconds while somebody
// looks at it. Every mistake in the folder is an [OptionError] that names the folder.
package job

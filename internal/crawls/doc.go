// Package crawls keeps the crawls of a folder, and the processes that carry them out.
//
// # Files
//
// A crawl NAME has, in the folder:
//
//	NAME.json  what was asked for, and what became of it
//	NAME.toml  its options, for weft crawl --config
//	NAME.weft  its job
//	NAME.changes/N.jsonl  what has changed at visit N
//	NAME.hook  what is told of it elsewhere, if anything: see package webhook
//	NAME.log   what its process prints
//
// NAME.json is written first, as a whole: from then on the crawl is known, and is carried out
// whatever happens to this process. A NAME.toml without it is a crawl that the operator asks for.
//
// # Processes
//
// A crawl is carried out by a process of its own, weft crawl, which a kill of this process leaves
// alone. It holds the lock of NAME.log, which it has inherited: whoever opens the folder next knows
// by that lock that the crawl runs, from before the process has started until it has ended, and
// waits for that. What ended meanwhile is started again: a job that is finished requests nothing.
//
// # Visits
//
// A crawl with a schedule (package schedule) is visited again by weft crawl --update. NAME.json has
// the time of the next visit and the numbers of the last one that has begun, ended, been compared
// with the one before, and been told to the operator's command. A visit that begins is on the disk
// with the time of the next before its process starts; whether that has begun the visit, its job
// says. What follows a visit is done as long as its number is behind: at least once. The next visit
// waits for the comparison.
//
// # Concurrency
//
// Any goroutine may use a Folder. Run is called once.
package crawls

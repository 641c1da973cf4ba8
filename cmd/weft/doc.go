// Command weft is the crawler. README.md shows it to those who use it; this is for
// those who read it.
//
// Each sub-command is a file. It turns flags into the options of a package, runs
// that, and says what came of it. Nothing else that it links reads os.Args, the
// environment or signals.
//
// # Vocabulary
//
//   - data: what was asked for, on standard output or in a file. All else goes to
//     standard error.
//   - console: who talks on standard error, as text or as JSON.
//   - screen: the console's few lines on a terminal that are drawn again and again.
//   - held: of a host, let alone for a while because it asked for that or was overloaded.
//   - sample: the crawl's counters at a moment, and the rates of the last seconds.
//
// # Lifecycle
//
// Flags are checked one by one while they are read (flags.go), and together by
// weft.New; until then nothing is written. What is wrong is one line that names the
// flag and what was expected (errors.go), and exit code 3. A signal while weft.New is at
// work ends the process. Then the crawl runs, watched by the console (progress.go,
// screen.go), until it is over or signals end it (run.go); the report comes last. Of a job
// that is finished there is the report only.
//
// # Concurrency
//
// The crawl has loops of its own, and calls the console from the desk's. Beside it
// run a goroutine for signals, one that samples, and the one that runs the demo's
// site. All end before the report is printed, but that which waits for Ctrl-Z
// (suspend.go), and that which waits for signals: it ends the process if the crawl
// has not ended some time after the second.
//
// # Limits
//
// A line of a seed list: 1 MiB. Lines that wait for a terminal that does not take
// them: 10,000, then they are counted and dropped.
package main

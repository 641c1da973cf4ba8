// Command weft is the crawler. README.md introduces it to users; this is for its readers.
//
// Each sub-command is a file. It turns flags into the options of a package, makes the call
// and prints the result. Nothing else that the command links reads os.Args, the environment
// or signals.
//
// # Vocabulary
//
//   - data: the results that the user requested, on standard output or in a file. Everything else
//     goes to standard error.
//   - option: a flag, with all that is known about it: see option.go. The help, the manual,
//     completion and error messages read it.
//   - console: prints on standard error, as text or JSON.
//   - screen: the console's few lines on a terminal that are redrawn.
//   - sample: the crawl's counters at a moment, and the rates of the last seconds.
//   - held: a host that backs off, at its own request or after an overload.
//   - sheet, table: the two forms of columns: see columns.go.
//
// # Lifecycle
//
// Each flag is checked when it is parsed (parse.go), all together by weft.New; nothing is
// written before. A mistake is one line that names the flag and what was expected (errors.go),
// and exit code 3. While weft.New runs, a signal ends the process. Then the crawl runs, and the
// console shows its progress (progress.go, screen.go), until it ends or a signal ends it
// (run.go). The report comes last; for a finished job, it is all there is.
//
// # Concurrency
//
// The crawl has event loops of its own, and calls the console from the coordinator's. In
// addition there are goroutines: one for signals, one that takes samples, and the demo's site.
// All end before the report, with two exceptions: the one that waits for Ctrl-Z (suspend.go),
// and the one that waits for signals, which ends the process if the crawl does not end some
// time after the second.
//
// # Limits
//
// A line of a URL list: 1 MiB. Lines that wait for a slow terminal: 10,000; further ones are
// counted and dropped.
package main

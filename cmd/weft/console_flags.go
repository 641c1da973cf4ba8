package main

import "time"

// consoleFlags are about the output on standard error.
type consoleFlags struct {
	quiet, verbose bool
	format         string
	interval       time.Duration // between two lines of progress: see console
}

func (c *consoleFlags) options() []option {
	return []option{
		{name: "quiet", short: "q", Value: on(&c.quiet), help: "print only errors"},
		{name: "verbose", short: "v", Value: on(&c.verbose), help: "print a line for each URL"},
		{name: "log-format", arg: "FORMAT", Value: to(&c.format, oneOf("text", "json")),
			words: []string{"text", "json"}, advanced: true,
			help: "write messages on stderr as text or json", def: "text"},
		{name: "log-interval", arg: "D", Value: to(&c.interval, durationOrNever), advanced: true,
			help: "print progress every D where there is no terminal", def: "5s",
			more: "D may be never."},
	}
}

func (c *consoleFlags) check() error {
	if c.quiet && c.verbose {
		return usage("--quiet and --verbose: expected one of them")
	}
	return nil
}

package main

// consoleFlags say what is printed on standard error.
type consoleFlags struct {
	quiet, verbose bool
	format         string
}

func (c *consoleFlags) options() []option {
	return []option{
		{name: "quiet", short: "q", Value: on(&c.quiet), help: "print only errors"},
		{name: "verbose", short: "v", Value: on(&c.verbose), help: "print a line for each URL"},
		{name: "log-format", arg: "FORMAT", Value: to(&c.format, oneOf("text", "json")),
			words: []string{"text", "json"}, advanced: true,
			help: "write messages on stderr as text or json", def: "text"},
	}
}

func (c *consoleFlags) check() error {
	if c.quiet && c.verbose {
		return usage("--quiet and --verbose: expected one of them")
	}
	return nil
}

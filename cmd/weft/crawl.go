package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

// crawlFlags are those of weft crawl.
type crawlFlags struct {
	options       weft.Options
	client        clientFlags
	console       consoleFlags
	input, output string
	update        string // a job
}

func crawlCommand() *cobra.Command {
	var f crawlFlags
	cmd := &cobra.Command{
		Use:   "crawl [flags] URL...",
		Short: "Crawl the sites of the given URLs",
		Long: `Crawl fetches the given URLs and the pages that links lead to, each once, as
far as the scope goes. When a URL is finished, a line of JSON is added to
JOB/pages.jsonl, or a record written where -o says.

Ctrl-C finishes what is under way and ends; a second one stops at once. However a
crawl has ended, be it that it was killed or that the power went, the same command
goes on with it: no URL is lost, and none stands in pages.jsonl twice. A list of
URLs is then read again, and those that are known are passed over. Of a job that is
finished, the command tells what has come of it, and crawls nothing.

With --update, a job that is finished is visited again: every URL it knows, asked for
only if it has changed where the site can tell, and what they lead to by then. The
records are added, and say whether each is unchanged, changed, gone or new. A visit
that has ended early, the first one too, goes on with the same command, or without
--update; the next one begins when it is finished.

Exit status: 0 done, 1 error or no seed could be fetched, 3 wrong usage,
4 stopped by --limit or --max-time, 5 interrupted. What the error kinds of the
records mean, weft help kinds tells.`,
		Example: `  weft crawl https://example.org/
  weft crawl --scope domain -d 3 --exclude '[.](zip|iso)$' https://example.org/
  weft crawl --update example.org.weft -o - | jq -r 'select(.change == "changed").url'
  weft crawl --scope page -i urls.txt -o - | jq -r '[.status, .url] | @tsv'`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	f.register(&groups{cmd: cmd})
	for name, words := range map[string][]string{
		"scope":      {"page", "prefix", "host", "domain", "any"},
		"duplicates": {"off", "same", "near"},
		"format":     {"jsonl", "urls", "csv"},
		"log-format": {"text", "json"},
	} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

func (f *crawlFlags) register(g *groups) {
	o := &f.options
	g.group("Where it goes", func(s *pflag.FlagSet) {
		flag(s, &f.input, "input", "i", "FILE", "", some("a FILE, or - for standard input"), "of URLs, one a line, beside those given; - is standard input (default none)")
		flag(s, &o.Scope, "scope", "", "SCOPE", "host", oneOf(weft.ScopePage, weft.ScopePrefix, weft.ScopeHost, weft.ScopeDomain, weft.ScopeAny),
			"links that are followed: page (none), prefix (below a seed's folder), host,\ndomain (as registered) or any; where a seed redirects is in scope, too")
		repeated(s, &o.Include, "include", "", "RE", expression, "only links that match; repeatable (default all)")
		repeated(s, &o.Exclude, "exclude", "", "RE", expression, "no links that match; repeatable (default none)")
		flag(s, &o.Canon, "canon", "", "RULES", "", canonRules, "of those that weft url --help lists, with commas between them: URLs that they make\nthe same are one page (default none)")
		flag(s, &o.Depth, "depth", "d", "N", "", orNone, "links from a seed, by the way found first; 0: only the seeds (default any number)")
		flag(s, &o.MaxRedirects, "max-redirects", "", "N", "10", orNone, "redirects followed from one link")
		s.BoolVar(&o.PruneDuplicates, "prune-duplicates", false, "follow no links of pages that --duplicates tells, where the other is on the same registrable domain\n(default they are followed)")
		s.BoolVar(&o.NoRobots, "no-robots", false, "do not ask for robots.txt, and follow what says nofollow (default both are obeyed)")
		s.BoolVar(&o.Sitemaps, "sitemaps", false, "follow what sitemaps tell of: those that a host's robots.txt names, or /sitemap.xml\n(default not)")
	})
	g.group("Traps", func(s *pflag.FlagSet) {
		flag(s, &o.MaxURLLength, "max-url-length", "", "N", "2048", number(1), "bytes of a URL that is followed, at most 16384")
		flag(s, &o.MaxPathDepth, "max-path-depth", "", "N", "20", orNone, "segments of its path; 0: any number")
		flag(s, &o.MaxRepeats, "max-repeats", "", "N", "3", orNone, "times that one of them may come over and over, as in /x/x/x or /x/1/x/2/x/3; 0: any number")
		flag(s, &o.MaxVariants, "max-variants", "", "N", "10000", orNone, "URLs taken that differ only behind their first ; or ?; 0: any number")
	})
	g.group("When it stops", func(s *pflag.FlagSet) {
		flag(s, &o.Limit, "limit", "", "N", "", number(1), "URLs fetched (default any number)")
		flag(s, &o.LimitPerHost, "limit-per-host", "", "N", "", number(1), "URLs fetched of one host, its sitemaps too (default any number)")
		flag(s, &o.MaxTime, "max-time", "", "D", "", duration, "time after which no fetch is begun; those under way are finished, which --timeout bounds (default any)")
	})
	g.group("Pace", func(s *pflag.FlagSet) {
		flag(s, &o.Concurrency, "concurrency", "c", "N", "", number(1), "requests under way at once (default 64, fewer where descriptors are short; beside these, up to 15 times\nas many that have been under way for more than a second)")
		flag(s, &o.PerHost, "per-host", "", "N", "", number(1), "of these, to one host (default 2, more while its response time holds)")
		flag(s, &o.PerDomain, "per-domain", "", "N", "", number(1), "the same, to all hosts of one registrable domain together (default as for a host)")
		flag(s, &o.PerAddress, "per-address", "", "N", "", number(1), "the same, to all hosts on one address; not behind a proxy (default as for a host)")
		flag(s, &o.Delay, "delay", "", "D", "", durationOrZero, "at least, between a host's response and its next request; robots.txt may ask for more\n(default what it asks for)")
		flag(s, &o.DomainDelay, "domain-delay", "", "D", "", durationOrNone, "the same for all hosts of one registrable domain together (default that of --delay)")
		flag(s, &o.AddressDelay, "address-delay", "", "D", "", durationOrNone, "the same for all hosts on one address; not behind a proxy (default that of --delay)")
		flag(s, &o.RateLimit, "rate-limit", "", "N", "", rate, "requests a second, to all hosts (default any number)")
		flag(s, &o.Retries, "retries", "", "N", "2", orNone, "tries after the first, when an error may pass")
		flag(s, &o.Memory, "memory", "", "SIZE", "512MiB", size, "that the crawl may take, whatever its size; while bodies have filled their part\nof it, no fetch is begun")
	})
	f.client.register(g)
	g.group("Output", func(s *pflag.FlagSet) {
		flag(s, &o.Job, "job", "", "DIR", "", some("a folder"), "folder of the crawl: its records and its state, from which the same command\ngoes on after an end of any kind (default ./HOST.weft, or none with -o)")
		flag(s, &f.update, "update", "", "DIR", "", some("the folder of a job"), "visit the job in DIR again: its URLs, and what is new (default not)")
		s.BoolVar(&o.Fresh, "fresh", false, "start over: what the folder has of an earlier crawl is removed (default not)")
		s.BoolVar(&o.Amend, "amend", false, "go on, with further URLs and --exclude (default both as the job was begun)")
		flag(s, &o.MinFree, "min-free", "", "SIZE", "", size, "pause while less is free on the disk of the job (default none)")
		flag(s, &f.output, "output", "o", "FILE", "", some("a FILE, or - for standard output"), "for the records; - is standard output (default none)")
		flag(s, &o.Format, "format", "", "FORMAT", "jsonl", oneOf(weft.FormatJSONL, weft.FormatURLs, weft.FormatCSV), "of -o: jsonl, urls (those answered with a 2xx) or csv")
		s.BoolVar(&o.KeepLinks, "links", false, "keep every link of every page, in JOB/links.jsonl (default not)")
		s.BoolVar(&o.KeepBodies, "bodies", false, "keep bodies, in JOB/bodies (default not)")
		flag(s, &o.Duplicates, "duplicates", "", "WHAT", "same", oneOf(weft.DuplicatesOff, weft.DuplicatesSame, weft.DuplicatesNear),
			"tell in the records which pages are those of other URLs: same, with the same body; near,\nor with nearly the same text, which takes a fifth to a half more CPU; off, none")
		f.console.register(s)
		s.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
}

// run checks what the flags say together, and crawls.
func (f *crawlFlags) run(args []string) error {
	if err := f.console.check(); err != nil {
		return err
	}
	o := f.options
	if err := f.client.configure(&o); err != nil {
		return err
	}
	if f.output == "" && o.Format != "" {
		return misused("format", string(o.Format), errors.New("expected an output to write in that format, such as -o -"))
	}
	if f.update != "" {
		if o.Job != "" {
			return usage("--update and --job: expected one of them")
		}
		if o.Fresh {
			return usage("--update and --fresh: expected one of them")
		}
		o.Job, o.Update = f.update, true
	}
	limitMemory(o.Memory)
	con := newConsole(f.console, f.output)
	first := ""
	var seeds *list
	switch {
	case f.input != "":
		list, err := openList(f.input, con.warn)
		if err != nil {
			return err
		}
		defer list.Close()
		seeds, first, o.SeedSeq = list, list.first, list.urls
	case len(args) == 0 && (o.Job == "" || o.Fresh): // a job knows where it began
		return usage("crawl: no URL given, expected one such as https://example.org/, or -i FILE")
	}
	o.Seeds = args
	if len(args) > 0 {
		first = args[0]
	}
	if o.Job == "" && (f.output == "" || o.KeepLinks || o.KeepBodies) {
		u, _, err := weft.ParseSeedCredential(first)
		if err != nil {
			return &exit{exitUsage, err}
		}
		o.Job = weft.JobName(u)
	}
	out, err := openOutput(f.output)
	if err != nil {
		return err
	}
	if seeds != nil && out.is(seeds.file) {
		out.discard()
		return misused("output", f.output, errors.New("expected another file than that of --input"))
	}
	o.Output = out.Writer
	o.Hooks = con.hooks()
	c, err := con.begin(o, out)
	var wrong *weft.OptionError
	switch {
	case errors.Is(err, weft.ErrJobUnusable):
		return &exit{exitError, byFlag(err, o.Update)}
	case errors.As(err, &wrong) && wrong.Option == "Seeds" && len(args) == 0 && f.input == "":
		return usage("crawl: no URL given, expected one such as https://example.org/, or the folder of a job")
	case err != nil:
		return &exit{exitUsage, byFlag(err, o.Update)}
	}
	return con.crawl(c, out, f.input != "" || o.Amend)
}

// configure hands the client's options to the crawl.
func (c *clientFlags) configure(o *weft.Options) error {
	own, err := c.client()
	o.Timeout, o.DialTimeout, o.TLSTimeout = own.Timeout, own.DialTimeout, own.TLSTimeout
	o.FirstByteTimeout, o.IdleTimeout, o.MinRate = own.FirstByteTimeout, own.IdleTimeout, own.MinRate
	o.MaxBody, o.UserAgent, o.Header = own.MaxBody, own.UserAgent, own.Header
	o.Cookies, o.Auth, o.Proxy = own.Cookies, own.Auth, own.Proxy
	o.Insecure, o.RootCAs = own.Insecure, own.RootCAs
	o.Resolve, o.DNS, o.AllowPrivate = own.Resolve, c.servers, c.allowPrivate
	return err
}

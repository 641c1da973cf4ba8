package main

import (
	"cmp"
	"slices"
	"sync"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/warc"
)

// crawlFlags are the options of weft crawl.
type crawlFlags struct {
	options       weft.Options
	client        clientFlags
	console       consoleFlags
	monitor       monitorFlags
	input, output string
	anyDepth      bool   // --depth 0 was given
	noAssets      bool   // --assets none was given
	strict        bool   // a line of the input that is no URL ends the crawl
	update        string // the folder of a job
	retry         retryFlags
	forCheck      bool   // weft check says what came of it
	ofFiles       bool   // and its seeds are links of files
	mirror        string // the folder that weft mirror writes what came of it to
	texts         textFlags
	post          postFlags
	cluster       clusterFlags
}

// groups returns all options, in the order of the help.
func (f *crawlFlags) groups() []group {
	all := []group{
		{"Where it goes", append(f.reachOptions(), f.client.renderOptions().options...)},
		{"When it stops", f.limitOptions()},
		{"Pace", f.paceOptions()},
	}
	all = append(all, f.client.groups("16MiB")...)
	return append(all,
		group{"Traps", f.trapOptions()},
		group{"Job", slices.Concat(f.jobOptions(), f.cluster.options(true))},
		group{"Output", slices.Concat(f.outputOptions(), extractOptions(&f.options.Keep.Extract, &f.options.Keep.Structured), f.console.options())},
		group{"Monitoring", f.monitor.options()},
	)
}

func (f *crawlFlags) reachOptions() []option {
	o := &f.options
	return []option{
		{name: "input", short: "i", arg: "FILE", field: "SeedSeq",
			Value: to(&f.input, some("a FILE, or - for standard input")),
			help:  "read further URLs from FILE, one per line (-: stdin)"},
		{name: "strict", Value: on(&f.strict), advanced: true,
			help: "end at a line of --input that is no URL, with status 3",
			more: "By default such lines are reported and skipped."},
		{name: "post-data", arg: "DATA", Value: appended(&f.post.data, postData), secret: true, field: "Posts", advanced: true,
			help: "send DATA, or @FILE, to the URLs by POST; repeatable",
			more: "DATA is that of a form, such as 'q=red+shoes&page=1', unless --post-type says otherwise. " +
				"Several make several requests to each URL. The job keeps DATA."},
		{name: "post-form", arg: "NAME=VALUE", Value: appended(&f.post.parts, postPart), secret: true, advanced: true,
			help: "send a form with files by POST; repeatable",
			more: "NAME=VALUE is a field, NAME=@FILE a file. All make one request to each URL, of type multipart/form-data."},
		f.post.typeOption(),
		{name: "scope", caller: true, arg: "SCOPE", field: "Scope",
			Value: to(&o.Reach.Scope, oneOf(weft.ScopePage, weft.ScopePrefix, weft.ScopeHost,
				weft.ScopeDomain, weft.ScopeAny)),
			words: []string{"page", "prefix", "host", "domain", "any"},
			help:  "limit to page, prefix, host (default), domain or any",
			more: "page: follow no links; prefix: stay in the folder of a seed; domain: the registrable " +
				"domain. The target of a seed's redirect is in scope, too."},
		{name: "depth", caller: true, short: "d", arg: "N", Value: to(&o.Reach.Depth, f.readDepth), field: "Depth",
			help: "follow links up to N steps from a seed",
			more: "Along the shortest path: nearer pages are fetched first, so that each crawl finds the " +
				"same. Default, and 0: no limit. For only the given URLs, see --scope page."},
		{name: "include", caller: true, arg: "RE", Value: appended(&o.Reach.Include, expression), field: "Include",
			help: "follow only links that match RE; repeatable"},
		{name: "exclude", caller: true, arg: "RE", Value: appended(&o.Reach.Exclude, expression), field: "Exclude",
			help: "do not follow links that match RE; repeatable"},
		{name: "canon", caller: true, arg: "RULES", Value: to(&o.Reach.Canon, canonRules), field: "Canon", advanced: true,
			help: "treat URLs that RULES make equal as one page",
			more: "RULES are separated by commas; weft url --help-all lists them."},
		{name: "sitemaps", caller: true, Value: on(&o.Reach.Sitemaps), field: "Sitemaps",
			help: "crawl the URLs in sitemaps, too",
			more: "Reads the sitemaps that a host's robots.txt names, or /sitemap.xml."},
		{name: "assets", caller: true, arg: "WHERE", bare: string(weft.AssetsScope), field: "Assets",
			Value: to(&o.Reach.Assets, f.readAssets), words: []string{string(weft.AssetsScope), string(weft.AssetsAny), noAssets},
			help: "fetch images, scripts, fonts and so on, too",
			more: "All that pages need to be shown, in scope or on its hosts; any: wherever it is; none: nothing. " +
				"The depth and --include do not apply to it. Default with --warc: any."},
		{name: "check-external", caller: true, Value: on(&o.Reach.External), field: "External",
			advanced: true, help: "check links that lead out of scope",
			more: "Once each, with HEAD, or with GET where HEAD fails. Nothing there is crawled."},
		{name: "distrust", Value: on(&f.client.Distrust), field: "Distrust", advanced: true,
			help: "take the URLs for those of others: they lead where links may",
			more: "To public addresses only, with no Authorization or Cookie of --header."},
		{name: "no-robots", Value: on(&o.Reach.NoRobots), field: "NoRobots",
			help: "ignore robots.txt and nofollow"},
		{name: "max-redirects", caller: true, arg: "N", Value: to(&o.Reach.MaxRedirects, orNone), field: "MaxRedirects",
			advanced: true, help: "follow at most N redirects from one link", def: "10"},
		{name: "prune-duplicates", caller: true, Value: on(&o.Reach.PruneDuplicates), field: "PruneDuplicates",
			advanced: true, help: "do not follow the links of duplicate pages",
			more: "Only where the other page is on the same registrable domain: see --duplicates."},
	}
}

// noAssets is the word for weft.AssetsNone.
const noAssets = "none"

// readAssets reads --assets.
func (f *crawlFlags) readAssets(s string) (weft.Assets, error) {
	assets, err := oneOf(weft.AssetsScope, weft.AssetsAny, noAssets)(s)
	if f.noAssets = assets == noAssets; f.noAssets {
		assets = weft.AssetsNone
	}
	return assets, err
}

// assetsOr returns which assets are fetched if --assets is not given.
func (f *crawlFlags) assetsOr(otherwise weft.Assets) weft.Assets {
	if f.noAssets {
		return weft.AssetsNone
	}
	return cmp.Or(f.options.Reach.Assets, otherwise)
}

// readDepth reads --depth. 0 is no limit, as in the library.
func (f *crawlFlags) readDepth(s string) (int, error) {
	n, err := number(0)(s)
	f.anyDepth = err == nil && n == 0
	return n, err
}

func (f *crawlFlags) limitOptions() []option {
	o := &f.options
	return []option{
		{name: "limit", caller: true, arg: "N", Value: to(&o.Limits.Limit, number(1)), field: "Limit",
			help: "stop after fetching N URLs", def: "no limit",
			more: "With --cluster, all nodes together."},
		{name: "limit-per-host", caller: true, arg: "N", Value: to(&o.Limits.LimitPerHost, number(1)), field: "LimitPerHost", advanced: true,
			help: "fetch at most N URLs per host", def: "no limit",
			more: "A host's sitemaps count."},
		{name: "max-time", caller: true, arg: "D", Value: to(&o.Limits.MaxTime, duration), field: "MaxTime",
			help: "stop starting fetches after D", def: "no limit",
			more: "Fetches that have started finish; --timeout bounds them. With --cluster, D counts from the start of the crawl."},
	}
}

func (f *crawlFlags) paceOptions() []option {
	o := &f.options
	return []option{
		{name: "concurrency", caller: true, short: "c", arg: "N", field: "Concurrency",
			Value: to(&o.Pace.Concurrency, number(1)), help: "maximum concurrent requests", def: "64",
			more: "Fewer where file descriptors are short. By default, up to 15 times as many may run " +
				"in addition that have taken more than a second."},
		{name: "per-host", caller: true, arg: "N", Value: to(&o.Pace.PerHost, number(1)), field: "PerHost",
			advanced: true, help: "maximum concurrent requests per host", def: "2",
			more: "By default, more while the host's response time holds."},
		{name: "per-domain", caller: true, arg: "N", Value: to(&o.Pace.PerDomain, number(1)), field: "PerDomain",
			advanced: true, help: "maximum concurrent requests per registrable domain",
			more: "Default: as for a host."},
		{name: "per-address", caller: true, arg: "N", Value: to(&o.Pace.PerAddress, number(1)), field: "PerAddress",
			advanced: true, help: "maximum concurrent requests per IP address",
			more: "Default: as for a host. Not behind a proxy."},
		{name: "delay", caller: true, arg: "D", Value: to(&o.Pace.Delay, durationOrZero), field: "Delay",
			help: "wait at least D between requests to a host",
			more: "D counts from the end of a response. robots.txt may ask for more. " +
				"Default: the delay that robots.txt asks for."},
		{name: "domain-delay", caller: true, arg: "D", Value: to(&o.Pace.DomainDelay, durationOrNone), field: "DomainDelay",
			advanced: true, help: "wait at least D between requests to a domain", def: "--delay"},
		{name: "address-delay", caller: true, arg: "D", field: "AddressDelay", advanced: true,
			Value: to(&o.Pace.AddressDelay, durationOrNone), def: "--delay",
			help: "wait at least D between requests to an IP address",
			more: "Not behind a proxy."},
		{name: "rate-limit", caller: true, advanced: true, arg: "N", Value: to(&o.Pace.RateLimit, rate), field: "RateLimit",
			help: "maximum requests per second, all hosts together",
			more: "Default: no limit."},
		{name: "retries", caller: true, arg: "N", Value: to(&o.Pace.Retries, orNone), field: "Retries", advanced: true,
			help: "retry up to N times after a temporary error", def: "2"},
		{name: "give-up", caller: true, arg: "D", Value: to(&o.Pace.GiveUp, durationOrNever), field: "GiveUp",
			advanced: true, help: "give up a server that is down or overloaded for D", def: "2h",
			more: "Until then its URLs wait. D may be never. A server that has never responded is " +
				"given up after 8 tries."},
		{name: "memory", caller: true, arg: "SIZE", Value: to(&o.Memory, size), field: "Memory", advanced: true,
			help: "use at most SIZE of memory, however large the crawl", def: "512MiB",
			more: "No fetch starts while response bodies fill their share of it."},
	}
}

func (f *crawlFlags) trapOptions() []option {
	o := &f.options
	return []option{
		{name: "max-url-length", caller: true, arg: "N", Value: to(&o.Traps.MaxURLLength, number(1)), field: "MaxURLLength",
			advanced: true, help: "follow no URL longer than N bytes", def: "2048",
			more: "At most 16384."},
		{name: "max-path-depth", caller: true, arg: "N", Value: to(&o.Traps.MaxPathDepth, orNone), field: "MaxPathDepth",
			advanced: true, help: "follow no URL with more than N path segments", def: "20",
			more: "0: no limit."},
		{name: "max-repeats", caller: true, arg: "N", Value: to(&o.Traps.MaxRepeats, orNone), field: "MaxRepeats",
			advanced: true, help: "follow no URL with a path segment more than N times", def: "3",
			more: "At equal distances: /x/x/x/x and /x/1/x/2/x/3/x have x four times. 0: no limit."},
		{name: "max-variants", caller: true, arg: "N", Value: to(&o.Traps.MaxVariants, orNone), field: "MaxVariants",
			advanced: true, help: "take at most N URLs that differ only after ; or ?", def: "10000",
			more: "0: no limit."},
		{name: "max-alike", caller: true, arg: "N", Value: to(&o.Traps.MaxAlike, orNone), field: "MaxAlike",
			advanced: true, help: "refuse URLs like N pages in a row with nothing new", def: "500",
			more: "Of paths that differ in numbers, dates and tokens, and lead to ever more. 0: no limit."},
	}
}

func (f *crawlFlags) jobOptions() []option {
	o := &f.options
	return []option{
		{name: "job", arg: "DIR", Value: to(&o.Job, some("a folder")), field: "Job",
			help: "keep records and state in DIR", def: "./HOST.weft",
			more: "The same command resumes the job, however the crawl ended. " +
				"With -o alone, no job is kept."},
		{name: "update", arg: "JOB", Value: to(&f.update, someJob), field: "Update",
			help: "recrawl a finished JOB",
			more: "Fetches the URLs of the job again, and newly found ones; those that are gone for long ever more rarely."},
		{name: "older-than", arg: "D", Value: to(&o.Rerun.OlderThan, age), field: "OlderThan", advanced: true,
			help: "with --update: only URLs asked last more than D ago"},
		{name: "retry-failed", arg: "JOB", Value: to(&f.retry.dir, someJob), field: "RetryFailed",
			advanced: true, help: "ask again for what failed in JOB",
			more: "By default for what may pass: errors of the network, of servers that are down, and the " +
				"statuses 408, 429 and 5xx."},
		{name: "status", arg: "STATUS", Value: to(&f.retry.status, inspect.ParseStatuses), advanced: true,
			help: "with --retry-failed or --update: URLs by status: 404, 4xx"},
		{name: "error", arg: "KIND", Value: to(&f.retry.kind, errorKind), words: errorKinds(), advanced: true,
			help: "with them: URLs by error kind: see weft kinds"},
		{name: "where", arg: "CONDITION", Value: to(&f.retry.condition, compile[weft.Record]), advanced: true,
			field: "UpdateOnly", help: "with them: URLs for whose record CONDITION holds",
			more: "Of --status, --error and --where, all apply. A CONDITION is over the fields of pages.jsonl " +
				"and host, in the language of https://expr-lang.org."},
		{name: "fresh", Value: on(&o.Rerun.Fresh), field: "Fresh",
			help: "start over: remove the job's earlier crawl"},
		{name: "amend", Value: on(&o.Rerun.Amend), field: "Amend", advanced: true,
			help: "resume with additional URLs and --exclude expressions"},
		{name: "min-free", arg: "SIZE", Value: to(&o.Keep.MinFree, size), field: "MinFree", advanced: true,
			help: "pause while less than SIZE is free on the job's disk", def: "0"},
	}
}

func (f *crawlFlags) outputOptions() []option {
	o := &f.options
	return []option{
		{name: "output", short: "o", arg: "FILE", field: "Output",
			Value: to(&f.output, some("a FILE, or - for standard output")),
			help:  "write records to FILE (-: stdout)"},
		{name: "format", arg: "FORMAT", field: "Format",
			Value: to(&o.Format, oneOf(weft.FormatJSONL, weft.FormatURLs, weft.FormatCSV)),
			words: []string{"jsonl", "urls", "csv"},
			help:  "write -o as jsonl, urls or csv", def: "jsonl", advanced: true,
			more: "FILE.csv is csv by default, FILE.urls urls: the URLs that were answered with a 2xx status."},
		{name: "fields", arg: "NAMES", field: "Fields", Value: to(&o.Fields, csvFields),
			help: "columns of csv, such as url,status", def: "all", advanced: true},
		{name: "markdown", caller: true, Value: on(&f.texts.markdown),
			help: "write pages as Markdown to JOB/markdown in the end",
			more: "As weft read JOB does. Keeps an archive, unless --bodies is given."},
		{name: "text", caller: true, Value: on(&f.texts.plain), advanced: true,
			help: "write pages as plain text to JOB/text in the end"},
		{name: "links", caller: true, Value: on(&o.Keep.KeepLinks), field: "KeepLinks",
			help: "save every link of every page in JOB/links.jsonl"},
		{name: "header-fields", caller: true, arg: "NAMES", Value: to(&o.Keep.HeaderFields, headerFields), field: "HeaderFields",
			advanced: true, help: "have these header fields in records: server,x-cache",
			more: "As the object headers: names in lower case, values of at most 1 KiB."},
		{name: "bodies", caller: true, Value: on(&o.Keep.KeepBodies), field: "KeepBodies", advanced: true,
			help: "save response bodies in JOB/bodies"},
		{name: "screenshot", caller: true, field: "Screenshot", advanced: true, arg: "WHICH", bare: string(weft.ScreenshotViewport), words: []string{"viewport", "full"},
			Value: to(&f.client.render.Screenshot, oneOf(weft.ScreenshotViewport, weft.ScreenshotFull)),
			help:  "save a picture of every page in JOB/screenshots: PNG",
			more:  "viewport, as without WHICH: its first 1280 x 800 pixels; full: all of it, to 16,384 pixels. " + rendersAlways},
		{name: "pdf", caller: true, field: "PDF", advanced: true, Value: on(&f.client.render.PDF),
			help: "save every page as PDF in JOB/pdf", more: "At most 200 pages each. " + rendersAlways},
		{name: "warc", caller: true, Value: on(&o.Keep.Archive), field: "Archive",
			help: "archive requests and responses in JOB/archive, as WARC",
			more: "Files are gzip, a record a member, with an index. Then --bodies saves no " +
				"second copy: pages.jsonl says where each response is."},
		{name: "warc-size", arg: "SIZE", field: "ArchiveSize", advanced: true,
			Value: to(&o.Keep.ArchiveSize, size),
			help:  "start a new file of the archive after SIZE", def: "1GB"},
		{name: "warc-digest", arg: "NAME", field: "ArchiveDigest", advanced: true,
			Value: to(&o.Keep.ArchiveDigest, oneOf(warc.SHA256, warc.SHA1)),
			words: []string{"sha256", "sha1"},
			help:  "take digests of archived records by sha256 or sha1", def: "sha256"},
		{name: "warc-metadata", Value: on(&o.Keep.ArchiveMetadata), field: "ArchiveMetadata", advanced: true,
			help: "archive failures and addresses of names too, as metadata"},
		{name: "duplicates", caller: true, arg: "WHAT", field: "Duplicates", advanced: true,
			Value: to(&o.Keep.Duplicates, oneOf(weft.DuplicatesOff, weft.DuplicatesSame, weft.DuplicatesNear)),
			words: []string{"off", "same", "near"},
			help:  "mark duplicate pages: off, same or near", def: "same",
			more: "same: identical bodies; near: also nearly identical text, " +
				"for a fifth to a half more CPU time."},
	}
}

// flagOf returns the flags of weft crawl by the field of weft.Options that they set. Seeds
// are its arguments.
var flagOf = sync.OnceValue(func() map[string]string {
	flags := make(map[string]string)
	for _, g := range new(crawlFlags).groups() {
		for _, o := range g.options {
			if o.field != "" {
				flags[o.field] = o.name
			}
		}
	}
	return flags
})

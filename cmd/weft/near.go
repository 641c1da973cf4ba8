package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/near"
)

// foreign are flags of other crawlers, with the flag of weft that does the same.
var foreign = map[string]string{
	"accept": "include", "accept-regex": "include", "connections": "concurrency", "domains": "scope", "ignore-robots": "no-robots",
	"level": "depth", "max-pages": "limit", "port": "listen", "proxy-server": "proxy", "reject": "exclude", "load-cookies": "cookies", "no-check-certificate": "insecure", "no-verify": "insecure",
	"obey-robots": "no-robots", "out": "output", "output-document": "output", "page-requisites": "assets",
	"parallel": "concurrency", "post": "post-data", "reject-regex": "exclude", "span-hosts": "scope",
	"threads": "concurrency", "tries": "retries", "ua": "user-agent", "wait": "delay", "workers": "concurrency",
}

const (
	renders   = "--render has a browser run the scripts of pages that need them"
	pictures  = "weft crawl and weft fetch take pictures of pages by --screenshot"
	itResumes = "the same command resumes a crawl, --update visits a finished one again"
)

// unneeded are flags of other crawlers, with what weft does without them.
var unneeded = map[string]string{
	"continue": itResumes, "mirror": "weft mirror saves a site as files", "recursive": "weft crawl follows links, unless --scope page is given",
	"headless": renders, "javascript": renders, "js": renders, "resume": itResumes,
	"screenshot": pictures, "screenshots": pictures,
	"wacz":          "crawl with --warc, then weft wacz JOB packs the archive",
	"convert-links": "weft mirror saves a site as files whose links lead to one another",
}

// wantsLines is the way to JSON from a command that writes records.
const wantsLines = "-o FILE.jsonl writes lines of JSON"

// inPlace has flags of other crawlers, with what a command has in their place, by the command's
// name; crawl is also for those that take the flags of a crawl.
var inPlace = map[string]map[string]string{
	"crawl": {
		"quota":           "--limit N ends the crawl after N URLs, --max-time D after a time",
		"subdomains":      "--scope domain follows links to subdomains, too",
		"no-parent":       "--scope prefix stays in the folder of a seed",
		"follow-external": "--scope any follows links to other sites, --check-external only checks them",
		"spider":          "weft check looks for broken links",
		"json":            wantsLines,
		"csv":             "-o FILE.csv writes CSV",
	},
	"check":  {"fail-on": "broken links end it with status 2, unless --accept, --ignore or --no-rule says otherwise", "json": "", "csv": "", "spider": "weft check is that"},
	"mirror": {"update": "weft mirror -o DIR brings a mirror up to date", "json": "", "csv": ""},
	"export": {"json": wantsLines, "csv": "-o FILE.csv writes CSV"},
	"read":   {"json": wantsLines},
}

// instead says what a command has in place of a flag that it lacks; "": nothing is known.
func instead(cmd *cobra.Command, flag string) string {
	says, known := inPlace[cmd.Name()][flag]
	switch {
	case known:
		return says
	case cmd.Annotations[takesURLs] != "":
		says = inPlace["crawl"][flag]
	case flag == "job" && slices.Contains(strings.FieldsFunc(cmd.Use, func(r rune) bool { return r == ' ' || r == '|' }), "JOB"):
		return "the JOB is an argument, as in " + cmd.CommandPath() + " JOB"
	}
	return cmp.Or(says, unneeded[flag])
}

// nearFlag returns the long flag that is meant by a name that no flag has: one that a few slips
// turn into it, that it begins, whose name it ends with, as --max-depth does, or that ends with it,
// as --post-data with --data; "" for none.
func nearFlag(flags *pflag.FlagSet, name string) string {
	name = strings.ToLower(name)
	nearest, least := "", max(2, len(name)/4)+1
	flags.VisitAll(func(f *pflag.Flag) {
		n := near.Slips(name, f.Name)
		switch {
		case len(name) < 2 || f.Hidden:
			return
		case len(name) < 4:
			n *= 2 // any short name is two slips from any other
		case strings.HasPrefix(f.Name, name), strings.HasSuffix(name, "-"+f.Name), strings.HasSuffix(f.Name, "-"+name):
			n = min(n, 1)
		}
		if n < least {
			nearest, least = f.Name, n
		}
	})
	return nearest
}

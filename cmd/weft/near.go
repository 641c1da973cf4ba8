package main

import (
	"strings"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/near"
)

// foreign are flags of other crawlers, with the flag of weft that does the same.
var foreign = map[string]string{
	"accept-regex": "include", "connections": "concurrency", "domains": "scope", "ignore-robots": "no-robots",
	"level": "depth", "load-cookies": "cookies", "no-check-certificate": "insecure", "no-verify": "insecure",
	"obey-robots": "no-robots", "out": "output", "output-document": "output", "page-requisites": "assets",
	"parallel": "concurrency", "post": "post-data", "quota": "limit", "reject-regex": "exclude", "span-hosts": "scope",
	"threads": "concurrency", "tries": "retries", "ua": "user-agent", "wait": "delay", "workers": "concurrency",
}

const (
	noScripts = "weft runs no scripts: pages are read as their server sends them"
	itResumes = "the same command resumes a crawl, --update visits a finished one again"
)

// unneeded are flags of other crawlers, with what weft does without them.
var unneeded = map[string]string{
	"continue": itResumes, "mirror": "weft mirror saves a site as files", "recursive": "weft crawl follows links, unless --scope page is given",
	"headless": noScripts, "javascript": noScripts, "js": noScripts, "render": noScripts, "resume": itResumes,
	"screenshot": noScripts, "screenshots": noScripts,
	"wacz": "crawl with --warc, then weft wacz JOB packs the archive",
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

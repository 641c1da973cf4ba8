package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
)

// naming is the form in which the command line names the folder of its job.
type naming struct {
	flag string // "job", "update" or "retry-failed"; empty: the folder is that of the first URL's host
	dir  string

	command string // that names it, "weft crawl" or "weft check"
	mirror  string // the folder of the mirror that has the job; empty: none
}

// isAgain reports whether --update or --retry-failed names the job, which --job and --fresh
// exclude.
func (n naming) isAgain() bool { return n.flag == "update" || n.flag == "retry-failed" }

// given is the folder as messages name it.
func (n naming) given() string {
	if n.flag == "" {
		return n.dir
	}
	return fmt.Sprintf("--%s %.128q", n.flag, n.dir)
}

// another is a folder name like that of the job for which there is no folder.
func (n naming) another() string {
	name := filepath.Clean(n.dir)
	stem, isWeft := strings.CutSuffix(name, ".weft")
	for i := 2; ; i++ {
		other := fmt.Sprintf("%s-%d", stem, i)
		if isWeft {
			other += ".weft"
		}
		if _, err := os.Lstat(other); err != nil {
			return other
		}
	}
}

// frozenInWords has the subject of each frozen option, and the meanings of yes and no for a switch.
var frozenInWords = map[string]struct{ what, yes, no string }{
	"Scope":           {what: "scope"},
	"Canon":           {what: "canonical rules"},
	"Depth":           {what: "links from a seed"},
	"LimitPerHost":    {what: "limit of URLs per host"},
	"MaxRedirects":    {what: "redirects in a row"},
	"MaxURLLength":    {what: "length of a URL"},
	"MaxPathDepth":    {what: "segments of a path"},
	"MaxRepeats":      {what: "repeats of a path segment"},
	"MaxVariants":     {what: "URLs that differ after ; or ?"},
	"MaxAlike":        {what: "pages in a row with nothing new"},
	"Assets":          {what: "assets"},
	"External":        {"external links", "checked", "not checked"},
	"Distrust":        {"seeds", "of others", "of the user"},
	"NoRobots":        {"robots.txt", "ignored", "obeyed"},
	"Sitemaps":        {"sitemaps", "crawled", "not crawled"},
	"UserAgent":       {what: "name for robots.txt"},
	"KeepLinks":       {"links", "saved", "not saved"},
	"KeepBodies":      {"bodies", "saved", "not saved"},
	"Extract":         {what: "fields"},
	"Structured":      {"structured data", "extracted", "not extracted"},
	"Archive":         {"archive", "written", "not written"},
	"Duplicates":      {what: "duplicates to mark"},
	"Rendering":       {what: "pages to render"},
	"Session":         {"session", "given", "not given"},
	"PruneDuplicates": {"links of duplicates", "not followed", "followed"},
	"Include":         {what: "inclusions"},
	"Exclude":         {what: "exclusions"},
	"Seeds":           {what: "seeds"},
	"SeedSeq":         {what: "list of seeds"},
}

// differs says how the job differs from the command.
func differs(d weft.Difference) string {
	words, frozen := frozenInWords[d.Option]
	switch {
	case !frozen: // common to the nodes of a crawl
		return fmt.Sprintf("--%s: %s, not %s", flagOf()[d.Option], d.Was, d.Now)
	case words.yes == "":
		return fmt.Sprintf("%s: %s, not %s", words.what, d.Was, d.Now)
	case d.Was == "true":
		return words.what + ": " + words.yes
	}
	return words.what + ": " + words.no
}

// otherCrawl says that the folder of the job holds a crawl with other options, and what to type
// to get either. It names options in words, as most of those that differ were not typed.
func otherCrawl(e *weft.PlanError, n naming) error {
	var how []string
	amendable := true
	for _, d := range e.Differences {
		how = append(how, differs(d))
		amendable = amendable && slices.Contains(amendableOptions, d.Option)
	}
	if n.mirror != "" {
		n.dir = n.mirror
	}
	other := &advice{error: fmt.Errorf("%s holds another crawl (%s)", n.dir, strings.Join(how, "; "))}
	if n.mirror != "" {
		other.add("weft mirror -o "+n.dir, "goes on with it, or brings it up to date")
		if amendable {
			other.add("--amend", "adds to it")
		}
		other.add("-o "+n.another(), "copies beside it")
		other.add("--fresh", "copies in its place")
		return other
	}
	if n.isAgain() {
		what := map[string]string{"update": "recrawls", "retry-failed": "retries"}[n.flag]
		other.add(n.command+" --"+n.flag+" "+n.dir, what+" it with its own options")
		if amendable {
			other.add("--amend", "adds to it")
		}
		other.add("--job "+n.another()+" URL", "crawls beside it")
		return other
	}
	if !e.Finished {
		other.add(n.command+" --job "+n.dir, "resumes it")
	}
	if amendable {
		other.add("--amend", "adds to it")
	}
	other.add("--job "+n.another(), "crawls beside it")
	other.add("--fresh", "crawls in its place")
	return other
}

// secretOptions are those that each node of a crawl has to be given.
var secretOptions = []string{"Auth", "Header", "Cookies"}

// confirmedOptions: options that every node has to be given itself, as they decide who gets its
// secrets.
var confirmedOptions = []string{"Insecure", "AllowPrivate", "Resolve"}

// otherBeginning says that a crawl of several machines has begun with other options, and what to
// type to get either.
func otherBeginning(e *weft.PlanError, f *clusterFlags) error {
	var how []string
	secret, confirmed := false, false
	for _, d := range e.Differences {
		how = append(how, differs(d))
		secret = secret || slices.Contains(secretOptions, d.Option)
		confirmed = confirmed || slices.Contains(confirmedOptions, d.Option)
	}
	other := &advice{error: fmt.Errorf("crawl %s has begun with other options (%s)", f.Name, strings.Join(how, "; "))}
	switch {
	case confirmed:
		other.add("with the same options", "joins it, if you trust who began it")
	case secret:
		other.add("with the secrets it began with", "joins it: the servers do not keep them")
	default:
		other.add("without URLs and these options", "joins it as it is")
	}
	other.add("--name "+f.Name+"-2", "begins another crawl")
	return other
}

// advice is an error with what may be typed instead, and what comes of each.
type advice struct {
	error
	ways [][2]string
}

func (a *advice) add(words, effect string) { a.ways = append(a.ways, [2]string{words, effect}) }

func (a *advice) Unwrap() error { return a.error }

// lines are the ways, to be printed below the error.
func (a *advice) lines() []string {
	width := 0
	for _, w := range a.ways {
		width = max(width, len(w[0]))
	}
	var all []string
	for _, w := range a.ways {
		all = append(all, fmt.Sprintf("  %-*s   %s", width, w[0], w[1]))
	}
	return all
}

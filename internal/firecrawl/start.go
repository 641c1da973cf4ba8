package firecrawl

import (
	"errors"
	"math"
	"regexp/syntax"
	"slices"
	"strconv"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/pattern"
	"github.com/weftcrawl/weft/internal/scrape"
)

// usualLimit is the limit of a crawl without one, as Firecrawl has it.
const usualLimit = 10_000

// crawl makes options of weft crawl, for a crawl of at most so many URLs; 0: any number.
func (a *ask) crawl(most int) error {
	seed, err := weft.ReadListedSeed(a.URL)
	if err != nil {
		return wrong("url: %s", err)
	}
	if err := a.ofPages("scrapeOptions."); err != nil {
		return err
	}
	a.URLs = []string{a.URL}
	switch {
	case a.any:
		a.options["scope"] = string(weft.ScopeAny)
	case a.subdomains && !a.whole && seed.URL.Path() != "/":
		return unsupported("allowSubdomains", "of a URL with a path it takes crawlEntireDomain")
	case a.subdomains:
		a.options["scope"] = string(weft.ScopeDomain)
	case a.whole:
		a.options["scope"] = string(weft.ScopeHost)
	default:
		a.options["scope"] = string(weft.ScopePrefix)
	}
	switch {
	case a.sitemap == "only":
		return unsupported("sitemap: only", "a crawl follows links; POST /v2/map and /v2/batch/scrape do this")
	case a.noDepth && a.sitemap != "skip":
		return unsupported("maxDiscoveryDepth: 0", "it takes sitemap: skip, and is a crawl of the URL alone")
	case a.noDepth:
		a.options["scope"] = string(weft.ScopePage)
	case a.sitemap != "skip":
		a.options["sitemaps"] = true
	}
	if a.options["limit"] == nil {
		a.options["limit"] = strconv.Itoa(usualLimit)
		if most > 0 {
			a.options["limit"] = strconv.Itoa(min(most, usualLimit))
		}
	}
	for _, paths := range []struct {
		name, option string
		all          []string
	}{{"includePaths", "include", a.include}, {"excludePaths", "exclude", a.exclude}} {
		var all []any
		for _, text := range paths.all {
			re, err := text, error(nil)
			switch {
			case pattern.Cost(text) == math.MaxInt32: // before it is parsed
				err = errors.New("too long, with what its repetitions stand for")
			case a.fullURL:
				_, err = syntax.Parse(text, syntax.Perl)
			default:
				re, err = onPath(text)
			}
			if err != nil {
				return wrong("%s: %s: %s", paths.name, short(text), err)
			}
			all = append(all, re)
		}
		if len(all) > 0 {
			a.options[paths.option] = all
		}
	}
	return nil
}

// batch makes options of a crawl of URLs, and returns those that are none.
func (a *ask) batch() (invalid []string, err error) {
	if err := a.ofPages(""); err != nil {
		return nil, err
	}
	a.URLs = slices.DeleteFunc(a.URLs, func(u string) bool {
		_, bad := weft.ReadListedSeed(u)
		if bad != nil {
			invalid, err = append(invalid, u), errors.Join(err, bad)
		}
		return bad != nil
	})
	if err != nil && a.strict {
		return nil, wrong("urls: %s", short(invalid[0])+": expected a URL")
	}
	if len(a.URLs) == 0 {
		return nil, wrong("urls: expected a URL")
	}
	a.options["scope"] = string(weft.ScopePage)
	return invalid, nil
}

// ofPages makes options of what is asked for of all pages. Pages are always fetched: that is within
// any maxAge.
func (a *ask) ofPages(prefix string) error {
	if len(a.headers) > 0 {
		return unsupported(prefix+"headers", "of crawls, the operator sets them")
	}
	if slices.Contains(a.Page.Formats, scrape.Screenshot) {
		return unsupported(prefix+"formats: screenshot", "of crawls: expected POST /v2/scrape")
	}
	if a.wait > 0 {
		a.options["render"], a.options["wait"] = string(weft.RenderAlways), a.wait.String()
	}
	if a.timeout > 0 {
		a.options["timeout"] = a.timeout.String()
	}
	a.options["bodies"] = true
	return nil
}

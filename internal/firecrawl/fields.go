package firecrawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/webhook"
)

// ask holds the fields of a request.
type ask struct {
	URL  string
	URLs []string
	Page page

	// Of one page that is fetched at once, or of all pages of a crawl.
	headers         map[string]string
	wait            time.Duration
	timeout, maxAge time.Duration

	// Of a map.
	mapped scrape.MapAsk

	// Of a crawl.
	options         map[string]any // of weft crawl
	sitemap         string
	whole           bool // crawlEntireDomain
	subdomains, any bool
	fullURL         bool
	noDepth         bool // maxDiscoveryDepth is 0
	include         []string
	exclude         []string
	strict          bool // ignoreInvalidURLs is false
	hook            *webhook.Hook
	note            hookNote // of it
}

// field reads the value of a field, which is not null.
type field func(a *ask, value json.RawMessage) error

// fields are those of a request, by name.
type fields map[string]field

// read reads a request. Fields that are null are absent, as clients write them.
func read(body []byte, known fields) (*ask, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(body, &values); err != nil || values == nil {
		return nil, wrong("the body: %s", expected(err, "an object"))
	}
	a := &ask{options: make(map[string]any)}
	return a, known.read(a, "", values)
}

// read reads the fields of an object. Messages name them with prefix.
func (f fields) read(a *ask, prefix string, values map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if string(values[name]) == "null" {
			continue
		}
		take := f[name]
		if take == nil {
			return unsupported(prefix+short(name), "Weft knows no such field")
		}
		err := take(a, values[name])
		var m *mistake
		switch {
		case errors.As(err, &m):
			return err
		case err != nil:
			return wrong("%s%s: %s", prefix, name, err)
		}
	}
	return nil
}

// value reads a value of one type.
func value[T any](what string, set func(a *ask, v T) error) field {
	return func(a *ask, raw json.RawMessage) error {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return errors.New(expected(err, what))
		}
		return set(a, v)
	}
}

func text(set func(a *ask, v string) error) field { return value("a text", set) }

func truth(set func(a *ask, v bool) error) field { return value("true or false", set) }

func texts(set func(a *ask, v []string) error) field { return value("a list of texts", set) }

// number reads a whole number of a range.
func number(least, most int, set func(a *ask, n int) error) field {
	what := fmt.Sprintf("a whole number from %d to %d", least, most)
	return value(what, func(a *ask, v float64) error {
		if v != math.Trunc(v) || v < float64(least) || v > float64(most) {
			return fmt.Errorf("%v, expected %s", v, what)
		}
		return set(a, int(v))
	})
}

// longest is the longest time that a client names, in milliseconds: a week.
const longest = 7 * 24 * 60 * 60 * 1000

// milliseconds reads a time.
func milliseconds(set func(a *ask, d time.Duration)) field {
	return number(0, longest, func(a *ask, n int) error {
		set(a, time.Duration(n)*time.Millisecond)
		return nil
	})
}

// label is a text for statistics of others.
var label = text(func(*ask, string) error { return nil })

// never refuses a field for what Weft has not, unless its value is one that asks for nothing.
func never(name, why string, nothing ...string) field {
	return func(_ *ask, raw json.RawMessage) error {
		if slices.Contains(nothing, string(raw)) {
			return nil
		}
		return unsupported(name, why)
	}
}

// pageFields are those of what is made of a page: of scrape, batch scrape, and of scrapeOptions.
var pageFields = fields{
	"formats":         value("a list of formats", func(a *ask, v []json.RawMessage) error { return a.Page.readFormats(v) }),
	"onlyMainContent": truth(func(a *ask, v bool) error { a.Page.Whole = !v; return nil }),
	"headers": value("an object of texts", func(a *ask, v map[string]string) error {
		a.headers = v
		return nil
	}),
	"waitFor":             milliseconds(func(a *ask, d time.Duration) { a.wait = d }),
	"timeout":             milliseconds(func(a *ask, d time.Duration) { a.timeout = d }),
	"maxAge":              milliseconds(func(a *ask, d time.Duration) { a.maxAge = d }),
	"minAge":              never("minAge", "no page is taken that must be old"),
	"storeInCache":        never("storeInCache", "a page without headers is kept for a while", "true"),
	"includeTags":         never("includeTags", "the main content is found by its words, expected none", "[]"),
	"excludeTags":         never("excludeTags", "the main content is found by its words, expected none", "[]"),
	"mobile":              never("mobile", "pages are those of a desktop", "false"),
	"skipTlsVerification": never("skipTlsVerification", "certificates are verified", "false"),
	"removeBase64Images":  never("removeBase64Images", "pictures in the page are always left out of Markdown", "true"),
	"fastMode":            never("fastMode", "there is one mode", "false"),
	"blockAds":            never("blockAds", "the operator says what is blocked", "true", "false"),
	"proxy":               never("proxy", "the operator sets proxies", `"auto"`, `"basic"`),
	"location":            never("location", "requests leave from where the server is"),
	"actions":             never("actions", "pages are read, not operated", "[]"),
	"parsers":             never("parsers", "documents such as PDF are not read"),
	"useMock":             never("useMock", "requests are real"),
	"lockdown":            never("lockdown", "pages are requested", "false"),
	"redactPII":           never("redactPII", "texts are those of the page", "false"),
	"threatProtection":    never("threatProtection", "there is none but the guard of addresses"),
	"auditMetadata":       never("auditMetadata", "nobody audits"),
	"profile":             never("profile", "no browser keeps anything"),
	"domainTools":         never("domainTools", "there are no tools", "false"),
	"toolDetail":          never("toolDetail", "there are no tools"),
}

// requestFields are those of every request.
var requestFields = fields{
	"origin":      label,
	"integration": label,
}

// jobFields are those of requests that start a crawl.
var jobFields = fields{
	"webhook":           (*ask).readHook,
	"zeroDataRetention": never("zeroDataRetention", "a crawl is kept until it is deleted", "false"),
	"maxConcurrency": number(1, 10_000, func(a *ask, n int) error {
		a.options["concurrency"] = strconv.Itoa(n)
		return nil
	}),
}

var scrapeFields = union(requestFields, pageFields, fields{
	"url":               text(func(a *ask, v string) error { a.URL = v; return nil }),
	"zeroDataRetention": never("zeroDataRetention", "pages are kept for a while", "false"),
})

var mapFields = union(requestFields, fields{
	"url":                   text(func(a *ask, v string) error { a.mapped.URL = v; return nil }),
	"search":                text(func(a *ask, v string) error { a.mapped.Search = v; return nil }),
	"sitemap":               text((*ask).readSitemap),
	"includeSubdomains":     truth(func(a *ask, v bool) error { a.subdomains = v; return nil }),
	"limit":                 number(1, 100_000, func(a *ask, n int) error { a.mapped.Limit = n; return nil }),
	"timeout":               milliseconds(func(a *ask, d time.Duration) { a.timeout = d }),
	"ignoreQueryParameters": never("ignoreQueryParameters", "URLs are listed as they are", "false"),
	"ignoreCache":           never("ignoreCache", "nothing is kept of a map", "true", "false"),
	"location":              pageFields["location"],
	"threatProtection":      pageFields["threatProtection"],
	"auditMetadata":         pageFields["auditMetadata"],
})

var batchFields = union(requestFields, pageFields, jobFields, fields{
	"urls":              texts(func(a *ask, v []string) error { a.URLs = v; return nil }),
	"appendToId":        never("appendToId", "a crawl that has begun gets no further URLs"),
	"ignoreInvalidURLs": truth(func(a *ask, v bool) error { a.strict = !v; return nil }),
})

var crawlFields = union(requestFields, jobFields, fields{
	"url":    text(func(a *ask, v string) error { a.URL = v; return nil }),
	"prompt": never("prompt", "there is no language model", `""`),
	"scrapeOptions": value("an object", func(a *ask, v map[string]json.RawMessage) error {
		return pageFields.read(a, "scrapeOptions.", v)
	}),
	"limit": number(1, math.MaxInt32, func(a *ask, n int) error {
		a.options["limit"] = strconv.Itoa(n)
		return nil
	}),
	"maxDiscoveryDepth": number(0, 10_000, func(a *ask, n int) error {
		if a.noDepth = n == 0; n > 0 {
			a.options["depth"] = strconv.Itoa(n)
		}
		return nil
	}),
	"includePaths":       texts(func(a *ask, v []string) error { a.include = v; return nil }),
	"excludePaths":       texts(func(a *ask, v []string) error { a.exclude = v; return nil }),
	"regexOnFullURL":     truth(func(a *ask, v bool) error { a.fullURL = v; return nil }),
	"crawlEntireDomain":  truth(func(a *ask, v bool) error { a.whole = v; return nil }),
	"allowSubdomains":    truth(func(a *ask, v bool) error { a.subdomains = v; return nil }),
	"allowExternalLinks": truth(func(a *ask, v bool) error { a.any = v; return nil }),
	"sitemap":            text((*ask).readSitemap),
	"delay": value("a number of seconds", func(a *ask, v float64) error {
		if v < 0 || v > longest/1000 {
			return fmt.Errorf("%v, expected a number of seconds", v)
		}
		a.options["delay"] = time.Duration(v * float64(time.Second)).String()
		return nil
	}),
	"ignoreQueryParameters": truth(func(a *ask, v bool) error {
		if v {
			a.options["max-variants"] = "1"
		}
		return nil
	}),
	"deduplicateSimilarURLs": truth(func(a *ask, v bool) error {
		if v {
			a.options["canon"] = "drop-session,drop-tracking,drop-empty-query"
		}
		return nil
	}),
	"ignoreRobotsTxt": never("ignoreRobotsTxt", "the operator sets it", "false"),
	"robotsUserAgent": never("robotsUserAgent", "the operator says who Weft is"),
})

func union(all ...fields) fields {
	u := make(fields)
	for _, f := range all {
		maps.Copy(u, f)
	}
	return u
}

// readSitemap reads which part sitemaps have in a map or a crawl.
func (a *ask) readSitemap(v string) error {
	if v != "include" && v != "skip" && v != "only" {
		return fmt.Errorf("%s, expected include, skip or only", short(v))
	}
	a.sitemap = v
	return nil
}

// single is a page to be fetched at once.
func (a *ask) single() (scrape.Ask, error) {
	to := scrape.Ask{URL: a.URL, Formats: a.Page.Formats, Whole: a.Page.Whole, FullPage: a.Page.FullPage, Rules: a.Page.Rules, Timeout: a.timeout, MaxAge: a.maxAge}
	if a.URL == "" {
		return to, wrong("url: expected a URL")
	}
	if a.wait > 0 {
		to.Render, to.Wait = scrape.RenderAlways, a.wait.String()
	}
	for _, name := range slices.Sorted(maps.Keys(a.headers)) {
		to.Header = append(to.Header, httpclient.Field{Name: name, Value: a.headers[name]})
	}
	return to, nil
}

// site is a site whose URLs are asked for.
func (a *ask) site() (scrape.MapAsk, error) {
	m := a.mapped
	m.Subdomains, m.NoSitemaps, m.NoLinks, m.Timeout = a.subdomains, a.sitemap == "skip", a.sitemap == "only", a.timeout
	if m.URL == "" {
		return m, wrong("url: expected a URL")
	}
	return m, nil
}

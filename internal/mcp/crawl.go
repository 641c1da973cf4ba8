package mcp

import (
	"context"
	"fmt"
	"strconv"
)

// ordering adds the tool that starts crawls.
func (t *tools) ordering() {
	add(t, writes, "crawl", "Crawl a site", "Start a crawl of whole sites, which obeys robots.txt and keeps a polite pace. It runs in the background: "+
		"the result is the name of its job, for status, pages, search, read, check, extract and why. To end a crawl, pass stop.", t.crawl)
}

type crawlIn struct {
	URLs     []string `json:"urls,omitempty" jsonschema:"http or https URLs to start from, at most 1000"`
	Limit    int      `json:"limit,omitempty" jsonschema:"maximum number of URLs to request; default 1000, or the limit of the operator if that is lower; at most 100000"`
	Depth    int      `json:"depth,omitempty" jsonschema:"maximum number of links between a start URL and a page; default: no limit"`
	Scope    string   `json:"scope,omitempty" jsonschema:"which links to follow: page (none), prefix (within the folder of a start URL), host (default), domain, any"`
	Include  []string `json:"include,omitempty" jsonschema:"follow only links that match one of these regular expressions (RE2); one that begins with ^/ is matched with the path"`
	Exclude  []string `json:"exclude,omitempty" jsonschema:"do not follow links that match one of these regular expressions"`
	Sitemaps bool     `json:"sitemaps,omitempty" jsonschema:"crawl the URLs in the sitemaps of the hosts, too"`
	External bool     `json:"check_external,omitempty" jsonschema:"request links out of scope once each, so that check can judge them"`
	Render   bool     `json:"render,omitempty" jsonschema:"run the scripts of pages that are empty without them in a browser, if the operator allows it"`
	MaxTime  string   `json:"max_time,omitempty" jsonschema:"maximum duration, such as 10m; default 1h"`
	Stop     string   `json:"stop,omitempty" jsonschema:"instead of starting a crawl, end the crawl of this name; what it has fetched is kept"`
}

func (t *tools) crawl(_ context.Context, in crawlIn) (*answer, error) {
	a := new(answer)
	if in.Stop != "" {
		if err := t.Crawls.Stop(t.client, in.Stop); err != nil {
			return nil, err
		}
		a.say("The crawl %q is ending.", in.Stop)
		return a, nil
	}
	const mostSeeds, usualLimit, mostLimit = 1000, 1000, 100_000
	if len(in.URLs) == 0 || len(in.URLs) > mostSeeds {
		return nil, wrong("urls: %d, expected 1 to %d", len(in.URLs), mostSeeds)
	}
	o := Order{Seeds: in.URLs, Options: map[string][]string{"bodies": {"true"}, "max-time": {"1h"}}}
	if in.Limit <= 0 {
		o.Usual = usualLimit
	}
	set := func(name, value string, given bool) {
		if given {
			o.Options[name] = []string{value}
		}
	}
	set("limit", strconv.Itoa(min(in.Limit, mostLimit)), in.Limit > 0)
	set("depth", strconv.Itoa(in.Depth), in.Depth > 0)
	set("scope", in.Scope, in.Scope != "")
	set("max-time", in.MaxTime, in.MaxTime != "")
	set("sitemaps", "true", in.Sitemaps)
	set("check-external", "true", in.External)
	set("render", "auto", in.Render)
	for name, all := range map[string][]string{"include": in.Include, "exclude": in.Exclude} {
		if len(all) > 0 {
			o.Options[name] = all
		}
	}
	name, err := t.Crawls.Start(t.client, o)
	if err != nil {
		return nil, fmt.Errorf("the crawl was not started: %w", err)
	}
	a.say("The crawl has the name %q. It runs on its own: status says where it stands.", name)
	return a, nil
}

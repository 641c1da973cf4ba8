package mcp

import (
	"context"
	"fmt"
	"strconv"
)

// ordering adds the tool that starts crawls.
func (t *tools) ordering() {
	add(t, writes, "crawl", "Crawl a site", "Start a crawl of whole sites, within robots.txt and at a polite pace. It goes on by itself: "+
		"the answer is the name of its job, for status, pages, search, read, check, extract and why. To end one, give stop.", t.crawl)
}

type crawlIn struct {
	URLs     []string `json:"urls,omitempty" jsonschema:"http or https URLs to start from, at most 1000"`
	Limit    int      `json:"limit,omitempty" jsonschema:"most URLs to request; default 1000, at most 100000"`
	Depth    int      `json:"depth,omitempty" jsonschema:"most links from a start URL; default any number"`
	Scope    string   `json:"scope,omitempty" jsonschema:"links to follow: page, prefix, host (default), domain, any"`
	Include  []string `json:"include,omitempty" jsonschema:"follow only links that one of these expressions matches (RE2; with ^/ their path)"`
	Exclude  []string `json:"exclude,omitempty" jsonschema:"do not follow links that one of these expressions matches"`
	Sitemaps bool     `json:"sitemaps,omitempty" jsonschema:"follow the sitemaps of the hosts, too"`
	External bool     `json:"check_external,omitempty" jsonschema:"request links beyond the scope once, for check"`
	Render   bool     `json:"render,omitempty" jsonschema:"have a browser run the scripts of pages that are empty without them"`
	MaxTime  string   `json:"max_time,omitempty" jsonschema:"end after a time such as 10m; default 1h"`
	Stop     string   `json:"stop,omitempty" jsonschema:"in place of the others: end the crawl of this name; what it has is kept"`
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
	if in.Limit <= 0 {
		in.Limit = usualLimit
	}
	o := Order{Seeds: in.URLs, Options: map[string][]string{
		"bodies": {"true"}, "limit": {strconv.Itoa(min(in.Limit, mostLimit))}, "max-time": {"1h"},
	}}
	set := func(name, value string, given bool) {
		if given {
			o.Options[name] = []string{value}
		}
	}
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

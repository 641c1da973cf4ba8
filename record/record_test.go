package record_test

import (
	"testing"

	"github.com/weftcrawl/weft/record"
)

// TestIndexability: the first reason against an entry in a search engine counts, and only pages of
// the crawl can have one.
func TestIndexability(t *testing.T) {
	const url = "http://a.test/"
	page := func(change func(*record.Record)) record.Record {
		r := record.Record{URL: url, Status: 200, ContentType: "text/html; charset=utf-8"}
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		record record.Record
		want   record.Indexability
	}{
		"a page":            {page(func(*record.Record) {}), record.Indexable},
		"its own canonical": {page(func(r *record.Record) { r.Canonical = url }), record.Indexable},
		"another":           {page(func(r *record.Record) { r.Canonical = url + "x" }), record.ByCanonical},
		"noindex, too":      {page(func(r *record.Record) { r.Canonical, r.Robots = url+"x", []string{"nofollow", "noindex"} }), record.ByNoindex},
		"nofollow":          {page(func(r *record.Record) { r.Robots = []string{"nofollow"} }), record.Indexable},
		"404":               {page(func(r *record.Record) { r.Status, r.Robots = 404, []string{"noindex"} }), record.ByStatus},
		"redirect":          {page(func(r *record.Record) { r.Status, r.Redirect = 301, url }), record.ByRedirection},
		"too many":          {page(func(r *record.Record) { r.Status, r.Redirect, r.ErrorKind = 301, url, record.KindRedirects }), record.ByRedirection},
		"robots.txt":        {record.Record{URL: url, ErrorKind: record.KindRobots}, record.ByRobots},
		"no response":       {record.Record{URL: url, ErrorKind: "dns"}, ""},
		"cut off":           {page(func(r *record.Record) { r.ErrorKind = "truncated" }), ""},
		"an image":          {page(func(r *record.Record) { r.ContentType = "image/png" }), ""},
		"an external link":  {page(func(r *record.Record) { r.Role = record.RoleExternal }), ""},
	} {
		if got := c.record.Judge(); got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}

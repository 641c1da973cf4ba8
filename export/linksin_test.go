package export

import (
	"testing"

	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/weburl"
)

// TestLinksIn: the pages that link to one are counted as they link there now, each once, without
// itself and without redirects and sitemaps, and whatever rows are chosen.
func TestLinksIn(t *testing.T) {
	dir := site(t)
	to := func(paths ...string) (all refs.Targets) {
		for _, path := range paths {
			u, err := weburl.Parse("http://a.test" + path)
			if err != nil {
				t.Fatal(err)
			}
			all.Add(u.Fingerprint())
		}
		return all
	}
	w := refs.NewWriter(0, refs.MaxSize)
	entries := refs.Append(nil, "http://a.test/", refs.Links, false, to("/same", "/b", "/b", "/gone"))
	entries = refs.Append(entries, "http://a.test/same", refs.Links, false, to("/same", "/b", "/"))
	entries = refs.Append(entries, "http://a.test/moved", refs.Redirect, false, to("/b"))
	entries = refs.Append(entries, "http://a.test/", refs.Links, true, to("/same", "/b", "/private"))
	put(t, dir, refs.File, string(w.Pack(entries)))
	all := "url,links_in\nhttp://a.test/moved,\nhttp://down.test:81/,\nhttp://a.test/private,1\nhttp://a.test/,1\nhttp://a.test/same,1\nhttp://a.test/gone,\nhttp://a.test/new?a&b,\nhttp://a.test/b,2\n"
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"all":         {Options{Fields: []string{"url", "links_in"}}, all},
		"a condition": {Options{Fields: []string{"url"}, Where: `links_in == 0 && status == 404`}, "url\nhttp://a.test/gone\n"},
		"a state":     {Options{Fields: []string{"url", "links_in"}, State: "failed"}, "url,links_in\nhttp://down.test:81/,\nhttp://a.test/b,2\n"},
		"no column":   {Options{Fields: []string{"url"}, Where: "status == 304"}, "url\nhttp://a.test/same\n"},
	} {
		c.o.Format = "csv"
		if got := exported(t, dir, c.o); got != c.want {
			t.Errorf("%s:\n%sexpected\n%s", name, got, c.want)
		}
	}
}

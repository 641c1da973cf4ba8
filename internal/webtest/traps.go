package webtest

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// TrapSite is a site of traps: pages that lead to others without end. It returns the page at a
// target, or the location of a redirect. A page depends only on its target. The site is not part of
// a Web, and the truth does not cover it. The home page leads into each trap:
//
//   - /calendar?month=N leads to the next month, and the one before;
//   - /shop?… offers six more filters, whatever the query has already: a URL that grows;
//   - /forum/N?sid=… is one of ten topics, each of which links to all, with a new session each
//     time;
//   - /docs/ links to "docs/", with its leading slash forgotten;
//   - /list/page/2 links to "page/3", the same;
//   - /down/1/ links to a folder below, each with a new name;
//   - /en/news/ links to "en/news/" below itself: a group that repeats;
//   - /grow?… redirects to a URL twice as long;
//   - /login, by links with rel=nofollow only, and /out/N, from pages that say nofollow.
//
// It also has ten pages without a trap, /about/1 to /about/10.
func TrapSite(target string) (html, location string) {
	path, query, _ := strings.Cut(target, "?")
	var b strings.Builder
	link := func(format string, args ...any) { fmt.Fprintf(&b, "<a href=\""+format+"\">x</a>\n", args...) }
	switch {
	case path == "/":
		for i := range 10 {
			link("/about/%d", i+1)
		}
		for _, way := range []string{"/calendar?month=0", "/shop", "/forum/0", "/docs/", "/list/page/2", "/down/1/", "/en/news/", "/grow?x", "/private"} {
			link("%s", way)
		}
		b.WriteString(`<a rel="nofollow" href="/login">x</a>`)
	case path == "/calendar":
		month := numbersOf(query)[0]
		link("/calendar?month=%d", month+1)
		link("/calendar?month=%d", max(0, month-1))
	case path == "/shop":
		for _, filter := range []string{"size=1", "size=2", "color=red", "color=blue", "sort=price", "view=list"} {
			link("/shop?%s&amp;%s", strings.ReplaceAll(query, "&", "&amp;"), filter)
		}
	case strings.HasPrefix(path, "/forum/"):
		for i := range int32(10) {
			sum := fnv.New64a()
			fmt.Fprintf(sum, "%s %d", target, i)
			link("/forum/%d?sid=%x", i, sum.Sum64())
		}
	case strings.HasPrefix(path, "/docs/"):
		link("docs/")
	case strings.HasPrefix(path, "/list/"):
		link("page/%d", strings.Count(path, "/page/")+2)
	case strings.HasPrefix(path, "/down/"):
		link("%d/", strings.Count(path, "/"))
	case strings.HasPrefix(path, "/en/"):
		link("en/news/")
	case path == "/grow":
		return "", "/grow?" + query + query
	case path == "/private":
		b.WriteString(`<meta name="robots" content="nofollow">`)
		for i := range 5 {
			link("/out/%d", i)
		}
	default:
		b.WriteString("a page")
	}
	return b.String(), ""
}

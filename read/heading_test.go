package read

import (
	"fmt"
	"strings"
	"testing"
)

const shoes = `<p>These shoes are made by hand in a village by the sea, and they are good for long runs on roads and in woods.</p>
<p>A second paragraph says how to care for them, who made them, and in which sizes and colours they can be had.</p>
<h2>Sizes</h2><p>All sizes from 36 to 46 are in stock, and others can be ordered; it takes three weeks until they are there.</p>`

// TestHeading: a text begins with the heading of its page, whatever the title element says. A
// heading that names the site is not that of the page.
func TestHeading(t *testing.T) {
	const nav = `<nav><a href="/">Home</a> <a href="/a">About</a> <a href="/c">Contact</a></nav>`
	for name, c := range map[string]struct{ page, first string }{
		"the site's title":            {`<title>Example Shop</title><header>` + nav + `</header><main><h1>Red shoes</h1>` + shoes + `</main>`, "# Red shoes"},
		"no title of a page":          {`<title>Untitled Document</title>` + nav + `<h1>Red shoes</h1>` + shoes, "# Red shoes"},
		"no title":                    {nav + `<h1>Red shoes</h1>` + shoes, "# Red shoes"},
		"a title for search engines":  {`<title>Buy cheap footwear | free shipping</title>` + nav + `<main><h1>Red shoes</h1>` + shoes + `</main>`, "# Red shoes"},
		"OpenGraph":                   {`<title>Example</title><meta property="og:title" content="Example">` + nav + `<article><header><h1>Red <em>shoes</em></h1><p>By Ann</p></header>` + shoes + `</article>`, "# Red shoes"},
		"a permalink":                 {`<title>Example</title>` + nav + `<h1>Red shoes<a href="#red">¶</a></h1>` + shoes, "# Red shoes"},
		"characters of Markdown":      {`<title>Example</title>` + nav + `<h1>*Red* shoes #</h1>` + shoes, `# \*Red\* shoes \#`},
		"the site's name in a header": {`<title>Red shoes</title><header><h1>Example Shop</h1>` + nav + `</header><div class=t>Red shoes</div>` + shoes, "# Red shoes"},
		"the site's name as a link":   {`<title>Red shoes</title><div><h1><a href="/">Example Shop</a></h1></div>` + nav + shoes, "# Red shoes"},
		"a link to the host":          {`<title>Red shoes</title><div><h1><a href="https://example.org">Example Shop</a></h1></div>` + nav + shoes, "# Red shoes"},
		"several headings":            {`<title>Red shoes</title>` + nav + `<div class=teaser><h1>Blue shoes</h1></div><div class=teaser><h1>White hats</h1></div>`, ""},
		"a heading of second level":   {`<title>Red shoes</title><div id=top><h1>Example Shop</h1></div>` + nav + `<main><h2>Red shoes</h2>` + shoes + `</main>`, "## Red shoes"},
	} {
		p := One(Source{URL: mustURL(t, "https://example.org/red"), ContentType: "text/html; charset=utf-8", Body: []byte(c.page)}, Options{})
		first, _, _ := strings.Cut(p.Markdown, "\n")
		if c.first != "" && first != c.first {
			t.Errorf("%s: begins with %q, expected %q; left out %v", name, first, c.first, p.Removed)
		}
		if heading := strings.TrimLeft(c.first, "# "); c.first != "" && strings.Count(p.Markdown, "\n"+heading+"\n") > 0 {
			t.Errorf("%s: its heading stands twice:\n%s", name, p.Markdown)
		}
	}
}

// TestSiteTitle: where the title element of every page is that of the site, the title of a page is
// its heading.
func TestSiteTitle(t *testing.T) {
	var pages []string
	page := func(i int, heading string) string {
		return fmt.Sprintf(`<title>Example Shop</title><div class=top><p>Sign in</p></div><main>%s<p>Number %d is a word of its own.</p>%s</main>`, heading, i, shoes)
	}
	for i := range 20 {
		pages = append(pages, page(i, fmt.Sprintf("<h1>Shoes of kind %d</h1>", i)))
	}
	s := learned(t, pages...)
	for want, text := range map[string]string{
		"Shoes of kind 3": pages[3], "Example Shop": page(30, ""),
		"Other": strings.Replace(page(31, "<h1>A heading</h1>"), "Example Shop", "Other", 1),
	} {
		p := oneOf(Source{URL: mustURL(t, "https://example.org/3"), ContentType: "text/html; charset=utf-8", Body: []byte(text)}, Options{}, s)
		if p.Title != want {
			t.Errorf("%.60q: title %q, expected %q", text, p.Title, want)
		}
	}
}

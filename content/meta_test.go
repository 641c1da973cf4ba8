package content_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/weburl"
)

// TestAbout reads titles, authors and dates as pages write them.
func TestAbout(t *testing.T) {
	const text = "<p>The ferry leaves at seven, and those who miss it have to walk around the bay.</p>"
	for name, c := range map[string]struct{ page, title, author, date, modified string }{
		"the heading is the title":        {"<title>Bike tours | Cycles</title><meta property=og:title content='Bike tours: all you need'><h1>Bike Tours</h1>", "Bike Tours", "", "", ""},
		"a heading with a link to itself": {"<title>json: JSON | Docs</title><h1>json: JSON<a class=headerlink href=#json>¶</a></h1>", "json: JSON", "", "", ""},
		"a heading in parts":              {"<title>The long way</title><h1>The long<br>way</h1>", "The long way", "", "", ""},
		"not the heading of the site":     {"<title>Ferries are late again - Bay Forum</title><h1>Bay Forum</h1>", "Ferries are late again", "", "", ""},
		"not a heading of another thing":  {"<title>Ferries are late again</title><h1>Newsletter sign-up</h1>", "Ferries are late again", "", "", ""},
		"the site by its host":            {"<title>Ferries are late - Bay News</title>", "Ferries are late", "", "", ""},
		"the site by a part of its name":  {"<title>Ferries | Bay</title><meta property=og:site_name content='The Bay Times'>", "Ferries", "", "", ""},
		"escaped twice":                   {"<meta property=og:title content='Ann &amp;amp; Jo'><meta name=author content='Ann &amp;amp; Jo'>", "Ann & Jo", "Ann & Jo", "", ""},
		"a profile is no name":            {"<title>T</title><meta property=article:author content=https://a.example/ann><a rel=author href=/ann>Ann Hill</a>", "T", "Ann Hill", "", ""},
		"by stands alone":                 {"<title>T</title><h1>T</h1><p>by <a href=/ann>Ann Hill</a> · 3 May 2021", "T", "Ann Hill", "2021-05-03", ""},
		"a name in two elements":          {"<title>T</title><h1>T</h1><h3 class=author><span>Ion</span> <span>Hill</span><i>I</i></h3>", "T", "Ion Hill", "", ""},
		"sorted by":                       {"<title>T</title><h1>T</h1><label>Sort by <b>Price</b></label>", "T", "", "", ""},
		"near the heading":                {"<title>T</title><div class=byline>Jo Tal</div><time datetime=2001-01-01>1</time><p>a<p>b<p>c<p>d<p>e<p>f<h1>T</h1><p class=byline>By <b>Ann Hill</b><p>Posted May 3rd, 2021<p>Last updated: 4.5.2022", "T", "Ann Hill", "2021-05-03", "2022-05-04"},
		"a card's reading time":           {"<title>T</title><meta name=twitter:label1 content='Est. reading time'><meta name=twitter:data1 content='5 minutes'><meta name=twitter:label2 content='Written by'><meta name=twitter:data2 content='Ann Hill'>", "T", "Ann Hill", "", ""},
		"a name for nobody":               {"<title>T</title><meta name=author content=admin><span class=author-name>Ann Hill</span>", "T", "Ann Hill", "", ""},
		"people of a graph": {`<title>T</title><script type=application/ld+json>{"@graph": [{"@type": "Article", "author": [{"@id": "#a"}, {"name": "Jo Tal"}], "datePublished": "2021-05-03T10:00:00Z"},
			{"@type": "Person", "@id": "#a", "name": "Ann Hill"}]}</script>`, "T", "Ann Hill, Jo Tal", "2021-05-03", ""},
		"a page of a graph":            {`<title>T</title><script type=application/ld+json>{"@graph": [{"@type": "WebPage", "name": "Page", "datePublished": "2021-05-03", "dateModified": "2022-05-04"}]}</script>`, "T", "", "2021-05-03", "2022-05-04"},
		"a question":                   {`<title>T</title><script type=application/ld+json>{"@type": "QAPage", "mainEntity": {"@type": "Question", "author": {"name": "ann"}}}</script>`, "T", "ann", "", ""},
		"line breaks in JSON":          {"<title>T</title><script type=application/ld+json>{\"@type\": \"Article\", \"description\": \"a\nb\", \"author\": \"Ann Hill\"}</script>", "T", "Ann Hill", "", ""},
		"people before organizations":  {`<title>T</title><script type=application/ld+json>{"@type": "Article", "author": {"@type": "Organization", "name": "Bay Press"}}</script><p class=byline>By Ann Hill`, "T", "Ann Hill", "", ""},
		"an organization if need be":   {`<title>T</title><script type=application/ld+json>{"@type": "Article", "author": {"@type": "Organization", "name": "Bay Press"}}</script>`, "T", "Bay Press", "", ""},
		"people before the site":       {`<title>T</title><meta property=og:site_name content="Bay News"><meta name=author content="Bay News"><p class=byline>By Ann Hill`, "T", "Ann Hill", "", ""},
		"a name in microdata":          {"<title>T</title><div itemprop=author><meta itemprop=name content='Ann Hill'><i>7 posts</i></div><span itemprop=datePublished>May 3, 2021</span>", "T", "Ann Hill", "2021-05-03", ""},
		"a sentence goes on":           {"<title>T</title><h1>T</h1><p><i>Lines</i> by following <a href=/x>rules</a> and by <a href=/y>using one of the tools.</a>", "T", "", "", ""},
		"a user":                       {"<title>T</title><h1>T</h1><p>by <a href=/ann><b>ann_hill</b></a>", "T", "ann_hill", "", ""},
		"a particle":                   {"<title>T</title><h1>T</h1><p>by <i>de Ann Hill</i>", "T", "de Ann Hill", "", ""},
		"a name with a day":            {"<title>T</title><h1>T</h1><p class=byline>By Ann Hill on Monday, May 3, 2021", "T", "Ann Hill", "2021-05-03", ""},
		"a byline without a name":      {"<title>T</title><h1>T</h1><p class=byline>Updated<p class=byline>6:01 PM<p class=byline>Posted by", "T", "", "", ""},
		"a surname":                    {"<title>T</title><h3 class=author><b class=firstname>Ann M.</b> <b class=surname>de Hill</b></h3>", "T", "Ann M. de Hill", "", ""},
		"the heading of a manual":      {"<title>Ferries — Bay 2.0 Manual</title><h1>Bay 2.0 Manual</h1><h1>Ferries</h1>", "Ferries", "", "", ""},
		"the heading of a book":        {"<title>Late ferries - The Ferry Book</title><h1 class=menu-title>The Ferry Book</h1>", "Late ferries - The Ferry Book", "", "", ""},
		"the first day of Unix time":   {"<title>T</title><meta name=date content=1970-01-01><h1>T</h1><p>January 1, 1970", "T", "", "", ""},
		"a word that may be divided":   {"<title>Assis\u00adtance</title><h1>Assis\u00adtance</h1>", "Assistance", "", "", ""},
		"an impossible day is no date": {"<title>T</title><h1>T</h1><p>31 February 2021<p>2021-13-01", "T", "", "", ""},
	} {
		root, err := content.Parse([]byte(c.page + text))
		if err != nil {
			t.Fatal(err)
		}
		u, err := weburl.Parse("https://www.baynews.example/x")
		if err != nil {
			t.Fatal(err)
		}
		got := content.Extract(content.Page{URL: u, Root: root}, content.Options{})
		if got.Title != c.title || got.Author != c.author || day(got.Date) != c.date || day(got.Modified) != c.modified {
			t.Errorf("%s: got %q, %q, %s, %s, want %q, %q, %s, %s", name, got.Title, got.Author, day(got.Date), day(got.Modified), c.title, c.author, c.date, c.modified)
		}
	}
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

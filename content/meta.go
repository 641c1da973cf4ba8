package content

import (
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A field of Content. Each has several sources; the best one counts, and of equal ones the first.
type field uint8

const (
	title field = iota
	author
	site
	description
	published
	modified
	locale
)

type said struct {
	value string
	rank  int
}

// The ranks of sources. What is written for machines to quote is better than what is shown.
const (
	rankGroup = iota + 1 // an organization as author
	rankText             // bylines, time elements, h1
	rankTitle            // <title>, which often has the site's name in it
	rankMeta             // meta name
	rankGraph            // OpenGraph
	rankLD               // JSON-LD
)

const (
	mostValue = 4 << 10   // bytes of a field
	mostJSON  = 512 << 10 // bytes of JSON-LD that are read of a page
)

// metas are the names and properties of meta elements that say something.
var metas = map[string]struct {
	field field
	rank  int
}{
	"og:title": {title, rankGraph}, "twitter:title": {title, rankMeta}, "dc.title": {title, rankMeta}, "citation_title": {title, rankLD},
	"author": {author, rankMeta}, "article:author": {author, rankMeta}, "dc.creator": {author, rankMeta}, "parsely-author": {author, rankMeta},
	"byl": {author, rankMeta}, "sailthru.author": {author, rankMeta}, "citation_author": {author, rankMeta},
	"og:site_name": {site, rankGraph}, "application-name": {site, rankMeta},
	"description": {description, rankMeta}, "og:description": {description, rankGraph}, "dc.description": {description, rankMeta},
	"twitter:description":    {description, rankText},
	"article:published_time": {published, rankGraph}, "og:published_time": {published, rankGraph}, "datepublished": {published, rankGraph},
	"date": {published, rankMeta}, "dc.date": {published, rankMeta}, "dc.date.issued": {published, rankMeta}, "pubdate": {published, rankMeta},
	"publishdate": {published, rankMeta}, "publish-date": {published, rankMeta}, "parsely-pub-date": {published, rankMeta},
	"sailthru.date": {published, rankMeta}, "published": {published, rankMeta},
	"published_date": {published, rankMeta}, "published-date": {published, rankMeta}, "publication_date": {published, rankMeta},
	"publication-date": {published, rankMeta}, "publish_date": {published, rankMeta}, "dcterms.date": {published, rankMeta}, "dcterms.issued": {published, rankMeta},
	"citation_publication_date": {published, rankMeta}, "dcterms.created": {published, rankMeta},
	"article:modified_time": {modified, rankGraph}, "og:updated_time": {modified, rankGraph}, "datemodified": {modified, rankGraph},
	"last-modified": {modified, rankMeta}, "dcterms.modified": {modified, rankMeta}, "lastmod": {modified, rankMeta}, "revised": {modified, rankMeta},
	"og:locale": {locale, rankText}, "content-language": {locale, rankMeta}, "language": {locale, rankText}, "dc.language": {locale, rankText},
}

// describe reads what a page says about itself.
func describe(p Page) *about {
	a := &about{said: make(map[field]said)}
	if domain := weburl.RegistrableDomain(p.URL.Hostname()); domain != "" {
		a.host, _, _ = strings.Cut(domain, ".")
	}
	a.read(p.Root)
	a.sayShown()
	c := &a.content
	c.Site = a.said[site].value
	c.Title = a.title()
	c.Author = a.said[author].value
	c.Description = a.said[description].value
	c.Date = date(a.said[published].value)
	c.Modified = date(a.said[modified].value)
	c.Kind = [...]string{"", "article", "product", "forum", "collection"}[a.kind]
	if a.language == "" {
		a.language = a.said[locale].value
	}
	return a
}

// read visits the elements and texts of a page.
func (a *about) read(root *html.Node) {
	walk(root, func(n *html.Node) bool {
		switch n.Type {
		case html.ElementNode:
			a.element(n)
			return n.Namespace == "" && n.DataAtom != atom.Script && n.DataAtom != atom.Style
		case html.TextNode:
			a.shown.text(n)
		}
		return true
	})
}

func (a *about) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Html:
		a.language = attr(n, "lang")
		if a.language == "" {
			a.language = attr(n, "xml:lang")
		}
	case atom.Title:
		if n.Namespace == "" {
			if a.head == "" {
				a.head = textOf(n)
			}
			a.say(title, textOf(n), rankTitle)
		}
	case atom.H1:
		if attr(n, "class") != "menu-title" { // mdBook's: the title of the whole book
			a.shown.heading(textOf(n))
		}
	case atom.Meta:
		a.meta(n)
	case atom.Script:
		if n.FirstChild != nil && strings.EqualFold(attr(n, "type"), "application/ld+json") {
			a.linked(n.FirstChild.Data)
		}
	default:
		a.shown.marked(n)
	}
}

func (a *about) meta(n *html.Node) {
	var names [4]string
	var value string
	for _, at := range n.Attr {
		switch at.Key {
		case "property":
			names[0] = at.Val
		case "name":
			names[1] = at.Val
		case "itemprop":
			names[2] = at.Val
		case "http-equiv":
			names[3] = at.Val
		case "content":
			value = at.Val
		}
	}
	for _, name := range names {
		name = strings.ToLower(name)
		switch name {
		case "og:type":
			a.typed(value, false)
		case "generator":
			a.manual = a.manual || makesManuals(value)
		case "twitter:label1", "twitter:label2":
			a.label = value
		case "twitter:data1", "twitter:data2":
			if label := strings.ToLower(a.label); strings.Contains(label, "written by") || label == "author" || label == "by" {
				a.say(author, value, rankMeta)
			}
		}
		if m, ok := metas[name]; ok {
			a.say(m.field, value, m.rank)
		}
	}
}

// befores are words before a name.
var befores = append(slices.Clone(by), "author", "von", "par", "por", "di")

// clock is a time of the day.
var clock = regexp.MustCompile(`\d:\d\d`)

// nobodies are words at the start of a byline that name nobody, such as what programs call an
// unknown author.
var nobodies = map[string]bool{
	"updated": true, "published": true, "originally published": true, "heard on": true, "via": true, "home": true, "guide": true,
	"review": true, "skip to content": true,
	"admin": true, "administrator": true, "undefined": true, "null": true, "none": true, "author": true, "anonymous": true, "guest": true, "unknown": true,
}

// sayShown says what is shown: of each field, what stands nearest to the heading.
func (a *about) sayShown() {
	s := &a.shown
	at := -1
	if h := a.mainHeading(); h != nil {
		at = h.at
	}
	for _, f := range [...]field{author, published, modified} {
		best, cost := "", 1<<30
		for _, n := range s.notes {
			if n.field == f && s.cost(n, at) < cost {
				best, cost = n.value, s.cost(n, at)
			}
		}
		if f == author && best != "" && sameWords(a.said[author].value, a.said[site].value) {
			a.said[author] = said{} // the site has named itself
		}
		a.say(f, best, rankText)
	}
}

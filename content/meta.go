package content

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// about is what a page says about itself.
type about struct {
	content  Content // without tree
	kind     blocks.Kind
	language string // as the page declares it
	text     string // that the page gives to search engines
	said     map[field]said
	json     int // bytes of JSON-LD read
}

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
	rankText  = iota + 1 // bylines, time elements, h1
	rankTitle            // <title>, which often has the site's name in it
	rankMeta             // meta name
	rankGraph            // OpenGraph
	rankLD               // JSON-LD
)

func (a *about) say(f field, value string, rank int) {
	value = strings.Join(strings.Fields(value), " ")
	if value != "" && rank > a.said[f].rank && len(value) <= mostValue {
		a.said[f] = said{value, rank}
	}
}

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
	"byl": {author, rankMeta}, "sailthru.author": {author, rankMeta}, "citation_author": {author, rankMeta}, "twitter:data1": {author, rankText},
	"og:site_name": {site, rankGraph}, "application-name": {site, rankMeta},
	"description": {description, rankMeta}, "og:description": {description, rankGraph}, "dc.description": {description, rankMeta},
	"twitter:description":    {description, rankText},
	"article:published_time": {published, rankGraph}, "og:published_time": {published, rankGraph}, "datepublished": {published, rankGraph},
	"date": {published, rankMeta}, "dc.date": {published, rankMeta}, "dc.date.issued": {published, rankMeta}, "pubdate": {published, rankMeta},
	"publishdate": {published, rankMeta}, "publish-date": {published, rankMeta}, "parsely-pub-date": {published, rankMeta},
	"sailthru.date": {published, rankMeta}, "citation_publication_date": {published, rankMeta}, "dcterms.created": {published, rankMeta},
	"article:modified_time": {modified, rankGraph}, "og:updated_time": {modified, rankGraph}, "datemodified": {modified, rankGraph},
	"last-modified": {modified, rankMeta}, "dcterms.modified": {modified, rankMeta}, "lastmod": {modified, rankMeta}, "revised": {modified, rankMeta},
	"og:locale": {locale, rankText}, "content-language": {locale, rankMeta}, "language": {locale, rankText}, "dc.language": {locale, rankText},
}

// describe reads what a page says about itself.
func describe(root *html.Node) *about {
	a := &about{said: make(map[field]said)}
	walk(root, func(n *html.Node) bool {
		if n.Type == html.ElementNode {
			a.element(n)
		}
		return n.DataAtom != atom.Script && n.Namespace == ""
	})
	c := &a.content
	c.Title = a.said[title].value
	c.Author = person(a.said[author].value)
	c.Site = a.said[site].value
	c.Description = a.said[description].value
	c.Date = date(a.said[published].value)
	c.Modified = date(a.said[modified].value)
	c.Kind = [...]string{"", "article", "product", "forum", "collection"}[a.kind]
	if a.language == "" {
		a.language = a.said[locale].value
	}
	if a.said[title].rank == rankTitle {
		c.Title = withoutSite(c.Title, c.Site)
	}
	return a
}

func (a *about) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Html:
		a.language = attr(n, "lang")
		if a.language == "" {
			a.language = attr(n, "xml:lang")
		}
	case atom.Title:
		a.say(title, beginningOf(n), rankTitle)
	case atom.H1:
		if a.said[title].rank == 0 {
			a.say(title, beginningOf(n), rankText)
		}
	case atom.Meta:
		a.meta(n)
	case atom.Script:
		if n.FirstChild != nil && strings.EqualFold(attr(n, "type"), "application/ld+json") {
			a.linked(n.FirstChild.Data)
		}
	case atom.Time:
		a.time(n)
	case atom.A, atom.Span, atom.P, atom.Div, atom.Address, atom.Li, atom.Cite:
		a.byline(n)
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
		if name == "og:type" {
			a.typed(value, false)
		}
		if m, ok := metas[name]; ok {
			a.say(m.field, value, m.rank)
		}
	}
}

func (a *about) time(n *html.Node) {
	when := attr(n, "datetime")
	if when == "" {
		when = beginningOf(n)
	}
	if date(when).IsZero() {
		return
	}
	hint := strings.ToLower(attr(n, "itemprop") + " " + attr(n, "class"))
	if strings.Contains(hint, "modified") || strings.Contains(hint, "updated") && !strings.Contains(hint, "published") {
		a.say(modified, when, rankText)
		return
	}
	a.say(published, when, rankText)
}

// byline takes the author from an element that is marked as such.
func (a *about) byline(n *html.Node) {
	if a.said[author].rank > 0 {
		return
	}
	for _, at := range n.Attr {
		switch at.Key {
		case "rel", "itemprop":
			if at.Val != "author" {
				continue
			}
		case "class":
			if !slices.ContainsFunc(bylines, func(name string) bool { return strings.Contains(at.Val, name) }) {
				continue
			}
		default:
			continue
		}
		if name := person(beginningOf(n)); name != "" && len(strings.Fields(name)) <= 6 {
			a.say(author, name, rankText)
		}
	}
}

// bylines are what classes of an author's name contain.
var bylines = []string{"byline", "author-name", "author__name", "author_name", "p-author", "post-author", "entry-author"}

// person takes "By" and what follows the name off.
func person(name string) string {
	for _, by := range [...]string{"by ", "von ", "par ", "por ", "di "} {
		if len(name) > len(by) && strings.EqualFold(name[:len(by)], by) {
			name = name[len(by):]
		}
	}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" { // of a profile
		return ""
	}
	name, _, _ = strings.Cut(name, "|")
	return strings.Trim(name, " ,·•-–")
}

// withoutSite takes the name of the site off the end of a title.
func withoutSite(title, site string) string {
	if site == "" {
		return title
	}
	for _, between := range [...]string{" | ", " - ", " – ", " — ", " · ", " :: ", " « ", " » "} {
		if rest, ok := strings.CutSuffix(title, between+site); ok {
			return rest
		}
	}
	return title
}

// beginningOf is the text of an element, up to the length of a field.
func beginningOf(n *html.Node) string {
	var text strings.Builder
	walk(n, func(m *html.Node) bool {
		if m.Type == html.TextNode && text.Len() < 400 {
			text.WriteString(m.Data[:min(len(m.Data), 400)])
		}
		return text.Len() < 400
	})
	return strings.ToValidUTF8(text.String(), "")
}

// linked reads JSON-LD.
func (a *about) linked(text string) {
	if a.json += len(text); a.json > mostJSON {
		return
	}
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "<![CDATA["), "]]>")
	var value any
	if json.Unmarshal([]byte(text), &value) == nil {
		a.value(value, 0)
	}
}

// value reads a value of JSON-LD: a thing, or a list of things.
func (a *about) value(value any, depth int) {
	if depth > 4 {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			a.value(one, depth+1)
		}
	case map[string]any:
		for _, t := range list(v["@type"]) {
			a.typed(t, true)
			if pageTypes[t] > 0 {
				a.thing(v)
			}
			if t == "WebSite" {
				a.say(site, text(v["name"]), rankMeta)
			}
		}
		for _, key := range [...]string{"@graph", "mainEntity", "mainEntityOfPage"} {
			a.value(v[key], depth+1)
		}
	}
}

// thing reads what a page is about.
func (a *about) thing(v map[string]any) {
	title0 := text(v["headline"])
	if title0 == "" {
		title0 = text(v["name"])
	}
	a.say(title, title0, rankLD)
	a.say(author, text(v["author"]), rankLD)
	a.say(site, text(v["publisher"]), rankMeta)
	a.say(description, text(v["description"]), rankMeta)
	a.say(published, text(v["datePublished"]), rankLD)
	a.say(modified, text(v["dateModified"]), rankLD)
	a.say(locale, text(v["inLanguage"]), rankText)
	if body := text(v["articleBody"]); len(body) > len(a.text) {
		a.text = body
	}
}

// pageTypes are the types of things that a page is, with the kind they make it.
var pageTypes = map[string]int{
	"Article": 1, "NewsArticle": 1, "BlogPosting": 1, "TechArticle": 1, "Report": 1, "ReportageNewsArticle": 1,
	"AnalysisNewsArticle": 1, "OpinionNewsArticle": 1, "ReviewNewsArticle": 1, "ScholarlyArticle": 1, "LiveBlogPosting": 1, "Recipe": 1,
	"Product": 2, "ProductGroup": 2, "DiscussionForumPosting": 3, "QAPage": 3,
	"CollectionPage": 4, "ItemList": 4,
}

// typed notes the type of the page: a forum is one whatever else, and an article may show products.
func (a *about) typed(name string, linked bool) {
	kind := blocks.Kind(pageTypes[name])
	if !linked {
		switch {
		case name == "article":
			kind = blocks.Article
		case strings.Contains(name, "product"):
			kind = blocks.Product
		}
	}
	if kindRank[kind] > kindRank[a.kind] {
		a.kind = kind
	}
}

var kindRank = [blocks.Kinds]int{blocks.Forum: 4, blocks.Article: 3, blocks.Product: 2, blocks.Collection: 1}

// text is what a value says: itself, its name, or those of its first few.
func text(value any) string {
	return strings.Join(list(value), ", ")
}

func list(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case map[string]any:
		for _, key := range [...]string{"name", "@value"} {
			if s, ok := v[key].(string); ok {
				return []string{s}
			}
		}
	case []any:
		for _, one := range v[:min(len(v), 8)] {
			if s := list(one); len(s) > 0 {
				all = append(all, s[0])
			}
		}
	}
	return all
}

// layouts are the forms of dates on the Web.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006-01", "2006/01", "20060102", "January 2, 2006", "Jan 2, 2006", "Jan. 2, 2006",
	"2 January 2006", "2 Jan 2006", "Monday, January 2, 2006", "Monday, 2 January 2006", "January 2, 2006 3:04 PM", "Jan 2, 2006 3:04 PM", "January 2, 2006, 3:04 pm", "02.01.2006", "2.1.2006", "1/2/2006",
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, "Mon, 2 Jan 2006 15:04:05 -0700", "2006-01-02T15:04:05.000-0700", "2006",
}

// date reads a date. A date without a zone is read as UTC.
func date(s string) time.Time {
	s = strings.TrimSpace(s)
	if len(s) < 4 || len(s) > 40 {
		return time.Time{}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1900 && t.Year() < 2200 {
			return t
		}
	}
	return time.Time{}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

package content

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
)

// linked reads JSON-LD.
func (a *about) linked(text string) {
	if a.json += len(text); a.json > mostJSON {
		return
	}
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "<![CDATA["), "]]>")
	var value any
	err := json.Unmarshal([]byte(text), &value)
	if err != nil { // many a text has line breaks as they are
		err = json.Unmarshal([]byte(strings.Map(blank, text)), &value)
	}
	if err == nil {
		a.value(value, 0)
	}
}

// blank makes a space of a control character.
func blank(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
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
		a.named(v["@graph"])
		for _, t := range list(v["@type"]) {
			a.typed(t, true)
			switch {
			case pageTypes[t] > 0:
				a.thing(v)
			case dated[t]:
				a.made(v, rankMeta)
			case t == "WebSite":
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
	a.made(v, rankLD)
	a.say(site, text(v["publisher"]), rankMeta)
	a.say(description, text(v["description"]), rankMeta)
	a.say(locale, text(v["inLanguage"]), rankText)
	if body := text(v["articleBody"]); len(body) > len(a.text) {
		a.text = body
	}
}

// made reads who made a thing, and when.
func (a *about) made(v map[string]any, rank int) {
	names, groups := a.people(v["author"])
	a.say(author, strings.Join(names, ", "), rank)
	a.say(author, strings.Join(groups, ", "), rankGroup)
	for _, key := range [...]string{"datePublished", "dateCreated"} {
		a.say(published, text(v[key]), rank)
	}
	a.say(modified, text(v["dateModified"]), rank)
}

// people are the names of the first few authors, and of organizations among them.
func (a *about) people(value any) (names, groups []string) {
	all, ok := value.([]any)
	if !ok {
		all = []any{value}
	}
	for _, one := range all[:min(len(all), 8)] {
		name := person(html.UnescapeString(text(one)))
		v, _ := one.(map[string]any)
		if id, ok := v["@id"].(string); ok && name == "" {
			name = person(a.things[id])
		}
		switch {
		case name == "":
		case slices.Contains(list(v["@type"]), "Organization"):
			groups = append(groups, name)
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, groups
}

// named notes the names of the things of a graph, which others refer to.
func (a *about) named(graph any) {
	all, _ := graph.([]any)
	for _, one := range all {
		v, _ := one.(map[string]any)
		id, _ := v["@id"].(string)
		if name := text(v["name"]); id != "" && name != "" {
			if a.things == nil {
				a.things = make(map[string]string)
			}
			a.things[id] = name
		}
	}
}

// dated are types of things whose author and dates are those of the page.
var dated = map[string]bool{"WebPage": true, "ItemPage": true, "MedicalWebPage": true, "Question": true, "HowTo": true}

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

// text is the text of a value: itself, its name, or those of its first few.
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

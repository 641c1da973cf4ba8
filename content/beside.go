package content

import (
	"strings"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The rules of what stands beside an article.
const (
	comments = "comments"
	sidebar  = "sidebar"
)

// leastArticle is the least number of words of an article: a page with fewer outside of its
// comments and sidebars names something else so.
const leastArticle = 40

// mostOfArticle is the ratio of words, to those elsewhere, from which an element is the article
// itself.
const mostOfArticle = 2

// beside leaves out the comments and sidebars of a page that says it is an article. Comments can be
// longer than the article, and read as well. An element that holds the title is the article itself,
// and an aside among the paragraphs is part of it.
func (s *selection) beside() {
	if s.page.Kind != blocks.Article {
		return
	}
	all, title := s.page.All, s.page.Title()
	rules := make([]string, len(s.keep))
	k, end, rule, left := 0, int32(0), "", int32(0)
	for i := range int32(len(all)) {
		e := &all[i]
		if i >= end {
			rule = ""
			if found := besideRule(e.Node); found != "" && (title < i || title >= e.End) && (found != sidebar || !s.holdsText(i)) && !s.isArticle(i) {
				rule, end = found, e.End
			}
		}
		if e.Own == 0 {
			continue
		}
		if rules[k] = rule; rule == "" && s.keep[k] {
			left += e.Own
		}
		k++
	}
	if left < leastArticle {
		return
	}
	for k, rule := range rules {
		if rule != "" {
			s.keep[k], s.why[k] = false, rule
		}
	}
}

// isArticle reports whether an element is the article itself, whatever its name: the most prose is
// in it, and elsewhere there is a lead at most.
func (s *selection) isArticle(i int32) bool {
	prose := s.page.Prose()
	if prose < i || prose >= s.page.All[i].End {
		return false
	}
	var in, out, paragraphs int32 // words in it and elsewhere, and paragraphs elsewhere
	for k, b := range s.page.Index {
		switch e := &s.page.All[b]; {
		case !s.keep[k]:
		case b >= i && b < s.page.All[i].End:
			in += e.Own
		default:
			out += e.Own
			if isParagraph(e) {
				paragraphs++
			}
		}
	}
	return paragraphs <= 1 && in > mostOfArticle*out
}

// holdsText reports whether what is called a sidebar is the text: it stands among the paragraphs,
// or its class is about the layout of what is in it, such as right-sidebar.
func (s *selection) holdsText(i int32) bool {
	e, prose := &s.page.All[i], s.page.Prose()
	return prose > 0 && (i > prose && i < s.page.All[prose].End || i < prose && prose < e.End && isLayout(e.Node))
}

// isLayout reports whether an element may be called a sidebar because it has one.
func isLayout(n *html.Node) bool {
	return n.DataAtom != atom.Aside && attr(n, "role") != "complementary"
}

// besideRule returns the rule by which an element stands beside an article, by its name, role, id
// and classes, or "".
func besideRule(n *html.Node) string {
	if n.DataAtom == atom.Aside {
		return sidebar
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "role":
			if a.Val == "complementary" {
				return sidebar
			}
		case "id", "class":
			if !mayBeside(a.Val) {
				continue
			}
			for name := range strings.FieldsSeq(a.Val) {
				if rule := namedBeside(name); rule != "" {
					return rule
				}
			}
		}
	}
	return ""
}

// mayBeside reports whether an id or classes have a word of namedBeside in them, in letters of
// either case: most have none, and need not be parted.
func mayBeside(names string) bool {
	for i := 0; i+len("disqus") <= len(names); i++ {
		word := ""
		switch names[i] | 0x20 {
		case 'c':
			word = "comment"
		case 's':
			word = "sidebar"
		case 'd':
			word = "disqus"
		default:
			continue
		}
		if end := i + len(word); end <= len(names) && strings.EqualFold(names[i:end], word) {
			return true
		}
	}
	return false
}

// namedBeside reads a class or id: comments begin or end with their word, such as commentsContainer
// and post-comments, and a sidebar says little else, as sidebar-enabled and content-sidebar are
// names of articles.
func namedBeside(name string) string {
	words := nameWords(name)
	if len(words) == 0 {
		return ""
	}
	if len(words) > 1 && (states[words[0]] || states[words[len(words)-1]]) {
		return ""
	}
	switch words[0] {
	case "comment", "comments", "commentlist", "disqus":
		return comments
	}
	switch words[len(words)-1] {
	case "comment", "comments":
		return comments
	}
	bar := false
	for _, word := range words {
		switch word {
		case "sidebar":
			bar = true
		case "left", "right", "primary", "secondary", "widget", "widgets", "container":
		default:
			return ""
		}
	}
	if bar {
		return sidebar
	}
	return ""
}

// states are words at the ends of names that say of an article that it may be commented on, or that
// it is a comment itself: comments-open, has-comments, category-comment.
var states = map[string]bool{
	"open": true, "closed": true, "enabled": true, "disabled": true, "on": true, "off": true,
	"has": true, "no": true, "with": true, "without": true, "category": true, "tag": true, "tone": true, "type": true,
}

// nameWords are the words of a name in small letters, parted by what is no letter, or by a capital
// behind a small letter.
func nameWords(name string) (words []string) {
	from := 0
	end := func(to int) {
		if from < to {
			words = append(words, strings.ToLower(name[from:to]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c|0x20 < 'a' || c|0x20 > 'z':
			end(i)
			from = i + 1
		case i > from && c < 'a' && name[i-1] >= 'a':
			end(i)
			from = i
		}
	}
	end(len(name))
	return words
}

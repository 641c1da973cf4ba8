package content

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// shown is the visible account of a page's title, author and dates: its headings, and what stands
// near them.
type shown struct {
	texts    int // seen so far, with a word in them
	headings []heading
	notes    []note
	by       bool // the text before ends with "by"
}

// A heading is an h1.
type heading struct {
	text string
	at   int // texts before it
}

// A note is an author or a date that stands somewhere on a page.
type note struct {
	field field
	value string
	at    int // texts before it
	mark  mark
}

// A mark is the sign by which a note is known.
type mark uint8

const (
	asText  mark = iota // by its words
	asClass             // by a class
	asMark              // by an attribute that is made for it
)

const (
	mostHeadings = 8
	mostNotes    = 200
	mostNote     = 120 // bytes of a text with an author or a date
	near         = 30  // texts between a heading and what belongs to it
	mostPerson   = 6   // words of a name
)

func (s *shown) heading(text string) {
	text = strings.TrimRight(inLine(text), permalinks)
	if text != "" && len(s.headings) < mostHeadings {
		s.headings = append(s.headings, heading{text, s.texts})
	}
}

// inLine is a text in one line, without hints where a word may be divided.
func inLine(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00ad", "")), " ")
}

// permalinks are the signs of links to a heading that stand behind it.
const permalinks = " ¶§🔗"

func (s *shown) note(f field, value string, how mark) {
	if value = inLine(value); len(s.notes) < mostNotes && value != "" {
		s.notes = append(s.notes, note{f, value, s.texts, how})
	}
}

// text reads a text node: "By Ann Hill", "by" before a name, "Updated 3 May 2021".
func (s *shown) text(n *html.Node) {
	text := strings.TrimSpace(n.Data)
	if text == "" {
		return
	}
	s.texts++
	named := s.by
	if s.by = endsWithBy(text); s.by || len(text) > mostNote {
		return
	}
	if named || beginsWithBy(text) {
		name, _, _ := strings.Cut(person(text), " · ")
		isUser := !strings.Contains(name, " ") && isIn(n, atom.A)
		if len(strings.Fields(name)) <= mostPerson && (isUser || isProper(name)) {
			s.note(author, name, asText)
		}
	}
	s.date(text, asText)
}

// isIn reports whether a text stands in an element of a name: in it, or in one that stands in it.
func isIn(text *html.Node, name atom.Atom) bool {
	p := text.Parent
	return p.DataAtom == name || p.Parent != nil && p.Parent.DataAtom == name
}

// by are the words before a name: not those of "Sort by".
var by = []string{"by", "written by", "posted by", "published by", "article by", "text by", "words by", "authored by", "started by"}

func endsWithBy(text string) bool {
	return slices.Contains(by, strings.ToLower(strings.TrimRight(text, " :")))
}

func beginsWithBy(text string) bool {
	return slices.ContainsFunc(by, func(by string) bool { return beginsWith(text, by) })
}

// isProper reports whether words begin as those of a name do, but for short ones such as "de": "by
// hand" names nobody, nor does "by using Weft".
func isProper(text string) bool {
	const short = 3 // bytes
	proper := false
	for word := range strings.FieldsSeq(text) {
		first, _ := utf8.DecodeRuneInString(word)
		if unicode.IsLower(first) && len(word) > short {
			return false
		}
		proper = proper || unicode.IsLetter(first) && !unicode.IsLower(first)
	}
	return proper
}

// beginsWith reports whether a text begins with words, in large or small letters.
func beginsWith(text, words string) bool {
	return len(text) > len(words) && strings.EqualFold(text[:len(words)], words) && strings.IndexAny(text[len(words):], " :\u00a0") == 0
}

// date notes a date in a text.
func (s *shown) date(text string, how mark) {
	when := dayIn(text)
	if when == "" {
		return
	}
	text = strings.ToLower(text)
	if strings.Contains(text, "updated") || strings.Contains(text, "modified") || strings.Contains(text, "revised") {
		s.note(modified, when, how)
		return
	}
	s.note(published, when, how)
}

// marked reads an element that is marked as an author or a date.
func (s *shown) marked(n *html.Node) {
	if n.DataAtom == atom.Time {
		s.time(n)
		return
	}
	for _, at := range n.Attr {
		switch at.Key {
		case "rel":
			if at.Val == "author" {
				s.person(n, asMark)
			}
		case "itemprop":
			switch at.Val {
			case "author":
				s.person(n, asMark)
			case "datePublished", "dateCreated":
				s.date(textOf(n), asMark)
			}
		case "class":
			for name := range strings.FieldsSeq(at.Val) {
				name = strings.ToLower(name)
				if bylines[name] || containsAny(name, "byline", "author-name", "author__name", "author_name", "authorname") {
					s.person(n, asClass)
					break
				}
			}
		}
	}
}

// bylines are classes of an author's name.
var bylines = map[string]bool{
	"author": true, "p-author": true, "post-author": true, "entry-author": true, "article-author": true, "blog-author": true,
	"posted-by": true, "username": true,
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// person notes the author that an element names.
func (s *shown) person(n *html.Node, how mark) {
	name := ""
	for m := range first(n) { // the first text that may be one, or what is marked as its name
		if attr(m, "itemprop") == "name" {
			name = cmp.Or(attr(m, "content"), textOf(m))
			break
		}
		if isSurname(m) && name != "" {
			name += " " + textOf(m)
			break
		}
		text := strings.TrimSpace(m.Data)
		switch {
		case m.Type != html.TextNode || text == "" || len(text) > mostNote:
		case name == "" && !endsWithBy(text) && dayIn(text) == "":
			name = person(text)
		case isName(name) && isName(text): // of a person, in two elements
			name += " " + text
		}
	}
	if len(strings.Fields(name)) <= mostPerson {
		s.note(author, person(name), how)
	}
}

// isSurname reports whether an element is marked as the last part of a name.
func isSurname(n *html.Node) bool {
	class := attr(n, "class")
	return class == "surname" || class == "family-name" || class == "last-name"
}

// isName reports whether a text may be a first name, or a last name.
func isName(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first) && size < len(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) < 0
}

func (s *shown) time(n *html.Node) {
	when := attr(n, "datetime")
	if date(when).IsZero() {
		when = dayIn(textOf(n))
	}
	if when == "" {
		return
	}
	hint := strings.ToLower(attr(n, "itemprop") + " " + attr(n, "class"))
	if containsAny(hint, "modified", "updated") && !strings.Contains(hint, "published") {
		s.note(modified, when, asMark)
		return
	}
	s.note(published, when, asMark)
}

// cost is the distance of a note from the page whose heading is at a place.
func (s *shown) cost(n note, heading int) int {
	far := n.at - heading
	if far < 0 {
		far = -3 * far // what belongs to a heading follows it
	}
	switch {
	case heading < 0 && n.mark == asText, far > near && n.mark == asText:
		return 1 << 30
	case heading >= 0 && far <= near:
		return far - 5*int(n.mark)
	}
	return far + 1000*(3-int(n.mark))
}

// mainHeading is the h1 that is the title of the page: most of its words are in what the page says
// its title is. Of two such, it is the one with which the title begins. It is nil if there is none.
func (a *about) mainHeading() *heading {
	words := make(map[string]bool)
	head := strings.Join(wordsOf(a.head), " ") + " "
	for _, t := range [...]string{a.said[title].value, a.head} {
		for _, w := range wordsOf(t) {
			words[w] = true
		}
	}
	var best *heading
	most := 0.5
	for i := range a.shown.headings {
		h := &a.shown.headings[i]
		of := wordsOf(h.text)
		in := 0
		for _, w := range of {
			if words[w] {
				in++
			}
		}
		part := float64(in) / float64(max(1, len(of)))
		if part > most || part == most && (best == nil || a.endsWith(best.text) && strings.HasPrefix(head, strings.Join(of, " ")+" ")) {
			best, most = h, part
		}
	}
	return best
}

// endsWith reports whether a heading stands in the last part of the title, where the site has its
// name.
func (a *about) endsWith(heading string) bool {
	last := 0
	for _, between := range betweens {
		last = max(last, strings.LastIndex(a.head, between))
	}
	return last > 0 && strings.Contains(" "+strings.Join(wordsOf(a.head[last:]), " ")+" ", " "+strings.Join(wordsOf(heading), " ")+" ")
}

// title is the heading of the page, or what it says its title is, without the name of the site.
func (a *about) title() string {
	switch h := a.mainHeading(); {
	case h == nil || sameWords(h.text, a.content.Site):
	case a.isSite(h.text):
		a.content.Site = cmp.Or(a.content.Site, h.text)
	default:
		return a.withoutSite(h.text)
	}
	if title := a.said[title]; title.value != "" {
		return a.withoutSite(title.value)
	}
	if len(a.shown.headings) > 0 {
		return a.shown.headings[0].text
	}
	return ""
}

// betweens are the separators of the parts of a title.
var betweens = [...]string{" | ", " - ", " – ", " — ", " · ", " :: ", " « ", " » ", ": "}

// isSite reports whether a heading is the end of the title, and no more than a name.
func (a *about) isSite(heading string) bool {
	if len(wordsOf(heading)) > 2 {
		return false
	}
	for _, between := range betweens {
		i := strings.LastIndex(a.head, between)
		if i > 0 && sameWords(a.head[i+len(between):], heading) && len(wordsOf(a.head[:i])) > 2 {
			return true
		}
	}
	return false
}

// withoutSite takes the name of the site off a title.
func (a *about) withoutSite(title string) string {
	for _, between := range betweens {
		if i := strings.LastIndex(title, between); i > 0 && a.sameSite(title[i+len(between):]) {
			return strings.TrimSpace(title[:i])
		}
		if before, rest, ok := strings.Cut(title, between); ok && sameWords(before, a.content.Site) {
			return strings.TrimSpace(rest)
		}
	}
	return title
}

// sameSite reports whether a name is that of the site, or a part of it ("Koia" of "Drink Koia
// Online"), or its host begins with it.
func (a *about) sameSite(name string) bool {
	ours, site := strings.Join(wordsOf(name), " "), strings.Join(wordsOf(a.content.Site), " ")
	if ours == "" {
		return false
	}
	squashed := strings.ReplaceAll(ours, " ", "")
	return site != "" && (strings.Contains(" "+site+" ", " "+ours+" ") || strings.Contains(" "+ours+" ", " "+site+" ")) ||
		len(squashed) > 2 && (strings.HasPrefix(a.host, squashed) || len(a.host) > 2 && strings.HasPrefix(squashed, a.host))
}

func sameWords(a, b string) bool {
	return strings.Join(wordsOf(a), " ") == strings.Join(wordsOf(b), " ")
}

// wordsOf are the words of a short text in small letters.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9') || unicode.IsPunct(r) || unicode.IsSpace(r)
	})
}

// person is the name in a byline, or "" if there is none.
func person(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "|")
	for _, before := range befores {
		if beginsWith(name, before) {
			name = name[len(before):]
			break
		}
	}
	for _, between := range [...]string{" on ", " - ", " – "} { // a name and a day
		if before, behind, ok := strings.Cut(name, between); ok && dayIn(behind) != "" {
			name = before
		}
	}
	name = strings.Trim(name, " ,·•-–:\u00a0")
	if len(name) > 1 && name[0] == '"' && strings.HasSuffix(name, `"`) {
		name = name[1 : len(name)-1]
	}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" { // of a profile
		return ""
	}
	if !strings.ContainsFunc(name, unicode.IsLetter) || strings.Contains(name, "©") || nobodies[strings.ToLower(name)] || endsWithBy(name) || !day(name).IsZero() || clock.MatchString(name) {
		return ""
	}
	return name
}

package links

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/robots"
	"golang.org/x/net/http/httpguts"
)

// Robots is a page's or header's message to robots, in meta elements named "robots" or like the
// crawler, or in X-Robots-Tag fields.
type Robots struct {
	NoIndex    bool     // noindex or none, to all or to this crawler
	NoFollow   bool     // nofollow or none, to all or to this crawler
	Directives []string // to all, in lower case, each once; "none" becomes noindex and nofollow
}

// directives are the known words; those with a value after a colon are listed by name.
// unavailable_after is missing on purpose: its value is a date, which has commas.
var directives = []string{
	"all", "index", "follow", "noindex", "nofollow", "none", "noarchive", "nocache", "nosnippet", "noimageindex", "notranslate",
	"nositelinkssearchbox", "indexifembedded", "noodp", "noydir", "noai", "noimageai", "max-snippet", "max-image-preview", "max-video-preview",
}

// maxDirectives bounds Directives; more say nothing new.
const maxDirectives = 32

// RobotsTag returns what the X-Robots-Tag fields of a response, given their values, say to all
// crawlers and to the one named agent. In a field, "name:" makes the rest apply to that crawler
// only.
func RobotsTag(values []string, agent string) (r Robots) {
	agent = strings.ToLower(robots.ProductToken(agent))
	for _, value := range values {
		everyone, mine := true, false
		for part := range strings.SplitSeq(value, ",") {
			if name, rest, ok := strings.Cut(part, ":"); ok && isCrawler(name) {
				name = strings.TrimSpace(name)
				everyone, mine = name == "*", agent != "" && strings.EqualFold(name, agent)
				part = rest
			}
			if everyone || mine {
				r.read(part, everyone)
			}
		}
	}
	return r
}

// Add merges other into r: the result forbids whatever either forbids.
func (r *Robots) Add(other Robots) {
	r.NoIndex = r.NoIndex || other.NoIndex
	r.NoFollow = r.NoFollow || other.NoFollow
	for _, d := range other.Directives {
		r.add(d)
	}
}

// All returns Directives, and noindex and nofollow if they are addressed to this crawler alone.
func (r *Robots) All() []string {
	all := Robots{Directives: r.Directives}
	if r.NoIndex {
		all.add("noindex")
	}
	if r.NoFollow {
		all.add("nofollow")
	}
	return all.Directives
}

// isCrawler reports whether the text before a colon is a crawler's name: a token (RFC 9110,
// section 5.6.2) that does not begin with a digit and is no directive with a value. Dates have
// commas, so a piece of a field may be the rest of a date: "25-Jun-26 15:00:00 UTC".
func isCrawler(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return httpguts.ValidHeaderFieldName(name) && (name[0] < '0' || name[0] > '9') &&
		name != "unavailable_after" && !strings.HasPrefix(name, "max-") && !slices.Contains(directives, name)
}

// read reads directives separated by commas or white space.
func (r *Robots) read(list string, everyone bool) {
	for part := range strings.SplitSeq(list, ",") {
		if name, value, ok := strings.Cut(part, ":"); ok { // max-snippet: 20
			part = strings.TrimSpace(name) + ":" + strings.TrimSpace(value)
		}
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return r <= ' ' }) {
			r.directive(strings.ToLower(word), everyone)
		}
	}
}

func (r *Robots) directive(word string, everyone bool) {
	name, _, _ := strings.Cut(word, ":")
	if !slices.Contains(directives, name) || len(word) > maxText {
		return
	}
	if word == "none" {
		r.directive("noindex", everyone)
		r.directive("nofollow", everyone)
		return
	}
	r.NoIndex = r.NoIndex || word == "noindex"
	r.NoFollow = r.NoFollow || word == "nofollow"
	if everyone {
		r.add(word)
	}
}

func (r *Robots) add(word string) {
	if len(r.Directives) < maxDirectives && !slices.Contains(r.Directives, word) {
		r.Directives = append(r.Directives, word)
	}
}

package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
)

// TestBeside: comments and sidebars of a page that says it is an article are left out, however well
// they read; the rules know no others: not what holds its title, asides of the text, or a page that
// is nothing else.
func TestBeside(t *testing.T) {
	const (
		says  = "<html><meta property=og:type content=article><title>The town of sails</title><body>"
		title = "<h1>The town of sails</h1>"
		text  = "I sailed there as a boy"
		talk  = "<p>" + text + ", and my father did before me, and we never saw a hotel of that name near the quay.</p>" +
			"<p>It must have stood where the fish market is today, since there was no other place with room for a garden.</p>" +
			"<p>The railway, by the way, came two years later; my grandmother kept the ticket of the first train all her life.</p>" +
			"<p>Thank you for writing about it. There are few who remember what the streets were like before the war, and fewer who ask.</p>"
		more = "<p>The next summer a painter rented the custom house, and his pictures of the harbour, which hang in the capital, brought more guests.</p>" +
			"<p>They came by the evening train, with trunks and dogs, and stayed until the storms of autumn; the baker opened a second shop for them.</p>"
	)
	for _, c := range []struct {
		name, page, rule string
	}{
		{"comments", says + "<div>" + title + prose + "</div><div id=readerComments>" + talk + "</div>", "comments"},
		{"list of comments", says + "<div>" + title + prose + "</div><div class='wide commentlist'>" + talk + "</div>", "comments"},
		{"capitals", says + "<div>" + title + prose + "</div><div class='wide COMMENTS'>" + talk + "</div>", "comments"},
		{"sidebar", says + "<div>" + title + prose + once + "</div><div class='-- wide left-sidebar'>" + talk + "</div>", "sidebar"},
		{"aside", says + "<div>" + title + prose + once + "</div><aside>" + talk + "</aside>", "sidebar"},
		{"role", says + "<div>" + title + prose + once + "</div><div role=complementary>" + talk + "</div>", "sidebar"},
		{"no article", title + prose + "<div class=comments>" + talk + "</div>", ""},
		{"around the title", says + "<div class=comments-open>" + title + talk + "</div><div>" + prose + "</div>", ""},
		{"an aside of the text", says + "<div>" + title + prose + "<p>" + once + "<aside>" + talk + "</aside><p>" + once + talk + "</div>", ""},
		{"nothing else", says + title + "<aside>" + prose + talk + "</aside>", ""},
		{"the text has a sidebar", says + "<div>" + title + prose + "</div><div class='row right-sidebar'><div>" + talk + more + "</div></div>", ""},
		{"the text has comments", says + "<div>" + title + prose + "</div><div class='post has-comments'>" + talk + more + "</div>", ""},
		{"comments are open", says + "<div>" + title + prose + "</div><div class='entry comments-open'>" + talk + more + "</div>", ""},
		{"the text is a comment", says + "<div>" + title + prose + "</div><div class='post category-comment'>" + talk + more + "</div>", ""},
		{"other names", says + "<div>" + title + prose + "</div><div class='sidebar-enabled text'>" + talk + "</div>", ""},
	} {
		got, kept := extract(t, c.page, content.Options{})
		if strings.Contains(kept, text) && c.rule != "" {
			t.Errorf("%s: %s", c.name, kept)
		}
		if !strings.Contains(kept, text) && (c.rule == "" && c.name != "no article" && c.name != "nothing else" && c.name != "an aside of the text") {
			t.Errorf("%s: %s", c.name, kept)
		}
		rule := ""
		for _, r := range got.Removed {
			if r.Rule == "comments" || r.Rule == "sidebar" {
				rule = r.Rule
			}
		}
		if rule != c.rule {
			t.Errorf("%s: removed %v, expected %q", c.name, got.Removed, c.rule)
		}
	}
}

// TestBesideFilled: what stands beside an article stays out where all of the element around both is
// filled in.
func TestBesideFilled(t *testing.T) {
	const talk = "<p>My father sailed there before the war, and we never saw a hotel of that name near the quay.</p>"
	page := "<html><meta property=og:type content=article><title>The town of sails</title><body><div><h1>The town of sails</h1>" +
		prose + once + "<div id=comments>" + talk + "</div></div><p><a href=/>Home</a>"
	for name, o := range map[string]content.Options{
		"solid": {Solid: true},
		"main":  {Solid: true, Main: func(uint64) bool { return true }},
	} {
		if _, kept := extract(t, page, o); strings.Contains(kept, "My father") || !strings.Contains(kept, "custom house") {
			t.Errorf("%s: %s", name, kept)
		}
	}
}

// TestBesideArticle: an article is one whatever its own element is called, though its title and
// lead stand outside.
func TestBesideArticle(t *testing.T) {
	const (
		lead = "<p>When the railway came, the captains sold their ships and bought hotels, and the sail makers sewed tents for the visitors who stayed all summer; " +
			"what has become of both, and of the quay where they met, is what those say who were children then and have never left the town.</p>"
		text = "<p>I sailed there as a boy, and my father did before me, and we never saw a hotel of that name near the quay.</p>" +
			"<p>It must have stood where the fish market is today, since there was no other place with room for a garden.</p>" +
			"<p>The railway, by the way, came %d years later; my grandmother kept the ticket of the first train all her life.</p>"
	)
	for _, element := range []string{"<div class=article-comment>", "<div class=comments>", "<aside>", "<div role=complementary>"} {
		page := "<html><meta property=og:type content=article><title>The town of sails</title><body><h1>The town of sails</h1>" + lead + element
		for years := range 3 {
			page += fmt.Sprintf(text, years)
		}
		if _, kept := extract(t, page, content.Options{}); !strings.Contains(kept, "I sailed there") {
			t.Errorf("%s: %s", element, kept)
		}
	}
}

// TestBesideListed: comments that are a list among the paragraphs of an article stay out, too.
func TestBesideListed(t *testing.T) {
	const talk = "<ol class=commentlist><li>My father sailed there before the war.<li>We never saw a hotel of that name near the quay.</ol>"
	page := "<html><meta property=og:type content=article><title>The town of sails</title><body><div><h1>The town of sails</h1>" +
		prose + once + "<h3>What you say</h3>" + talk + once + "</div><p><a href=/>Home</a>"
	for name, o := range map[string]content.Options{
		"alone": {},
		"solid": {Solid: true},
		"main":  {Solid: true, Main: func(uint64) bool { return true }},
	} {
		if _, kept := extract(t, page, o); strings.Contains(kept, "My father") || !strings.Contains(kept, "custom house") {
			t.Errorf("%s: %s", name, kept)
		}
	}
}

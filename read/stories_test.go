package read

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
)

// more are parts of a text that some stories of a site have, and others not. Each word EXTRA has to
// be in the text.
var more = []struct{ name, html string }{
	{"paragraph", "<p>EXTRA: the ferry came back later than planned, and nobody waited on the pier for its captain.</p>"},
	{"short paragraph", "<p>EXTRA note.</p>"},
	{"section", "<h2>EXTRA Later</h2><p>EXTRA: the ferry came back later than planned.</p>"},
	{"code", "<pre>EXTRA make\nEXTRA run</pre>"},
	{"list", "<ul><li>EXTRA salt<li>EXTRA two eggs</ul>"},
	{"table", "<table><tr><th>EXTRA Year<th>EXTRA Ships<tr><td>EXTRA 1870<td>EXTRA 12</table>"},
	{"quotation", "<blockquote><p>EXTRA never saw such a storm.</p></blockquote>"},
	{"figure", "<figure><img src=quay.png alt='EXTRA quay'><figcaption>EXTRA The quay in 1870</figcaption></figure>"},
}

// frames are the elements around a story: TEXT are its paragraphs, MORE what some have more, OTHER
// and FORM what stands beside it.
var frames = []struct{ name, html string }{
	{"article", "<article><h1>TITLE</h1>TEXTMORE</article>OTHERFORM"},
	{"article alone", "<article>TEXTMORE</article>"},
	{"article alone in main", "<main><article>TEXTMORE</article>OTHERFORM</main>"},
	{"more behind the text", "<main><article><h1>TITLE</h1><div class=text>TEXT</div>MORE</article>OTHERFORM</main>"},
	{"more behind nested elements", "<article><div><div>TEXT</div></div>MORE</article>"},
	{"more behind the only element", "<h1>TITLE</h1><div class=text>TEXT</div>MORE"},
	{"no element", "<h1>TITLE</h1>TEXTMORE"},
	{"others in the article", "<article><h1>TITLE</h1>TEXTMOREOTHER</article>"},
	{"others behind the text", "<article><h1>TITLE</h1><div class=text>TEXT</div>MOREOTHER</article>"},
	{"a button", "<article><h1>TITLE</h1>TEXTMORE<button>Like</button></article>"},
}

// others are related links and what to share.
func others(i int) string {
	return fmt.Sprintf("<div class=share><a href=//a.test/?%[1]d>OTHER: tweet number %[1]d</a></div><div class=related><h3>More stories</h3><ul><li><a href=/%[2]d>OTHER: %[3]s</a>"+
		"<li><a href=/%[4]d>OTHER: %[5]s</a></ul></div>", i, i+1, words(i+50, 5), i+2, words(i+90, 5))
}

// form is a newsletter's, which a third of the pages has, and comments, which another third has.
func form(i int) string {
	switch i % 3 {
	case 0:
		return "<div class=newsletter><h3>OTHER</h3><p>OTHER: the best stories of the town every morning.</p><form><input type=email><button>Sign up</button></form></div>"
	case 1:
		return fmt.Sprintf("<div class=comments><h3>OTHER</h3><div><b>Ann</b><p>OTHER: I have seen the %s, and the captain never waited, which is a shame.</p></div></div>", words(i, 6))
	}
	return ""
}

// words are so many words, in an order that differs from story to story.
func words(story, n int) string {
	all := strings.Fields("harbour quay ships sail town street custom house painter summer train evening storm autumn baker shop garden railway " +
		"market fish stone bridge river mill school teacher letter winter road bread lamp tower clock square church bell orchard")
	var text []string
	for x := uint32(story)*7919 + 13; len(text) < n; x = x*1664525 + 1013904223 {
		text = append(text, all[(x>>16)%uint32(len(all))])
	}
	return strings.Join(text, " ")
}

// story is a page of the site: of so many paragraphs, and with more behind them.
func story(i, paragraphs int, frame, more string) string {
	text := ""
	for n := range paragraphs {
		text += fmt.Sprintf("<p>The %s, and the %s. The %s.</p>", words(100*i+3*n, 12), words(100*i+3*n+1, 12), words(100*i+3*n+2, 12))
	}
	page := strings.NewReplacer("TITLE", fmt.Sprint("Story ", i), "TEXT", text, "MORE", more, "OTHER", others(i), "FORM", form(i)).Replace(frame)
	return fmt.Sprintf("<title>Story %d | Town news</title><body><ul class=menu><li><a href=/>Home</a><li><a href=/news>News</a></ul>%s<div class=foot><p>Imprint of the town news</p></div>", i, page)
}

// storyPages is the number of pages of a site of stories.
const storyPages = 40

// TestStories: whatever some stories of a site have more than others, or all have, nothing of it is
// lost, and nothing that stands beside them comes with it. The short form tries each frame, and
// each addition, with every number of paragraphs and of pages, and each frame with each addition
// twice; the long form tries all four together.
func TestStories(t *testing.T) {
	type shape struct{ paragraphs, every int }
	var shapes []shape
	for _, paragraphs := range []int{1, 2, 4} {
		for _, every := range []int{storyPages, 10, 2, 1} {
			shapes = append(shapes, shape{paragraphs, every})
		}
	}
	for f, frame := range frames {
		for e, extra := range more {
			for k := range long.Or(2, len(shapes)) {
				// 5 and 12 have no common divisor: the ten frames of an addition meet all shapes,
				// as do the eight additions of a frame. 8 has the short form try the one site that
				// fails if isBeside takes what is content on every page.
				s := shapes[(5*f+2*e+k+8)%len(shapes)]
				site := fmt.Sprintf("%s, %d paragraphs, %s on one page of %d", frame.name, s.paragraphs, extra.name, s.every)
				testStories(t, site, frame.html, s.paragraphs, extra.html, s.every)
			}
		}
	}
}

// testStories reads a site one page of so many of which has an addition.
func testStories(t *testing.T, site, frame string, paragraphs int, extra string, every int) {
	var all []string
	for i := range storyPages {
		more := ""
		if i%every == 0 {
			more = strings.ReplaceAll(extra, "EXTRA", fmt.Sprint("extra", i))
		}
		all = append(all, story(i, paragraphs, frame, more))
	}
	s := known(t, all...)
	for i := 0; i < storyPages; i += every {
		text := oneOf(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html; charset=utf-8", Body: []byte(all[i])}, Options{}, s).Markdown
		word := fmt.Sprint("extra", i)
		if strings.Count(text, word) != strings.Count(all[i], word) || strings.Contains(text, "OTHER") || strings.Contains(text, "Imprint") {
			t.Errorf("%s:\n%s\nof\n%s", site, text, all[i])
			return
		}
	}
}

// TestStoriesChange: a story that has got more since the last reading is a changed one.
func TestStoriesChange(t *testing.T) {
	const frame = "<article>TEXTMORE</article>"
	site := &served{pages: make(map[string]string)}
	links := ""
	for i := range storyPages {
		site.pages[fmt.Sprintf("/%d.html", i)] = story(i, 1, frame, "")
		links += fmt.Sprintf("<li><a href=/%d.html>Story %[1]d</a>", i)
	}
	site.pages["/"] = "<title>Town news</title><h1>Town news</h1><ul>" + links + "</ul>"
	url, job := start(t, site)
	to := filepath.Join(t.TempDir(), "out")
	if c, err := Folder(t.Context(), job, to, Options{}); err != nil || c.New != storyPages+1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, extra := range more {
		site.set(fmt.Sprintf("/%d.html", i), story(i, 1, frame, strings.ReplaceAll(extra.html, "EXTRA", fmt.Sprint("extra", i))))
	}
	crawled(t, url, job, true)
	if c, err := Folder(t.Context(), job, to, Options{}); err != nil || c.Changed != len(more) || c.Unchanged != storyPages+1-len(more) {
		t.Errorf("%+v, %v, expected %d changed", c, err, len(more))
	}
	files := tree(t, to)
	for i, extra := range more {
		if got, want := strings.Count(files[fmt.Sprintf("%d.html.md", i)], fmt.Sprint("extra", i)), strings.Count(extra.html, "EXTRA"); got != want {
			t.Errorf("%s: %d of %d in\n%s", extra.name, got, want, files[fmt.Sprintf("%d.html.md", i)])
		}
	}
}

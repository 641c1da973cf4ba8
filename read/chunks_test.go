package read

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestChunks: chunks keep to their bound, hold all words in order, and have ids of their own that
// changes elsewhere do not touch.
func TestChunks(t *testing.T) {
	page := func(words string) string {
		return "<h1>Guide</h1><p>Intro.<h2>Install</h2><p>" + strings.Repeat("Some words to read here. ", 30) + "<h3>Linux</h3><p>" + words +
			"<h3>BSD</h3><pre>" + strings.Repeat("make all\n", 40) + "</pre><h2>Use</h2><p>" + strings.Repeat("多くの言葉。", 60) + "<h2>Use</h2><p>Again."
	}
	read := func(text string, most int) Page {
		return One(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html; charset=utf-8", Body: []byte(text)}, Options{Chunk: most, Whole: true})
	}
	for _, most := range []int{1, 7, 60, 200, 1000, 1 << 20} {
		p := read(page("Short."), most)
		var text []string
		ids := make(map[string]bool)
		for _, c := range p.Chunks {
			if n := utf8.RuneCountInString(strings.TrimSpace(c.Text)); n > most {
				t.Errorf("a chunk has %d characters, expected at most %d", n, most)
			}
			if ids[c.ID] {
				t.Errorf("two chunks of %d are %s", most, c.ID)
			}
			ids[c.ID] = true
			text = append(text, c.Text)
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := bare(strings.Join(text, " ")); got != bare(p.Markdown) {
			t.Errorf("chunks of %d hold\n%s\nexpected\n%s", most, got, bare(p.Markdown))
		}
	}
	before, after := read(page("Short."), 200).Chunks, read(page("Another text."), 200).Chunks
	at := slices.IndexFunc(after, func(c Chunk) bool { return strings.Contains(c.Text, "Another") })
	if at < 0 || fmt.Sprint(after[at].Headings) != "[Guide Install Linux]" {
		t.Fatalf("chunk %d of %v", at, after)
	}
	for i, c := range after {
		if c.ID != before[i].ID {
			t.Errorf("the id of chunk %d has changed", i)
		}
	}
	if whole := read("<h1>A</h1><p>x<h2>B</h2><p>y", 100).Chunks; len(whole) != 1 || whole[0].Text != "# A\n\nx\n\n## B\n\ny" {
		t.Errorf("%q, expected one chunk", whole)
	}
}

// TestLongBlocks: a block that is too long is cut behind a sentence, or at least a word, and no
// part but the last is short.
func TestLongBlocks(t *testing.T) {
	for name, c := range map[string]struct{ text, end string }{
		"sentences": {strings.Repeat("Yes. Some words to read here. ", 30), "."},
		"a line":    {"First line.<br>" + strings.Repeat("Some words to read here. ", 30), "."},
		"words":     {strings.Repeat("some words to read here, ", 30), " ,somewdtrahe"},
		"lines":     {strings.Repeat("one word more<br>", 40), `e\`},
	} {
		const most = 100
		all := One(Source{
			URL: mustURL(t, "http://a.test/"), ContentType: "text/html", Body: []byte("<p>" + c.text),
		}, Options{Chunk: most, Whole: true}).Chunks
		words := strings.Fields(strings.ReplaceAll(c.text, "<br>", " "))
		for i, chunk := range all {
			text := strings.TrimSpace(chunk.Text)
			if i+1 < len(all) && (len(text) <= most/2 || !strings.ContainsRune(c.end, rune(text[len(text)-1]))) {
				t.Errorf("%s: %d characters, %q", name, len(text), text)
			}
			for _, word := range strings.Fields(text) {
				if word = strings.TrimRight(word, "\\"); !slices.Contains(words, word) {
					t.Errorf("%s: %q has a part of a word, %q", name, text, word)
				}
			}
		}
		if len(all) < 5 {
			t.Errorf("%s: %d chunks", name, len(all))
		}
	}
}

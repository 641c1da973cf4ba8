package read

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestChunks: chunks keep to their bound, hold all words in order, say where they stand, and have
// ids of their own that changes elsewhere do not touch.
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
			from := string([]rune(p.Markdown)[c.Offset:])
			if c.Index != len(text)-1 || !strings.HasPrefix(from, c.Text) || c.URL != p.URL {
				t.Errorf("chunk %d of %d says that it is %d, at %d of %s", len(text)-1, most, c.Index, c.Offset, c.URL)
			}
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := bare(strings.Join(text, " ")); got != bare(p.Markdown) {
			t.Errorf("chunks of %d hold\n%s\nexpected\n%s", most, got, bare(p.Markdown))
		}
	}
	before, after := read(page("Short."), 200).Chunks, read(page("Another text."), 200).Chunks
	at := slices.IndexFunc(after, func(c Chunk) bool { return strings.Contains(c.Text, "Another") })
	if at < 0 || fmt.Sprint(after[at].Trail) != "[Guide Install Linux]" {
		t.Fatalf("chunk %d of %v", at, after)
	}
	for i, c := range after {
		if (c.ID != before[i].ID) != (i == at) {
			t.Errorf("chunk %d of %d: id %s, before the change in chunk %d %s", i, len(after), c.ID, at, before[i].ID)
		}
	}
	if whole := read("<h1>A</h1><p>x<h2>B</h2><p>y", 100).Chunks; len(whole) != 1 || whole[0].Text != "# A\n\nx\n\n## B\n\ny" {
		t.Errorf("%+v, expected one chunk", whole)
	}
}

// TestNeighbours: small sections below one heading are one chunk, as many as fit, with what stands
// below the heading itself; a section that does not fit stands alone, and what is below another
// heading does, too.
func TestNeighbours(t *testing.T) {
	section := func(heading string, words int) string { return heading + "<p>" + strings.Repeat("word ", words) }
	p := One(Source{
		URL: mustURL(t, "http://a.test/"), ContentType: "text/html", Body: []byte("<h1>Top</h1><p>Intro." +
			section("<h2>A</h2>", 2) + section("<h3>A1</h3>", 2) + section("<h3>A2</h3>", 2) + section("<h3>A3</h3>", 100) + section("<h3>A4</h3>", 3) + section("<h3>A5</h3>", 3) +
			section("<h2>B</h2>", 1) + section("<h2>C</h2>", 1) + section("<h2>D</h2>", 30)),
	}, Options{Chunk: 60, Whole: true})
	var got []string
	for _, c := range p.Chunks {
		got = append(got, fmt.Sprintf("%s: %s", strings.Join(c.Trail, "/"), strings.Join(strings.Fields(strings.ReplaceAll(c.Text, "word", "")), " ")))
	}
	want := []string{
		"Top: # Top Intro.", "Top/A: ## A ### A1 ### A2", "Top/A/A3: ### A3", "Top/A/A3: ", "Top/A: ### A4 ### A5", "Top: ## B ## C",
		"Top/D: ## D", "Top/D: ",
	}
	got = slices.Compact(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOverlap: with an overlap, each chunk but the first begins with whole words of the text before
// it, and all keep to their bound.
func TestOverlap(t *testing.T) {
	var body strings.Builder
	for i := range 400 {
		fmt.Fprintf(&body, "wörd%d ", i)
		if i%60 == 59 {
			fmt.Fprintf(&body, "<h2>Heading %d</h2>", i)
		}
	}
	source := Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html; charset=utf-8", Body: []byte("<p>" + body.String())}
	const most, overlap = 200, 50
	p := One(source, Options{Chunk: most, Overlap: overlap, Whole: true})
	end, text := 0, []rune(p.Markdown)
	for i, c := range p.Chunks {
		n := utf8.RuneCountInString(c.Text)
		if n > most || string(text[c.Offset:c.Offset+n]) != c.Text || strings.TrimSpace(string(text[end:max(end, c.Offset+c.Overlap)])) != "" {
			t.Errorf("chunk %d: %d characters at %d, %d of them overlap, after %d", i, n, c.Offset, c.Overlap, end)
		}
		if low := overlap - len("wörd399 "); i > 0 && (c.Overlap < low || c.Overlap > overlap || text[c.Offset-1] > ' ') {
			t.Errorf("chunk %d: an overlap of %d, %q", i, c.Overlap, c.Text)
		}
		end = c.Offset + n
	}
	if len(p.Chunks) < 15 || p.Chunks[0].Overlap != 0 || end != len(strings.TrimRight(p.Markdown, "\n"))-strings.Count(p.Markdown, "ö") {
		t.Errorf("%d chunks, the first with an overlap of %d, up to %d of %d", len(p.Chunks), p.Chunks[0].Overlap, end, len(text))
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

// TestHostileChunks: neither a heading as long as its page, nor a block of it, makes more of a page
// than its length and its chunks allow; time is linear (this takes minutes if it is not).
func TestHostileChunks(t *testing.T) {
	const size = 4 << 20
	for name, html := range map[string]string{
		"a heading":  "<h2>" + strings.Repeat("x ", size/4) + "</h2>" + strings.Repeat("<p>text of a paragraph", 5000),
		"a block":    "<p>" + strings.Repeat("x", size),
		"blanks":     "<pre>x" + strings.Repeat(" ", size) + "y</pre>",
		"words":      "<pre>" + strings.Repeat("word ", size/5) + "</pre>",
		"code lines": "<pre>" + strings.Repeat("x\n", size/2) + "</pre>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := One(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html", Body: []byte(html)}, Options{Chunk: 100, Overlap: 80})
			sum := 0
			for _, c := range p.Chunks {
				sum += len(c.Text) + len(strings.Join(c.Trail, ""))
			}
			if sum > 6*size || len(p.Chunks) == 0 {
				t.Errorf("%d chunks of %d bytes in all", len(p.Chunks), sum)
			}
		})
	}
}

package content_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
)

// once is a sentence long enough to be a repeat.
const once = "When the railway came, the captains sold their ships and bought hotels, and the sail makers sewed tents for " +
	"the visitors who stayed all summer."

// TestRepeats: what was said before is left out, unless it is repeated as honest texts do.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		name, page string
		times      int // that the sentence is in the text
	}{
		{"for narrow windows", page(prose + "<p>" + once + "</p><div class=narrow>" + prose + "<p>" + once + "</div>"), 1},
		{"one after another", page(prose + "<p>" + once + "<p>" + once), 1},
		{"parts of one text", page(prose + "<p>" + once + "</p><div>" + prose + once + "</div>"), 1},
		{"a part of another text", page(prose + "<p>" + once + "<p>" + once + " In spring " + strings.ToUpper(prose[3:40]) +
			" they took their tents down, went home to the city, and wrote long letters about it to one another."), 2},
		{"further down", page(prose + "<p>" + once + "<h2>The next summer</h2><p>" + once), 2},
		{"list", page(prose + "<ul><li>" + once + "<li>" + once + "</ul>"), 2},
		{"code", page(prose + "<pre>" + once + "</pre><p>Then it is run again, as it was before, with what it has written.</p><pre>" + once + "</pre>"), 2},
		{"quotation", page(prose + "<p>" + once + "</p><blockquote>" + once + "</blockquote>"), 2},
		{"short", page(prose + strings.Repeat("<p>It was a good year for the harbour, and for the town.</p><p>"+prose[3:70]+"</p>", 2) + once), 1},
	} {
		got, text := extract(t, c.page, content.Options{})
		if n := strings.Count(text, once); n != c.times || strings.Count(text, "with what it has written") > 1 {
			t.Errorf("%s: %d times, expected %d:\n%s", c.name, n, c.times, text)
		}
		if c.name == "for narrow windows" && strings.Count(text, prose[3:40]) > 1 {
			t.Errorf("%s: paragraphs that are too short alone stand twice:\n%s", c.name, text)
		}
		said := 0
		for _, r := range got.Removed {
			if r.Rule == "said before" {
				said++
			}
		}
		if (said > 0) != (c.name == "for narrow windows" || c.name == "one after another" || c.name == "parts of one text") {
			t.Errorf("%s: removed %v", c.name, got.Removed)
		}
	}
}

// TestRepeatOfBoilerplate: what stands behind boilerplate that says the same is no repeat.
func TestRepeatOfBoilerplate(t *testing.T) {
	first := true
	drop := func(b content.Block) bool {
		is := first && b.Text() == once
		first = first && !is
		return is
	}
	_, text := extract(t, page("<p>"+once+"</p><div>"+prose+"<p>"+once+"</div>"), content.Options{Drop: drop})
	if n := strings.Count(text, once); n != 1 {
		t.Errorf("%d times, expected once: %s", n, text)
	}
}

// TestShortRepeats: a sentence that is too short to be a repeat stays, however often it comes.
func TestShortRepeats(t *testing.T) {
	const sentence = "Guests pay on the day of arrival, in cash or by card, at the desk."
	_, text := extract(t, page(prose+"<p>"+sentence+"</p><div><p>"+sentence+"</div><section><p>"+sentence+"</section>"), content.Options{})
	if n := strings.Count(text, sentence); n != 3 {
		t.Errorf("%d times, expected 3: %s", n, text)
	}
}

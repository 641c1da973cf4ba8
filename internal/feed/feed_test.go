package feed_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/feed"
	"github.com/weftcrawl/weft/internal/markup"
)

func TestRoot(t *testing.T) {
	for name, want := range map[string]feed.Format{"RSS": feed.RSS, "rdf": feed.RSS, "feed": feed.Atom, "urlset": 0, "": 0} {
		if got := feed.Root([]byte(name)); got != want {
			t.Errorf("%s: format %d, want %d", name, got, want)
		}
	}
}

func TestIsEntry(t *testing.T) {
	for name, want := range map[string]feed.Format{"item": feed.RSS, "Entry": feed.Atom, "channel": 0} {
		for _, f := range []feed.Format{feed.RSS, feed.Atom, feed.Any} {
			if got := f.IsEntry([]byte(name)); got != (f&want != 0) {
				t.Errorf("%s in format %d: %v", name, f, got)
			}
		}
	}
}

// TestElements: the roles of the text and of the attributes of a tag.
func TestElements(t *testing.T) {
	for tag, want := range map[string][]string{
		"<link>":                             {"text link 1"},
		"<atom:LINK href='/a' rel='Self'>":   {"text link 1", "link href 6 /a"},
		"<link href='/a'>":                   {"text link 1", "link href 1 /a"},
		"<link href='/a' rel=' alternate '>": {"text link 1", "link href 1 /a"},
		"<link href='/a' rel='edit'>":        {"text link 1", "link href 10 /a"},
		"<link href=''>":                     {"text link 1"},
		"<guid>":                             {"text guid 2"},
		"<guid isPermaLink=' False '>":       nil,
		"<enclosure url='/a?b&amp;c'>":       {"enclosure url 4 /a?b&c"},
		"<enclosure url='/&x;'>":             {"enclosure url 4 /&x; &x;?"},
		"<media:content src='/a' url='/b'>":  {"content url 4 /b", "content src 3 /a"},
		"<pubDate>":                          {"text pubdate 11"},
		"<published>":                        {"text published 12"},
		"<title url='/a'>":                   nil,
	} {
		x := markup.XML{Body: []byte(tag)}
		x.Next()
		var got []string
		if name, role := feed.Any.Text(&x); role != feed.None {
			got = append(got, fmt.Sprintf("text %s %d", name, role))
		}
		for u := range feed.Any.URLs(&x) {
			s := fmt.Sprintf("%s %s %d %s", u.Tag, u.Attr, u.Role, u.Value)
			if u.Undefined != nil {
				s += fmt.Sprintf(" %s?", u.Undefined)
			}
			got = append(got, s)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", tag, got, want)
		}
	}
	x := markup.XML{Body: []byte("<updated>")}
	x.Next()
	if _, role := feed.RSS.Text(&x); role != feed.None {
		t.Errorf("updated in RSS has role %d", role)
	}
}

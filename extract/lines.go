package extract

import (
	"bytes"
	"slices"

	"github.com/weftcrawl/weft/internal/css"
	"golang.org/x/net/html"
)

// farthest is the number of tags that Lines looks ahead for that of an element.
const farthest = 100

// Lines returns where the elements of a tree begin in its page: the line, from 1. An element that
// the parser has added, or moved far, has none: 0.
func Lines(body []byte, root *html.Node) func(Match) int {
	type tag struct {
		html.Token
		line int
	}
	var tags []tag
	line := 1
	for z := html.NewTokenizer(bytes.NewReader(body)); z.Next() != html.ErrorToken; {
		raw := z.Raw()
		n := bytes.Count(raw, []byte("\n"))
		if t := z.Token(); t.Type == html.StartTagToken || t.Type == html.SelfClosingTagToken {
			tags = append(tags, tag{t, line})
		}
		line += n
	}
	lines := make(map[*html.Node]int)
	for n := root; n != nil; n = css.Following(n, root, true) {
		if n.Type != html.ElementNode {
			continue
		}
		ahead := tags[:min(len(tags), farthest)]
		at := slices.IndexFunc(ahead, func(t tag) bool { return t.Data == n.Data && slices.Equal(t.Attr, n.Attr) })
		if at >= 0 {
			lines[n] = tags[at].line
			tags = tags[at+1:]
		}
	}
	return func(m Match) int { return lines[m.Node] }
}

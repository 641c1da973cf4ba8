package content

import (
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Block is an element with text of its own: that which stands in it, and in inline elements in it,
// but in no block further inside.
type Block struct {
	Node  *html.Node
	Place uint64 // a hash of the names, ids and classes of the element and of those around it, numbered ones apart
	Hash  uint64 // of the text, words parted by one blank
	Words int
}

// Text is the text of the block, words parted by one blank.
func (b Block) Text() string {
	var text strings.Builder
	own(b.Node, func(s string) {
		for word := range strings.FieldsSeq(s) {
			if text.Len() > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(word)
		}
	})
	return text.String()
}

// Blocks yields the blocks of a tree in document order, until yield returns false.
func Blocks(root *html.Node, yield func(Block) bool) {
	places := []uint64{0}
	var digest xxhash.Digest
	for n := root; n != nil; {
		skip := n.Type != html.DocumentNode
		if n.Type == html.ElementNode && !silent[n.DataAtom] && !inline[n.DataAtom] {
			skip = false
			place := placeOf(&digest, places[len(places)-1], n)
			if b := blockOf(&digest, n); b.Words > 0 {
				b.Place = place
				if !yield(b) {
					return
				}
			}
			if n.FirstChild != nil {
				places = append(places, place)
			}
		} else if n.Type == html.ElementNode && inline[n.DataAtom] {
			skip = false
			if n.FirstChild != nil {
				places = append(places, places[len(places)-1])
			}
		} else if n.FirstChild != nil && !skip {
			places = append(places, 0)
		}
		if !skip && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			places = places[:len(places)-1]
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

func placeOf(d *xxhash.Digest, parent uint64, n *html.Node) uint64 {
	d.ResetWithSeed(parent)
	d.WriteString(n.Data)
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body { // many a system names the page there
		return d.Sum64()
	}
	for _, a := range n.Attr {
		if a.Key != "id" && a.Key != "class" {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			if strings.IndexFunc(name, isDigit) < 0 { // post-1234 is a place of one page
				d.WriteString("\x00" + a.Key + "\x00" + name)
			}
		}
	}
	return d.Sum64()
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func blockOf(d *xxhash.Digest, n *html.Node) Block {
	b := Block{Node: n}
	d.Reset()
	own(n, func(s string) {
		for word := range strings.FieldsSeq(s) {
			d.WriteString(word)
			d.WriteString(" ")
			b.Words++
		}
	})
	b.Hash = d.Sum64()
	return b
}

// own calls yield for each piece of text of a block.
func own(block *html.Node, yield func(string)) {
	for n := block.FirstChild; n != nil; {
		if n.Type == html.TextNode {
			yield(n.Data)
		}
		if n.Type == html.ElementNode && inline[n.DataAtom] && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n.NextSibling == nil {
			if n = n.Parent; n == block {
				return
			}
		}
		n = n.NextSibling
	}
}

// Path names an element: body/main#top/div.article/p.
func Path(n *html.Node) string {
	var names []string
	for ; n != nil && n.Type == html.ElementNode; n = n.Parent {
		name := n.Data
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				name += "#" + strings.TrimSpace(a.Val)
			case "class":
				for class := range strings.FieldsSeq(a.Val) {
					name += "." + class
				}
			}
		}
		names = append(names, name)
	}
	var path strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == "html" {
			continue
		}
		if path.Len() > 0 {
			path.WriteByte('/')
		}
		path.WriteString(names[i])
	}
	return path.String()
}

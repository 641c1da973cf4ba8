package content

import (
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Block is an element with words of its own: those that stand in it, and in inline elements in it,
// but in no block further inside.
type Block struct {
	Node  *html.Node
	Place uint64 // a hash of the names, ids and classes of the element and of those around it
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
	all := blocks.Scan(root)
	places := make([]uint64, len(all))
	var d xxhash.Digest
	for i := range all {
		e := &all[i]
		parent := uint64(0)
		if i > 0 {
			parent = places[e.Parent]
		}
		places[i] = place(&d, parent, e.Node)
		if e.Own == 0 {
			continue
		}
		d.Reset()
		own(e.Node, func(s string) {
			for word := range strings.FieldsSeq(s) {
				d.WriteString(word)
				d.WriteString(" ")
			}
		})
		if !yield(Block{Node: e.Node, Place: places[i], Hash: d.Sum64(), Words: int(e.Own)}) {
			return
		}
	}
}

// place hashes an element into the place of its parent. Names with digits do not count, since many
// systems number pages and posts with them; nor do those of html and body, which name the page.
func place(d *xxhash.Digest, parent uint64, n *html.Node) uint64 {
	d.ResetWithSeed(parent)
	d.WriteString(n.Data)
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return d.Sum64()
	}
	for _, a := range n.Attr {
		if a.Key != "id" && a.Key != "class" {
			continue
		}
		for name := range strings.FieldsSeq(a.Val) {
			if strings.ContainsAny(name, "0123456789") {
				continue
			}
			d.WriteString("\x00")
			d.WriteString(a.Key)
			d.WriteString("\x00")
			d.WriteString(name)
		}
	}
	return d.Sum64()
}

// own calls yield for each piece of text of a block.
func own(block *html.Node, yield func(string)) {
	walk(block, func(n *html.Node) bool {
		if n.Type == html.TextNode {
			yield(n.Data)
		}
		return n == block || n.Type == html.ElementNode && blocks.Inline(n) && !blocks.Textless(n)
	})
}

// Path names an element and those around it: body/main#top/div.article/p.
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
		if names[i] == "html" || strings.HasPrefix(names[i], "html.") {
			continue
		}
		if path.Len() > 0 {
			path.WriteByte('/')
		}
		path.WriteString(names[i])
	}
	return path.String()
}

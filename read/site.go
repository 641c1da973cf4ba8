package read

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/content"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// What is boilerplate.
const (
	SampleSize  = 256  // pages of a site that are looked at: those whose URLs have the lowest hashes
	FewestSeen  = 10   // pages that a sample needs; of a smaller site nothing is boilerplate
	mostBlocks  = 5000 // blocks of a page that count
	inTheMiddle = 3    // blocks that an element needs to be boilerplate between others
)

// site is what is known of a host: the blocks that stand on at least half of its pages.
type site struct {
	pages int               // in the sample
	on    map[uint64]uint16 // by key of a block: the pages of the sample that have it
}

// block is a block of a page, or an image.
type block struct {
	node *html.Node
	key  uint64
}

// blocksOf calls yield for the blocks of a page that may repeat, in their order.
func blocksOf(root *html.Node, yield func(block)) {
	left := mostBlocks
	content.Blocks(root, func(b content.Block) bool {
		left--
		if !holdsCode(b.Node) {
			yield(block{b.Node, b.Place*0x9E3779B97F4A7C15 ^ b.Hash})
		}
		return left > 0
	})
}

// holdsCode reports whether a block is code: an example may stand on every page, and is content.
func holdsCode(n *html.Node) bool {
	for range 4 {
		if n == nil {
			return false
		}
		if n.DataAtom == atom.Pre {
			return true
		}
		n = n.Parent
	}
	return false
}

// keyOf is the key of an image or another element that shows something without text, or 0.
func keyOf(n *html.Node) uint64 {
	switch n.DataAtom {
	case atom.Img, atom.Video, atom.Audio, atom.Embed, atom.Picture:
		for _, a := range n.Attr {
			if a.Key == "src" {
				return xxhash.Sum64String(a.Val) | 1
			}
		}
		return 1
	}
	return 0
}

// keysOf returns the keys of the blocks and images of a page, each once.
func keysOf(root *html.Node) map[uint64]bool {
	keys := make(map[uint64]bool)
	blocksOf(root, func(b block) { keys[b.key] = true })
	left := mostBlocks
	for n := range root.Descendants() {
		if key := keyOf(n); key > 1 && left > 0 {
			left--
			keys[key] = true
		}
	}
	return keys
}

// add counts a page of the sample.
func (s *site) add(keys map[uint64]bool) {
	for key := range keys {
		s.on[key]++
	}
	s.pages++
}

// settle forgets what is on fewer than half of the pages.
func (s *site) settle() {
	least := (s.pages + 1) / 2
	for key, n := range s.on {
		if int(n) < least || s.pages < FewestSeen {
			delete(s.on, key)
		}
	}
}

// weight is what an element holds.
type weight struct {
	own      int // blocks and images that are not boilerplate
	repeated int // blocks that are
	heads    int // headings that are: they say something only with what follows
	first    int // number of its first block
	least    int // pages that have the rarest
}

// clear removes the boilerplate from a page. An element goes with all that is in it, if all of that is
// boilerplate, and
//   - nothing else comes before it on the page, or behind it;
//   - or it has several blocks, as a menu in the middle.
//
// Headings, items and cells never go alone, and code never goes: they repeat on every page of a
// reference and belong to what is between.
func (s *site) clear(root *html.Node) (removed []Removal) {
	if len(s.on) == 0 {
		return nil
	}
	t := tally{site: s, keys: make(map[*html.Node]uint64), of: make(map[*html.Node]weight)}
	blocksOf(root, func(b block) { t.keys[b.node] = b.key })
	t.firstOwn, t.lastOwn = -1, -1
	t.weigh(root)
	if t.firstOwn < 0 { // all of it repeats: then that is what the page says
		return nil
	}
	t.gather(root)
	for _, c := range t.chosen() {
		w := t.of[c]
		removed = append(removed, Removal{Rule: "site", Path: content.Path(c), Text: beginning(c), Pages: w.least, Of: s.pages})
		c.Parent.RemoveChild(c)
	}
	return removed
}

// tally weighs the elements of a page.
type tally struct {
	*site
	keys              map[*html.Node]uint64
	of                map[*html.Node]weight
	blocks            int
	firstOwn, lastOwn int          // numbers of the first and the last block that is not boilerplate
	whole             []*html.Node // the largest elements that are boilerplate throughout
}

// weigh returns what is in an element.
func (t *tally) weigh(n *html.Node) (w weight) {
	w.first = t.blocks
	w.least = 1 << 30
	if key, is := t.keys[n]; is {
		t.note(&w, int(t.on[key]), isHead(n))
	} else if n.DataAtom == atom.Pre {
		t.note(&w, 0, false)
	} else if key := keyOf(n); key != 0 {
		t.note(&w, int(t.on[key]), false)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type != html.ElementNode && child.Type != html.DocumentNode {
			continue
		}
		in := t.weigh(child)
		w.own, w.repeated, w.heads, w.least = w.own+in.own, w.repeated+in.repeated, w.heads+in.heads, min(w.least, in.least)
	}
	if w.own+w.repeated+w.heads > 0 {
		t.of[n] = w
	}
	return w
}

// note counts a block that so many pages of the sample have.
func (t *tally) note(w *weight, pages int, head bool) {
	switch {
	case pages == 0:
		w.own++
		if t.firstOwn < 0 {
			t.firstOwn = t.blocks
		}
		t.lastOwn = t.blocks
	case head:
		w.heads++
		w.least = min(w.least, pages)
	default:
		w.repeated++
		w.least = min(w.least, pages)
	}
	t.blocks++
}

func isHead(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Th, atom.Caption, atom.Figcaption, atom.Summary, atom.Legend:
		return true
	}
	return false
}

// isPart reports whether an element says something only within another.
func isPart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Li, atom.Td, atom.Tr, atom.Dd, atom.Tbody, atom.Thead, atom.Tfoot, atom.Col, atom.Colgroup, atom.Option, atom.Html, atom.Body, atom.Head:
		return true
	case atom.Dt, atom.Th, atom.Caption, atom.Figcaption, atom.Summary, atom.Legend:
		return true
	}
	return false
}

// gather finds the largest elements that are boilerplate throughout.
func (t *tally) gather(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w, is := t.of[child]
		switch {
		case !is:
		case w.own > 0:
			t.gather(child)
		case !isPart(child):
			t.whole = append(t.whole, child)
		}
	}
}

// chosen returns which of them go.
func (t *tally) chosen() []*html.Node {
	var before, between, behind []*html.Node
	for _, n := range t.whole {
		switch w := t.of[n]; {
		case w.first < t.firstOwn:
			before = append(before, n)
		case w.first > t.lastOwn:
			behind = append(behind, n)
		case w.repeated >= inTheMiddle:
			between = append(between, n)
		}
	}
	return slices.Concat(t.withoutHeads(before), between, t.withoutHeads(behind))
}

// withoutHeads leaves out the headings at the end: they belong to what follows.
func (t *tally) withoutHeads(all []*html.Node) []*html.Node {
	for len(all) > 0 && t.of[all[len(all)-1]].repeated == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// beginning is the beginning of the text of an element.
func beginning(n *html.Node) string {
	const most = 80
	text := ""
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Style {
			text = line(text+" "+d.Data, 4*most)
		}
		if len(text) > most {
			return line(text, most)
		}
	}
	return text
}

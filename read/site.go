package read

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/content"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The bounds by which a block is boilerplate.
const (
	SampleSize  = 128  // pages of a site that are looked at: those whose URLs have the lowest hashes
	FewestSeen  = 10   // pages that a sample needs; of a smaller site nothing is boilerplate
	mostBlocks  = 5000 // blocks of a page that count
	inTheMiddle = 3    // blocks that an element needs to be boilerplate between others
	mainSample  = 64   // of the sample, pages that tell where content is
	fewestMain  = 4    // pages that must have an element, so that it tells where content is
)

// site is the knowledge about a host: the blocks that stand on at least half of its pages, how
// their titles end, and which elements are the content of nearly all pages that have them.
type site struct {
	pages   int               // in the sample
	on      map[uint64]uint16 // by key of a block: the pages of the sample that have it
	ends    map[string]uint16 // likewise, by an end of a title with its separator, or a whole title
	read    int               // pages of the sample of which it is known where their content is
	mains   map[uint64]*seen  // by the place of an element that holds most of a page
	besides map[uint64]*seen  // by that of one right in such an element that holds less
}

// seen counts the pages that have an element at a place, and those whose content it is.
type seen struct{ pages, main int }

func newSite() *site {
	return &site{on: make(map[uint64]uint16), ends: make(map[string]uint16), mains: make(map[uint64]*seen), besides: make(map[uint64]*seen)}
}

// addMain counts a page without boilerplate.
func (s *site) addMain(c *content.Content) {
	s.read++
	addParts(s.mains, c.Trunk)
	addParts(s.besides, c.Beside)
}

// addParts counts a page by the places of its parts.
func addParts(all map[uint64]*seen, parts []content.Part) {
	on := make(map[uint64]bool) // this page: whether a part at a place is content
	for _, part := range parts {
		on[part.Place] = on[part.Place] || part.Main
	}
	for place, main := range on {
		m := all[place]
		if m == nil {
			m = new(seen)
			all[place] = m
		}
		m.pages++
		if main {
			m.main++
		}
	}
}

// isMain reports whether what is at a place is the content of a page like the others.
func (s *site) isMain(place uint64) bool {
	m := s.mains[place]
	return m != nil && m.pages >= fewestMain && m.main*4 >= m.pages*3
}

// isBeside reports whether what is at a place is hardly ever content, on a quarter of the pages at
// least.
func (s *site) isBeside(place uint64) bool {
	m := s.besides[place]
	return m != nil && m.pages >= fewestMain && m.pages*4 >= s.read && m.main*10 <= m.pages && !s.isMain(place)
}

// isKnown reports whether a site has been looked at, so that what is left of its pages is their
// own.
func (s *site) isKnown() bool { return s != nil && s.pages >= FewestSeen }

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
		switch {
		case holdsCode(b.Node):
		case content.IsRights(b.Node):
			// Years and names differ from page to page: only the place tells whether it repeats.
			yield(block{b.Node, b.Place*0x9E3779B97F4A7C15 ^ 1})
		default:
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
			if a.Key == "src" { // its name, as each folder of a site has another way to it
				return xxhash.Sum64String(a.Val[strings.LastIndexByte(a.Val, '/')+1:]) | 1
			}
		}
		return 1
	}
	return 0
}

// sampled is the contribution of one page of the sample to its site.
type sampled struct {
	keys map[uint64]bool // of its blocks and images, each once
	ends []string        // of its title, and that itself
}

func sampleOf(root *html.Node) sampled {
	title := titleOf(root)
	return sampled{keysOf(root), append(endsOf(title), title)}
}

// titleOf is the text of the title element.
func titleOf(root *html.Node) string {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Title && n.Namespace == "" {
			return line(textOf(n), longestTitle)
		}
		if n.DataAtom == atom.Body {
			break
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}

// longestTitle is the number of bytes of a title that count.
const longestTitle = 1000

// between are the characters that part the name of a site from that of its page, with a blank on
// either side.
const between = "|-–—·•:»«>/"

// endsOf returns what may be the name of the site at the end of a title, from the longest on.
func endsOf(title string) (ends []string) {
	for i, r := range title {
		if i == 0 || title[i-1] != ' ' || !strings.ContainsRune(between, r) {
			continue
		}
		rest := strings.TrimLeft(title[i:], between)
		if strings.HasPrefix(rest, " ") && strings.TrimSpace(rest) != "" && strings.TrimSpace(title[:i]) != "" {
			ends = append(ends, title[i-1:])
		}
	}
	return ends[:min(len(ends), 8)]
}

// bare returns a title without the name of the site at its end.
func (s *site) bare(title string) string {
	if s == nil || len(s.ends) == 0 {
		return title
	}
	for _, end := range endsOf(title) {
		if s.ends[end] > 0 {
			return title[:len(title)-len(end)]
		}
	}
	return title
}

// isNamed reports whether a title is that of the site: the title element says it, as on other
// pages.
func (s *site) isNamed(element, title string) bool {
	return s != nil && s.ends[element] > 0 && strings.Contains(element, title)
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
func (s *site) add(p sampled) {
	for key := range p.keys {
		s.on[key]++
	}
	for _, end := range p.ends {
		s.ends[end]++
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
	for end, n := range s.ends {
		if int(n) < least || s.pages < FewestSeen {
			delete(s.ends, end)
		}
	}
}

// weight is the amount of text and links in an element.
type weight struct {
	node     *html.Node
	own      int // blocks and images that are not boilerplate
	repeated int // blocks that are
	heads    int // headings that are: they say something only with what follows
	first    int // number of its first block
	least    int // pages that have the rarest
}

// clear removes the boilerplate from a page. An element goes with all that is in it, if all of that
// is boilerplate, and
//   - nothing else comes before it on the page, or behind it;
//   - or it has several blocks, as a menu in the middle.
//
// Headings, items and cells never go alone, and code never goes: they repeat on every page of a
// reference and belong to what is between.
func (s *site) clear(root *html.Node) (removed []Removal) {
	if len(s.on) == 0 {
		return nil
	}
	t := tally{site: s, firstOwn: -1, lastOwn: -1}
	blocksOf(root, func(b block) { t.blocks = append(t.blocks, b) })
	t.weigh(root)
	if t.firstOwn < 0 { // all of it repeats: then that is what the page says
		return nil
	}
	for _, w := range t.chosen() {
		removed = append(removed, Removal{Rule: "site", Path: content.Path(w.node), Text: beginning(w.node), Pages: w.least, Of: s.pages})
		w.node.Parent.RemoveChild(w.node)
	}
	return removed
}

// tally weighs the elements of a page.
type tally struct {
	*site
	blocks            []block  // in their order
	next              int      // the first of them that was not met
	met               int      // blocks and images
	firstOwn, lastOwn int      // numbers of the first and the last one that is not boilerplate
	whole             []weight // the largest elements that are boilerplate throughout
	children          []weight // of the elements being weighed, the parts that are boilerplate
}

// weigh returns what is in an element.
func (t *tally) weigh(n *html.Node) weight {
	w := weight{node: n, first: t.met, least: 1 << 30}
	switch {
	case t.next < len(t.blocks) && t.blocks[t.next].node == n:
		t.note(&w, int(t.on[t.blocks[t.next].key]), isHead(n))
		t.next++
	case n.DataAtom == atom.Pre:
		t.note(&w, 0, false)
	default:
		if key := keyOf(n); key != 0 {
			t.note(&w, int(t.on[key]), false)
		}
	}
	from := len(t.children)
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type != html.ElementNode {
			continue
		}
		in := t.weigh(child)
		w.own, w.repeated, w.heads, w.least = w.own+in.own, w.repeated+in.repeated, w.heads+in.heads, min(w.least, in.least)
		if in.own == 0 && in.repeated+in.heads > 0 && !isPart(child) {
			t.children = append(t.children, in)
		}
	}
	if w.own > 0 {
		t.whole = append(t.whole, t.children[from:]...)
	}
	t.children = t.children[:from]
	return w
}

// note counts a block that so many pages of the sample have.
func (t *tally) note(w *weight, pages int, head bool) {
	switch {
	case pages == 0:
		w.own++
		if t.firstOwn < 0 {
			t.firstOwn = t.met
		}
		t.lastOwn = t.met
	case head:
		w.heads++
		w.least = min(w.least, pages)
	default:
		w.repeated++
		w.least = min(w.least, pages)
	}
	t.met++
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

// chosen returns which of them go.
func (t *tally) chosen() []weight {
	slices.SortFunc(t.whole, func(a, b weight) int { return a.first - b.first })
	var before, between, behind []weight
	for _, w := range t.whole {
		switch {
		case w.first < t.firstOwn:
			before = append(before, w)
		case w.first > t.lastOwn:
			behind = append(behind, w)
		case w.repeated >= inTheMiddle:
			between = append(between, w)
		}
	}
	return slices.Concat(withoutHeads(before), between, withoutHeads(behind))
}

// withoutHeads leaves out the headings at the end: they belong to what follows.
func withoutHeads(all []weight) []weight {
	for len(all) > 0 && all[len(all)-1].repeated == 0 {
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

package blocks

import (
	"cmp"
	"math"
	"slices"
)

// Around is the evidence of the scores around a block and of the page: the questions of a [Tree].
type Around [arounds]float32

// The values. Means are of scores by words; far is one where there is nothing.
const (
	aScore      = iota // of the block
	aPrev              // of the block before
	aNext              // of the block behind
	aParent            // the mean in the element around it
	aGrand             // in the one around that
	aGreat             // and around that
	aNear              // the mean of five blocks on either side
	aBefore            // of those before
	aBehind            // of those behind
	aPart              // the mean in the largest element around it that has less than half of the page
	aHeading           // of the heading above
	aRepeated          // the mean of the alike elements that it is in one of
	aPage              // of all blocks
	aWords             // the logarithm of the block's words
	aLinks             // the share of them that is linked
	aTag               // its element
	aTotal             // the logarithm of the page's words
	aBlocks            // of its blocks
	aLinked            // the share of its words that is linked
	aProse             // the share of prose
	aBest              // the share in the element with most of the prose
	aKind              // of the page
	aTop               // the mean of the best words of the page
	aBelow             // the distance of the score below that
	aCore              // elements between it and the core: negative above it, else up to their parent
	aCoreMean          // of the core
	aCoreSure          // the share of its words that is among the best
	aStray             // the share of the best words that is outside of the core
	aStyle             // of all blocks of its style
	aStyleWords        // the logarithm of their words
	aStyleShare        // their share of the page
	aType              // the probability of the page's first type; those of the others follow
	arounds     = aType + Types
)

const far = -9

// Tree is a decision tree whose levels ask one question each: whether a value is above a bound. The
// answers are the bits of the number of a leaf.
type Tree struct {
	Value [4]uint8
	Bound [4]float32
	Leaf  [16]float32
}

// Around tells what the scores of all blocks mean for each, on a page of some types.
func (p *Page) Around(scores []float32, mix Mix) []Around {
	p.findStyles()
	n := len(p.Index)
	sum := make([]float32, len(p.All)) // of scores times words, in each element
	upTo := make([]float32, n+1)       // of the blocks before
	words := make([]float32, n+1)
	styled := make([]float32, len(p.styles)) // in blocks of each style
	for k, i := range p.Index {
		own := float32(p.All[i].Own)
		sum[i] = scores[k] * own
		styled[p.style[k]] += sum[i]
		upTo[k+1], words[k+1] = upTo[k]+sum[i], words[k]+own
	}
	for i := len(sum) - 1; i > 0; i-- {
		sum[p.All[i].Parent] += sum[i]
	}
	top := p.top(scores)
	core, sure := p.core(scores, top)
	inElement := func(i int32) float32 { return sum[i] / max(1, float32(p.All[i].Words)) }
	between := func(from, to int) float32 {
		if from, to = max(0, from), min(n, to); words[from] < words[to] {
			return (upTo[to] - upTo[from]) / (words[to] - words[from])
		}
		return far
	}
	root := &p.All[0]
	page := Around{
		aHeading: far, aPage: inElement(0), aTotal: logarithm(root.Words), aBlocks: logarithm(int32(n)), aLinked: part(root.Linked, root.Words),
		aProse: part(p.prose, root.Words), aBest: part(p.All[p.best].Words, root.Words), aKind: float32(p.Kind),
		aTop: top, aCoreMean: inElement(core), aCoreSure: sure[core] / max(1, float32(p.All[core].Words)), aStray: 1 - sure[core]/max(1e-9, sure[0]),
	}
	copy(page[aType:], mix[:])
	all := make([]Around, n)
	for k, i := range p.Index {
		e, a := &p.All[i], &all[k]
		if isHeading(e.Node.DataAtom) {
			page[aHeading] = scores[k]
		}
		*a = page
		a[aScore], a[aPrev], a[aNext] = scores[k], between(k-1, k), between(k+1, k+2)
		a[aNear], a[aBefore], a[aBehind] = between(k-5, k+6), between(k-5, k), between(k+1, k+6)
		a[aWords], a[aLinks], a[aTag] = logarithm(e.Own), part(e.Links, e.Own), float32(e.tag)
		a[aRepeated] = far
		up := i
		for _, value := range [...]int{aParent, aGrand, aGreat} {
			up = max(p.All[up].Parent, 0)
			a[value] = inElement(up)
		}
		small, level := i, 0
		for at := i; at > 0; at, level = p.All[at].Parent, level+1 {
			if a[aRepeated] == far && p.All[at].alike >= 3 && level < 8 {
				a[aRepeated] = inElement(p.All[at].Parent)
			}
			if p.All[at].Words*2 > root.Words {
				break
			}
			small = at
		}
		a[aPart] = inElement(small)
		a[aBelow], a[aCore] = top-scores[k], p.distance(i, core)
		style := p.styles[p.style[k]]
		a[aStyle], a[aStyleWords], a[aStyleShare] = styled[p.style[k]]/float32(style), logarithm(style), part(style, root.Words)
	}
	return all
}

// top is the mean score of the words that are most likely content.
func (p *Page) top(scores []float32) float32 {
	const best = 150 // words: a short article
	order := make([]int32, len(scores))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
	var sum, words float32
	for _, k := range order {
		own := min(float32(p.All[p.Index[k]].Own), best-words)
		sum, words = sum+own*scores[k], words+own
		if words >= best {
			break
		}
	}
	return sum / max(1, words)
}

// core is the smallest element that has most of the best words: those of a score near the top. It
// returns how many of them each element has, too.
func (p *Page) core(scores []float32, top float32) (core int32, sure []float32) {
	const near, steep, most = 1.5, 2, .7
	sure = make([]float32, len(p.All))
	for k, i := range p.Index {
		sure[i] = float32(p.All[i].Own) / (1 + float32(math.Exp(-steep*float64(scores[k]-top+near))))
	}
	for i := len(sure) - 1; i > 0; i-- {
		sure[p.All[i].Parent] += sure[i]
	}
	for next := core; next >= 0; {
		next = -1
		for i := core + 1; i < p.All[core].End; i = p.All[i].End {
			if sure[i] >= most*sure[0] {
				next = i
			}
		}
		if next >= 0 {
			core = next
		}
	}
	return core, sure
}

// distance counts the elements from the core to one that has the element i in it; in the core,
// those from the element to the core, as less than none.
func (p *Page) distance(i, core int32) (n float32) {
	for ; core > 0 && (i < core || i >= p.All[core].End); core = p.All[core].Parent {
		n++
	}
	if n > 0 {
		return n
	}
	for ; i > core; i = p.All[i].Parent {
		n--
	}
	return n
}

func logarithm(n int32) float32 { return float32(math.Log1p(float64(n))) }

func part(of, all int32) float32 { return float32(of) / float32(max(1, all)) }

// atOnce is the number of blocks that a tree judges in one go: what is around them stays in the
// cache of the processor.
const atOnce = 64

// add adds a tree's contribution to the scores of blocks.
func (t *Tree) add(scores []float32, of []Around) {
	v0, v1, v2, v3 := t.Value[0], t.Value[1], t.Value[2], t.Value[3]
	b0, b1, b2, b3 := t.Bound[0], t.Bound[1], t.Bound[2], t.Bound[3]
	for k := range of {
		a := &of[k]
		leaf := bit(a[v0] > b0) | bit(a[v1] > b1)<<1 | bit(a[v2] > b2)<<2 | bit(a[v3] > b3)<<3
		scores[k] += t.Leaf[leaf&15]
	}
}

// bit is 1 for true. It becomes an instruction without a jump, which nobody could predict.
func bit(b bool) (n uint8) {
	if b {
		n = 1
	}
	return n
}

// findStyles finds the style of each block: blocks look alike, wherever they stand, if they and the
// two elements around each have the same names and classes.
func (p *Page) findStyles() {
	type look [3]uint32
	known := make(map[look]int32)
	p.style, p.styles = make([]int32, len(p.Index)), nil
	for k, i := range p.Index {
		var l look
		for n, up := 0, i; n < len(l) && up >= 0; n, up = n+1, p.All[up].Parent {
			l[n] = p.All[up].sign
		}
		style, ok := known[l]
		if !ok {
			style = int32(len(p.styles))
			known[l] = style
			p.styles = append(p.styles, 0)
		}
		p.style[k] = style
		p.styles[style] += p.All[i].Own
	}
}

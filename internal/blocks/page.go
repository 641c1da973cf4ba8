package blocks

import (
	"math"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is a page, block by block.
type Page struct {
	All   []Element
	Index []int32 // the blocks: elements with own words, in document order
	Kind  Kind

	said  []said   // by the words of each block
	above []int32  // for each block, the heading above it, or itself; -1 if there is none
	title int32    // the block that is most like the title of the page, or -1
	terms []uint16 // the numbers of the title's words in the vocabulary
	prose int32    // words of prose
	talk  int32    // words of prose in comments
	best  int32    // the element with the most prose right in it, or the root
	first int32    // the first block of prose in best, or -1
	last  int32    // the last

	style  []int32 // of each block, as an index of styles
	styles []int32 // the words in blocks of each style
}

// About is a page's own account of itself.
type About struct {
	Kind               Kind
	Title, Description string
}

// New reads a page.
func New(root *html.Node, about About) *Page {
	p := &Page{All: Scan(root), Kind: about.Kind, first: -1, last: -1}
	p.findProse()
	p.read(about.Title, about.Description)
	heading := int32(-1)
	for k, i := range p.Index {
		e := &p.All[i]
		if isHeading(e.Node.DataAtom) {
			heading = int32(k)
		}
		p.above[k] = heading
		if e.isProse() && i >= p.best && i < p.All[p.best].End {
			if p.first < 0 {
				p.first = int32(k)
			}
			p.last = int32(k)
		}
	}
	return p
}

// Title is the element most like the title of the page, or -1.
func (p *Page) Title() int32 {
	if p.title < 0 {
		return -1
	}
	return p.Index[p.title]
}

// Prose is the element with the most prose right in it, or the root.
func (p *Page) Prose() int32 { return p.best }

// findProse finds the blocks, and among them the prose.
func (p *Page) findProse() {
	n := 0
	for i := range p.All {
		if p.All[i].Own > 0 {
			n++
		}
	}
	p.Index, p.above = make([]int32, 0, n), make([]int32, n)
	score := make([]int32, len(p.All)) // prose in an element, and half of that in its children
	for i := range p.All {
		e := &p.All[i]
		if e.Own == 0 {
			continue
		}
		p.Index = append(p.Index, int32(i))
		if !e.isProse() {
			continue
		}
		p.prose += e.Own
		if p.inTalk(int32(i)) {
			p.talk += e.Own
		}
		if e.Parent < 0 {
			continue
		}
		score[e.Parent] += e.Own
		if g := p.All[e.Parent].Parent; g >= 0 {
			score[g] += e.Own / 2
		}
	}
	for i, s := range score {
		if s > score[p.best] {
			p.best = int32(i)
		}
	}
}

func (p *Page) inTalk(i int32) bool {
	for ; i > 0; i = p.All[i].Parent {
		if p.All[i].hints&(1<<hComment) != 0 {
			return true
		}
	}
	return false
}

// Facts yields the facts about the block k, for those who measure what they are worth.
func (p *Page) Facts(k int) []uint16 { return p.namedAround(p.features(nil, k), p.Index[k]) }

// Model is the measured weights: what facts about a page say of its type; the weight of each fact
// about a block, and what to add to it on a page of each type, if it is no word; trees that correct
// the sum by what is around a block.
type Model struct {
	Types   []Mix
	Weights []float32
	Shifts  [Types][]float32
	Trees   []Tree
}

// Scores returns the logarithm of the odds that a block is content, for each block. What belongs
// together, such as the items of a list, has one score.
func (p *Page) Scores(m *Model) []float32 {
	mix := p.Mix(m.Types)
	scores := p.Sums(m, mix)
	if len(m.Trees) > 0 {
		arounds := p.Around(scores, mix)
		for from := 0; from < len(arounds); from += atOnce {
			to := min(from+atOnce, len(arounds))
			for t := range m.Trees {
				m.Trees[t].add(scores[from:to], arounds[from:to])
			}
		}
		p.blend(scores)
	}
	p.unite(scores)
	return scores
}

// alike is the part by which the score of a block goes to the mean of all blocks of its style: such
// blocks, wherever they stand, are mostly content together or not at all.
const alike = 0.3

// blend moves the scores of blocks of the same style towards each other.
func (p *Page) blend(scores []float32) {
	mean := make([]float32, len(p.styles)) // by words
	for k, i := range p.Index {
		mean[p.style[k]] += scores[k] * part(p.All[i].Own, p.styles[p.style[k]])
	}
	for k := range scores {
		scores[k] += alike * (mean[p.style[k]] - scores[k])
	}
}

// Sums returns the sum of the weights of facts about each block of a page of some types.
func (p *Page) Sums(m *Model, mix Mix) []float32 {
	scores := make([]float32, len(p.Index))
	mixed := m.mixed(mix)
	near, far := p.named(m.Weights)
	facts := make([]feature, 0, 128)
	for k, i := range p.Index {
		facts = p.features(facts[:0], k)
		for _, f := range facts {
			if f < Words {
				scores[k] += mixed[f]
			} else {
				scores[k] += m.Weights[f]
			}
		}
		up := i
		for range nearLevels {
			up = max(0, p.All[up].Parent)
			scores[k] += near[up]
		}
		scores[k] += far[max(0, p.All[up].Parent)]
	}
	return scores
}

// unite gives the cells of a table, the items of a list and the lines of code the mean of their
// scores: a part of one would be worse than either. A table or code among the prose is as likely
// content as the text that introduces it, however short its cells.
func (p *Page) unite(scores []float32) {
	for k := 0; k < len(p.Index); {
		unit := p.unit(p.Index[k])
		end := k + 1
		if unit > 0 {
			for end < len(p.Index) && p.Index[end] < p.All[unit].End {
				end++
			}
		}
		var sum, words float32
		for j := k; j < end; j++ {
			w := float32(p.All[p.Index[j]].Own)
			sum += scores[j] * w
			words += w
		}
		mean := sum / words
		if k > 0 && unit > 0 && p.introduced(unit) {
			mean = max(mean, scores[k-1])
		}
		for j := k; j < end; j++ {
			scores[j] = mean
		}
		k = end
	}
}

// introduced reports whether a unit is a table with few links, or code, among the prose.
func (p *Page) introduced(unit int32) bool {
	e := &p.All[unit]
	kind := units[e.Node.DataAtom]
	return (kind == units[atom.Table] || kind == units[atom.Pre]) && p.prose > 0 && p.apart(unit) == 0 && share(e.Linked, e.Words) < 3
}

// doubt is taken off all scores: readers miss a doubtful block less than another disturbs them.
// Measured: it costs WCXB 0.001, and gains 0.01 in the article benchmark.
const doubt = 0.6

// Choose tells which blocks are content: the set with the highest expected F1, the harmonic mean
// of precision and recall. A page with words has at least one.
//
// The best set has all blocks above some score; where many blocks are content for certain, doubtful
// ones cost more than they bring. Then holes are filled.
func (p *Page) Choose(scores []float32) []bool {
	order := make([]int32, len(scores))
	chance := make([]float64, len(scores))
	expected := 0.0
	for k, s := range scores {
		order[k] = int32(k)
		chance[k] = 1 / (1 + math.Exp(doubt-float64(s)))
		expected += chance[k] * float64(p.All[p.Index[k]].Own)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	var hit, size, best float64
	least := float32(math.Inf(1))
	for _, k := range order {
		n := float64(p.All[p.Index[k]].Own)
		hit += chance[k] * n
		size += n
		if f1 := 2 * hit / (size + expected); f1 > best {
			best, least = f1, scores[k]
		}
	}
	keep := make([]bool, len(scores))
	for k, s := range scores {
		keep[k] = s >= least
	}
	p.fill(keep, scores)
	return keep
}

// fill keeps what is doubtful where holes would be left: the heading of a section that is content,
// the term of a description that is, whatever its classes; code in an element most of which is, and
// anything in a small one, such as the signature above a description.
func (p *Page) fill(keep []bool, scores []float32) {
	const (
		unlikely = -1.5 // the score of a block that is left out all the same
		mostly   = 0.6  // the share of an element that makes it content
		small    = 8    // a small element has less than such a part of the page
	)
	kept := make([]int32, len(p.All))
	for k, i := range p.Index {
		if keep[k] {
			kept[i] = p.All[i].Own
		}
	}
	for i := len(kept) - 1; i > 0; i-- {
		kept[p.All[i].Parent] += kept[i]
	}
	for k := len(keep) - 1; k >= 0; k-- {
		block := p.All[p.Index[k]].Node.DataAtom
		if keep[k] || scores[k] < unlikely && block != atom.Dt {
			continue
		}
		if isHeading(block) && block != atom.H1 || block == atom.Dt {
			keep[k] = k+1 < len(keep) && keep[k+1]
			continue
		}
		for i := p.Index[k]; i >= 0 && !keep[k]; i = p.All[i].Parent {
			e := &p.All[i]
			if e.Words*small > p.All[0].Words && block != atom.Pre {
				break
			}
			keep[k] = float32(kept[i]) >= mostly*float32(e.Words)
		}
	}
}

// Reason names the rule that speaks most against the block k, on pages of all types.
func (p *Page) Reason(k int, weight []float32) string {
	least := feature(0)
	for _, f := range p.Facts(k) {
		if weight[f] < weight[least] {
			least = f
		}
	}
	return name(least)
}

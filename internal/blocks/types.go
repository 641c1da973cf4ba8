package blocks

import (
	"math"
	"math/bits"
	"slices"
)

// Types is the number of types of pages. What is content on one type, such as the links of a
// listing, is none on another.
const Types = 7

// Mix is the probability of each type of page.
type Mix [Types]float32

// The groups of facts about a page.
const (
	pKind      feature = 0                 // the type that the page names
	pLinked            = Kinds             // its share of links
	pProse             = pLinked + 9       // its share of prose
	pTalk              = pProse + 8        // its share of prose in comments
	pMarks             = pTalk + 5         // commas and sentence ends for its words
	pWords             = pMarks + 6        // its length in words
	pBlocks            = pWords + 9        // its number of blocks
	pHeadings          = pBlocks + 8       // its number of sections
	pBest              = pHeadings + 7     // the share of the element with most of the prose
	pAlike             = pBest + 7         // in the largest list of alike elements: how many
	pAlikePart         = pAlike + 7        // its share of the page
	pTitle             = pAlikePart + 6    // the place of the title
	pHint              = pTitle + 6        // the share of elements with a hint
	pCue               = pHint + 5*hints   // blocks with a cue
	pTerm              = pCue + 5*cues     // words of short blocks
	pTitled            = pTerm + MostTerms // words of the title
	PageFacts          = pTitled + MostTerms

	hints = 64
	cues  = 32
)

// PageFacts returns the facts that tell the type of a page.
func (p *Page) PageFacts() []uint16 {
	root := &p.All[0]
	total := max(1, root.Words)
	percent := func(part int32) int32 { return int32(int64(part) * 100 / int64(total)) }
	var marks, headings int32
	for _, i := range p.Index {
		marks += p.All[i].Marks
		if isHeading(p.All[i].Node.DataAtom) {
			headings++
		}
	}
	many, long := p.longestList()
	f := make([]feature, 0, 256)
	f = append(f, pKind+feature(p.Kind),
		pLinked+step(percent(root.Linked), 5, 15, 25, 35, 45, 55, 65, 75),
		pProse+step(percent(p.prose), 2, 10, 20, 35, 50, 65, 80),
		pTalk+step(percent(p.talk), 0, 10, 30, 60),
		pMarks+step(percent(marks), 2, 4, 6, 8, 10),
		pWords+step(total, 100, 250, 500, 800, 1300, 2000, 4000, 8000),
		pBlocks+step(int32(len(p.Index)), 30, 60, 100, 150, 250, 400, 800),
		pHeadings+step(headings, 1, 3, 6, 10, 20, 40),
		pBest+step(percent(p.All[p.best].Words), 10, 20, 35, 50, 65, 80),
		pAlike+step(many, 3, 6, 10, 15, 25, 50),
		pAlikePart+step(percent(long), 10, 20, 35, 50, 70))
	if p.title < 0 {
		f = append(f, pTitle)
	} else {
		f = append(f, pTitle+1+step(p.title*10/int32(len(p.Index)), 0, 1, 2, 4))
	}
	for hint, words := range p.hinted() {
		f = append(f, pHint+feature(5*hint)+step(int32(int64(words)*1000/int64(total)), 0, 50, 200, 500))
	}
	f = p.telltaleBlocks(f)
	return appendWords(f, pTitled, p.terms)
}

// longestList returns how many alike elements there are where they have most words, counted by
// both, and the words around them.
func (p *Page) longestList() (many, long int32) {
	most := int64(0)
	for i := range p.All {
		if e := &p.All[i]; e.Words > 0 && e.alike >= 3 {
			if words := p.All[e.Parent].Words; int64(e.alike)*int64(words) > most {
				many, long, most = e.alike, words, int64(e.alike)*int64(words)
			}
		}
	}
	return many, long
}

// hinted counts the words of the outermost elements with each hint.
func (p *Page) hinted() (words [hints]int32) {
	known := make([]uint64, len(p.All)) // of an element and those around it
	for i := range p.All {
		e := &p.All[i]
		fresh := e.hints
		if e.Parent >= 0 {
			known[i] = known[e.Parent]
			fresh &^= known[i]
		}
		known[i] |= fresh
		for ; fresh != 0; fresh &= fresh - 1 {
			words[bits.TrailingZeros64(fresh)] += e.Words
		}
	}
	return words
}

// telltaleBlocks appends the cues and words of short blocks.
func (p *Page) telltaleBlocks(f []feature) []feature {
	var count [cues]int32
	var seen [MostTerms]bool
	for k := range p.said {
		s := &p.said[k]
		for c := s.cues; c != 0; c &= c - 1 {
			count[bits.TrailingZeros32(c)]++
		}
		for _, term := range s.terms {
			if !seen[term] {
				seen[term] = true
				f = append(f, pTerm+term)
			}
		}
	}
	for cue, n := range count {
		f = append(f, pCue+feature(5*cue)+step(n, 0, 2, 6, 15))
	}
	return f
}

// Mix tells how likely the page is of each type, by the weights of facts about pages (multinomial
// logistic regression).
func (p *Page) Mix(weight []Mix) (mix Mix) {
	for _, f := range p.PageFacts() {
		for t, w := range weight[f] {
			mix[t] += w
		}
	}
	most, sum := slices.Max(mix[:]), float32(0)
	for t, score := range mix {
		mix[t] = float32(math.Exp(float64(score - most)))
		sum += mix[t]
	}
	for t := range mix {
		mix[t] /= sum
	}
	return mix
}

// mixed are the weights of the facts before Words on a page of some types.
func (m *Model) mixed(mix Mix) []float32 {
	w := slices.Clone(m.Weights[:Words])
	for t, part := range mix {
		if part < leastPart {
			continue
		}
		for f, shift := range m.Shifts[t] {
			w[f] += part * shift
		}
	}
	return w
}

// leastPart is the least probability of a type that counts: most pages are of one.
const leastPart = 0.02

package blocks

import (
	"math/bits"
	"strings"

	"golang.org/x/net/html/atom"
)

// feature is the number of a fact about a block. Facts are numbered in groups; weights.go has the
// weight of each.
type feature = uint16

// The groups.
const (
	fBias      feature = 0
	fDensity           = 1                 // the share of links in the block
	fMarks             = fDensity + 5      // commas and sentence ends
	fParent            = fMarks + 4        // in the parent, the share of links; its share of the page
	fGrand             = fParent + 15      // likewise
	fGreat             = fGrand + 15       // likewise
	fPrev              = fGreat + 15       // the kind of block before it: prose, a heading, links, ...
	fPrev2             = fPrev + 8         // before that
	fNext              = fPrev2 + 8        // behind
	fNext2             = fNext + 8         // behind that
	fPlace             = fNext2 + 8        // its tenth of the page
	fSelf              = fPlace + 10       // hints of the element
	fNear              = fSelf + 64        // of the three around it
	fFar               = fNear + 64        // of those further out
	fWide              = fFar + 64         // of those that have most of the page's words
	fBest              = fWide + 64        // elements between it and the one with most of the prose
	fProse             = fBest + 8         // the share of prose in the page
	fShape             = fProse + 6        // element and length
	fCue               = fShape + 24*5     // cues in the block
	fUnder             = fCue + 64         // cues in the heading above
	fAlike             = fUnder + 32       // in one of many alike: how many, how long, links in them
	fBeyond            = fAlike + 60       // before or behind the prose, and how far
	fKind              = fBeyond + 12      // element and length, by the kind of page
	fTalk              = fKind + Kinds*120 // in comments: with a text beside them, on a forum
	fUnit              = fTalk + 4         // in a list, table or code: links in it, and its place
	fTitle             = fUnit + 30        // before or behind the title of the page, and how far
	fApart             = fTitle + 11       // elements from the title to the next around the block
	fTitled            = fApart + 9        // like the title
	fAbout             = fTitled + 1       // in the description of the page: the share, the length
	fName              = fAbout + 4        // words of its ids and classes
	fNameNear          = fName + MostNames // of the three elements around it
	fNameFar           = fNameNear + MostNames
	fTerm              = fNameFar + MostNames  // words in it
	fTermLong          = fTerm + MostTerms     // in a longer one
	fTermAbove         = fTermLong + MostTerms // in the heading above
	Features           = fTermAbove + MostTerms

	Words = fName // from here on, each fact is a word of a vocabulary
)

// groups has the names of facts that no hint or cue names.
var groups = []struct {
	from feature
	name string
}{
	{fBias, "length"}, {fDensity, "links"}, {fMarks, "no sentences"}, {fParent, "among links"}, {fPrev, "neighbours"},
	{fPlace, "place on the page"}, {fBest, "apart from the text"}, {fProse, "little prose"}, {fShape, "short"},
	{fAlike, "one of many"}, {fBeyond, "outside the text"}, {fKind, "short"}, {fTalk, "comment"}, {fUnit, "in a list or table"},
	{fTitle, "apart from the title"}, {fAbout, "description"},
}

// Kind is the type of a page by its own account.
type Kind uint8

// The kinds.
const (
	Unknown Kind = iota
	Article
	Product
	Forum
	Collection
	Kinds = iota
)

// tags are the elements whose name says something about their text.
var tags = map[atom.Atom]feature{
	atom.P: 1, atom.H1: 2, atom.H2: 3, atom.H3: 4, atom.H4: 5, atom.H5: 6, atom.H6: 6, atom.Li: 7,
	atom.Td: 8, atom.Th: 9, atom.Dd: 10, atom.Dt: 11, atom.Blockquote: 12, atom.Pre: 13, atom.Div: 14,
	atom.Label: 15, atom.Button: 16, atom.Option: 17, atom.Figcaption: 18, atom.Article: 19,
	atom.Section: 20, atom.Summary: 21, atom.Header: 22, atom.Body: 23,
}

// units are the elements whose parts stand or fall together.
var units = map[atom.Atom]feature{atom.Ul: 0, atom.Ol: 1, atom.Dl: 2, atom.Table: 3, atom.Pre: 4}

// features appends the facts about the block k to f.
func (p *Page) features(f []feature, k int) []feature {
	i := p.Index[k]
	e := &p.All[i]
	f = append(f, fBias, fDensity+share(e.Links, e.Own), fMarks+e.sentences())
	up := e
	for _, group := range [...]feature{fParent, fGrand, fGreat} {
		if up.Parent >= 0 {
			up = &p.All[up.Parent]
		}
		f = append(f, group+share(up.Linked, up.Words)*3+p.portion(up))
	}
	f = append(f, fPrev+p.role(k-1), fPrev2+p.role(k-2), fNext+p.role(k+1), fNext2+p.role(k+2))
	f = append(f, fPlace+feature(k*10/len(p.Index)), fBest+p.apart(i), fBeyond+p.beyond(int32(k)))
	f = append(f, fProse+min(5, feature(6*p.prose/max(1, p.All[0].Words))))
	shape := e.tag*5 + step(e.Own, 2, 4, 8, 20)
	f = append(f, fShape+shape, fKind+feature(p.Kind)*120+shape)
	s := &p.said[k]
	if e.Own <= 12 {
		f = appendBits(f, fCue, uint64(s.cues))
		f = appendWords(f, fTerm, s.terms)
	} else {
		f = appendBits(f, fCue+32, uint64(s.cues))
		f = appendWords(f, fTermLong, s.terms)
	}
	if above := p.above[k]; above >= 0 {
		f = appendBits(f, fUnder, uint64(p.said[above].cues))
		if above != int32(k) {
			f = appendWords(f, fTermAbove, p.said[above].terms)
		}
	}
	f = appendWords(f, fName, e.names)
	f = p.titled(f, int32(k))
	if unit := p.unit(i); unit > 0 {
		u := &p.All[unit]
		f = append(f, fUnit+units[u.Node.DataAtom]*6+min(2, p.apart(unit))*2+share(u.Linked, u.Words)/3)
	}
	f = p.around(f, i)
	return p.repeated(f, i)
}

// titled appends where a block stands beside the title of the page, and whether it says the same as
// that or the description.
func (p *Page) titled(f []feature, k int32) []feature {
	s := &p.said[k]
	if long := step(s.words, 3, 11); long > 0 && s.about*2 >= s.words {
		f = append(f, fAbout+long-1+step(s.about*10/s.words, 7)*2)
	}
	switch {
	case p.title < 0:
		return append(f, fTitle)
	case k == p.title:
		f = append(f, fTitle+1)
	case k < p.title:
		f = append(f, fTitle+2+step(p.title-k, 1, 3, 10))
	default:
		f = append(f, fTitle+6+step(k-p.title, 1, 3, 10, 30))
	}
	f = append(f, fApart+min(8, p.climb(p.Index[p.title], p.Index[k])))
	if s.like > .4 {
		f = append(f, fTitled)
	}
	return f
}

// named sums up the weights of the names of each element for blocks near it, and with those of the
// elements around it for blocks further inside. Elements with most of the page say nothing.
func (p *Page) named(weight []float32) (near, far []float32) {
	near, far = make([]float32, len(p.All)), make([]float32, len(p.All))
	for i := range p.All {
		e := &p.All[i]
		if e.Words*2 > p.All[0].Words || e.Parent < 0 {
			continue
		}
		far[i] = far[e.Parent]
		for _, name := range e.names {
			near[i] += weight[fNameNear+name]
			far[i] += weight[fNameFar+name]
		}
	}
	return near, far
}

// namedAround appends what named sums up.
func (p *Page) namedAround(f []feature, i int32) []feature {
	group := fNameNear
	for a, level := p.All[i].Parent, 1; a > 0 && p.All[a].Words*2 <= p.All[0].Words; a, level = p.All[a].Parent, level+1 {
		if level > nearLevels {
			group = fNameFar
		}
		f = appendWords(f, feature(group), p.All[a].names)
	}
	return f
}

// nearLevels is the number of elements around a block that are near it.
const nearLevels = 3

// around appends what the elements around a block say.
func (p *Page) around(f []feature, i int32) []feature {
	var near, far, wide uint64
	for a, level := p.All[i].Parent, 1; a >= 0; a, level = p.All[a].Parent, level+1 {
		switch e := &p.All[a]; {
		case e.Words*2 > p.All[0].Words:
			wide |= e.hints
		case level <= 3:
			near |= e.hints
		default:
			far |= e.hints
		}
	}
	self := p.All[i].hints
	f = appendBits(f, fSelf, self)
	f = appendBits(f, fNear, near)
	f = appendBits(f, fFar, far)
	f = appendBits(f, fWide, wide)
	if (self|near|far)&(1<<hComment) != 0 {
		talk := feature(0)
		if p.prose-p.talk > 150 {
			talk = 1
		}
		if p.Kind == Forum {
			talk += 2
		}
		f = append(f, fTalk+talk)
	}
	return f
}

// repeated appends what the innermost of three or more alike elements around a block is like.
func (p *Page) repeated(f []feature, i int32) []feature {
	for level := 0; i > 0 && level < 8; i, level = p.All[i].Parent, level+1 {
		e := &p.All[i]
		if e.alike < 3 {
			continue
		}
		all := &p.All[e.Parent]
		many, long := step(e.alike, 5, 15), step(all.Words/e.alike, 5, 15, 40)
		return append(f, fAlike+many*20+long*5+share(all.Linked, all.Words))
	}
	return f
}

func (e *Element) sentences() feature {
	if e.Marks == 0 {
		return 0
	}
	return 1 + min(2, feature(e.Own/e.Marks/8))
}

// isProse reports whether a block is a sentence or more, mostly outside links.
func (e *Element) isProse() bool { return e.Own >= 12 && e.Links*3 < e.Own && e.Marks > 0 }

// role sums a block up for its neighbours.
func (p *Page) role(k int) feature {
	if k < 0 || k >= len(p.Index) {
		return 0
	}
	e := &p.All[p.Index[k]]
	switch {
	case e.isProse():
		return 1
	case isHeading(e.Node.DataAtom):
		return 2
	case e.inLink || e.Links*2 > e.Own:
		return 4 - step(e.Own, 5)
	}
	return 7 - step(e.Own, 2, 7)
}

func isHeading(a atom.Atom) bool {
	return a == atom.H1 || a == atom.H2 || a == atom.H3 || a == atom.H4 || a == atom.H5 || a == atom.H6
}

// apart counts the elements from the one with most of the prose to the next that has the block in
// it.
func (p *Page) apart(i int32) feature { return min(7, p.climb(p.best, i)) }

// climb counts the elements from one to the next around it that has another in it.
func (p *Page) climb(from, i int32) (n feature) {
	for ; from > 0 && (i < from || i >= p.All[from].End); from = p.All[from].Parent {
		n++
	}
	return n
}

// beyond tells whether a block stands before, in or behind the prose, and how far.
func (p *Page) beyond(k int32) feature {
	switch {
	case p.first < 0:
		return 0
	case k < p.first:
		return 1 + min(4, feature(p.first-k)/3)
	case k > p.last:
		return 6 + min(4, feature(k-p.last)/3)
	}
	return 11
}

// portion tells how large a part of the page is in an element.
func (p *Page) portion(e *Element) feature { return step(e.Words*10/max(1, p.All[0].Words), 0, 4) }

// share puts a share into a class: none, a few, some, most, nearly all.
func share(part, of int32) feature {
	switch {
	case part == 0:
		return 0
	case part*5 < of:
		return 1
	case part*2 < of:
		return 2
	case part*10 < of*9:
		return 3
	}
	return 4
}

// step counts the bounds that n exceeds.
func step(n int32, bounds ...int32) feature {
	for i, bound := range bounds {
		if n <= bound {
			return feature(i)
		}
	}
	return feature(len(bounds))
}

func appendWords(f []feature, group feature, numbers []uint16) []feature {
	for _, number := range numbers {
		f = append(f, group+number)
	}
	return f
}

func appendBits(f []feature, group feature, set uint64) []feature {
	for ; set != 0; set &= set - 1 {
		f = append(f, group+feature(bits.TrailingZeros64(set)))
	}
	return f
}

// name is the name of a fact, as a rule that leaves a block out.
func name(f feature) string {
	for _, from := range [...]feature{fSelf, fNear, fFar, fWide} {
		if f >= from && f < from+64 {
			return hintNames[f-from]
		}
	}
	switch {
	case f >= fCue && f < fUnder:
		return "says " + cueNames[(f-fCue)%32]
	case f >= fUnder && f < fAlike:
		return "under " + cueNames[f-fUnder]
	}
	switch {
	case f >= fTermAbove:
		return "under " + strings.Fields(termList)[f-fTermAbove]
	case f >= fTerm:
		return "says " + strings.Fields(termList)[(f-fTerm)%MostTerms]
	case f >= fName:
		return "named " + strings.Fields(nameList)[(f-fName)%MostNames]
	}
	rule := ""
	for _, g := range groups {
		if g.from <= f {
			rule = g.name
		}
	}
	return rule
}

// unit is the outermost list, table or code around a block that is a small part of the page, or 0.
func (p *Page) unit(i int32) int32 {
	unit := int32(0)
	for ; i > 0; i = p.All[i].Parent {
		e := &p.All[i]
		if e.Words*4 > p.All[0].Words {
			break
		}
		if _, ok := units[e.Node.DataAtom]; ok {
			unit = i
		}
	}
	return unit
}

package blocks

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const named = `<body><div class="sidebar"><p>It has most of the words of the page, so that it says nothing, whatever it is called.
<div class="sidebar"><p>deep one</p><section><ul><li><div class=header><p id=footer>Subscribe to it now</p></div></ul></section></div></div>
<h2>Comments</h2><p>What follows the heading`

func parsed(t *testing.T, page string, about About) *Page {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return New(root, about)
}

// TestSums: sums are those of all facts, with what the types of the page add to them, though names
// are summed up once for an element.
func TestSums(t *testing.T) {
	p := parsed(t, named, About{Title: "Comments", Description: "Subscribe to it, and comment."})
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []float32 {
		all := make([]float32, n)
		for i := range all {
			all[i] = random.Float32() - .5
		}
		return all
	}
	m := Model{Weights: some(Features)}
	for t := range m.Shifts {
		m.Shifts[t] = some(Words)
	}
	mix := Mix{1: .75, 4: .25}
	for k, sum := range p.Sums(&m, mix) {
		want := float32(0)
		for _, f := range p.Facts(k) {
			want += m.Weights[f]
			if f < Words {
				want += .75*m.Shifts[1][f] + .25*m.Shifts[4][f]
			}
		}
		if math.Abs(float64(sum-want)) > 1e-4 {
			t.Errorf("block %d: %v, its facts have %v", k, sum, want)
		}
	}
}

// TestWords: facts say which words of the vocabularies a block has, the heading above it, and the
// names of elements around it.
func TestWords(t *testing.T) {
	p := parsed(t, named, About{Title: "Comments", Description: "Subscribe to it now, and comment."})
	number := func(l *lexicon, s string) feature { return l.entry(wordOf(s)).number }
	for _, c := range []struct {
		name  string
		block string
		fact  feature
		want  bool
	}{
		{"own name", "Subscribe", fName + number(names(), "footer"), true},
		{"near name", "Subscribe", fNameNear + number(names(), "header"), true},
		{"far name", "Subscribe", fNameFar + number(names(), "sidebar"), true},
		{"near is not far", "Subscribe", fNameNear + number(names(), "sidebar"), false},
		{"name near another block", "deep", fNameNear + number(names(), "sidebar"), true},
		{"name of most of the page", "It has", fNameNear + number(names(), "sidebar"), false},
		{"term", "Subscribe", fTerm + number(terms(), "subscribe"), true},
		{"term of a longer block", "It has", fTermLong + number(terms(), "page"), true},
		{"term above", "What", fTermAbove + number(terms(), "comments"), true},
		{"title", "Comments", fTitle + 1, true},
		{"like the title", "Comments", fTitled, true},
		{"just behind the title", "What", fTitle + 6, true},
		{"just before the title", "Subscribe", fTitle + 2, true},
		{"not the title", "What", fTitle + 1, false},
		{"description", "Subscribe", fAbout + 2, true},
		{"not the description", "It has", fAbout + 1, false},
	} {
		for k, i := range p.Index {
			if text := p.All[i].Node.FirstChild.Data; strings.HasPrefix(text, c.block) && slices.Contains(p.Facts(k), c.fact) != c.want {
				t.Errorf("%s: %v, expected %v", c.name, !c.want, c.want)
			}
		}
	}
}

// TestShipped: what is shipped knows all words, and has a weight for most.
func TestShipped(t *testing.T) {
	nameWords, termWords := len(strings.Fields(nameList)), len(strings.Fields(termList))
	if nameWords != MostNames || termWords != MostTerms || len(Shipped.Weights) != Features || len(Shipped.Types) != PageFacts {
		t.Fatalf("%d names, %d terms, %d weights and %d of pages, expected %d, %d, %d and %d",
			nameWords, termWords, len(Shipped.Weights), len(Shipped.Types), MostNames, MostTerms, Features, PageFacts)
	}
	for typ, shift := range Shipped.Shifts {
		if len(shift) != Words {
			t.Errorf("%d shifts of type %d, expected %d", len(shift), typ, Words)
		}
	}
	some := 0
	for _, w := range Shipped.Weights[Words:] {
		if w != 0 {
			some++
		}
	}
	if some*2 < Features-Words {
		t.Errorf("%d of %d words have a weight", some, Features-Words)
	}
	for _, l := range []*lexicon{names(), terms()} {
		if len(l.slots) < 2*len(l.known) {
			t.Errorf("%d slots for %d words", len(l.slots), len(l.known))
		}
	}
}

// TestFindWords: words end where letters do, in any script, and sixteen bytes of them count.
func TestFindWords(t *testing.T) {
	var found []string
	yield := func(w word) { found = append(found, w.String()) }
	eachTerm("Don’t©panic—“Más” été 2nd\u00a0incomprehensibilities", yield)
	eachName("postBody main-contentsOfPage x2y", yield)
	want := "don t panic más été nd incomprehensibil post body main contents of page x y"
	if got := strings.Join(found, " "); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// TestCount: the blank that breaks no line is no word, and parts words as others do.
func TestCount(t *testing.T) {
	for text, want := range map[string]int32{
		"\u00a0": 0, " \u00a0 \u00a0": 0, "two\u00a0words": 2, "10\u00a0000": 2, "co\u00adoperate": 1, "\u00a0été à l’île": 3, "\xc2": 1,
	} {
		if words, _ := Count(text); words != want {
			t.Errorf("%q: %d words, expected %d", text, words, want)
		}
	}
}

package blocks

import (
	"math"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestAround: means are of scores by words, and where there is nothing, far.
func TestAround(t *testing.T) {
	root, err := html.Parse(strings.NewReader("<body><div><h2>one</h2><p>one two three</p></div><p>four"))
	if err != nil {
		t.Fatal(err)
	}
	p := New(root, About{Kind: Forum})
	all := p.Around([]float32{2, 1, -4}, Mix{0, 1})
	for _, c := range []struct {
		name         string
		block, value int
		want         float64
	}{
		{"own", 1, aScore, 1}, {"before", 1, aPrev, 2}, {"behind", 1, aNext, -4}, {"nothing before", 0, aPrev, far}, {"nothing behind", 2, aBehind, far},
		{"parent", 1, aParent, (2 + 3.0) / 4}, {"page", 1, aPage, (2 + 3 - 4.0) / 5}, {"grand", 1, aGrand, (2 + 3 - 4.0) / 5},
		{"near", 1, aNear, (2 + 3 - 4.0) / 5}, {"before it", 2, aBefore, (2 + 3.0) / 4}, {"part", 0, aPart, 2}, {"heading", 2, aHeading, 2},
		{"not repeated", 1, aRepeated, far}, {"words", 1, aWords, math.Log(4)}, {"kind", 1, aKind, float64(Forum)}, {"type", 1, aType + 1, 1}, {"another type", 1, aType, 0},
	} {
		if got := all[c.block][c.value]; math.Abs(float64(got)-c.want) > 1e-4 {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestCore: the core is the smallest element with most of the best words; what is outside is told
// by how far it is, and what looks like it by what it has elsewhere.
func TestCore(t *testing.T) {
	root, err := html.Parse(strings.NewReader(`<body><section><div class=text><p>one two three<p>four five six</div><p>seven</section><div class=text><p>eight</div>`))
	if err != nil {
		t.Fatal(err)
	}
	all := New(root, About{}).Around([]float32{4, 4, -4, -8}, Mix{})
	for _, c := range []struct {
		name         string
		block, value int
		want         float64
	}{
		{"top", 0, aTop, (6*4 - 4 - 8) / 8.0}, {"below", 2, aBelow, 1.5 + 4}, {"in the core", 0, aCore, -1}, {"beside it", 2, aCore, 1}, {"apart", 3, aCore, 2},
		{"mean", 3, aCoreMean, 4}, {"sure", 0, aCoreSure, 1}, {"stray", 0, aStray, 0}, {"style of both", 0, aStyleShare, 6 / 8.0}, {"style of one", 2, aStyleWords, math.Log(2)},
		{"mean of a style", 1, aStyle, 4},
	} {
		if got := all[c.block][c.value]; math.Abs(float64(got)-c.want) > .02 {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestBlend: a score goes three tenths of the way to the mean of its style, by words; other styles
// have no part in it.
func TestBlend(t *testing.T) {
	root, err := html.Parse(strings.NewReader("<body><div><p>one two three</div><div><h2>five</h2></div><div><p>four</div>"))
	if err != nil {
		t.Fatal(err)
	}
	p := New(root, About{})
	p.findStyles()
	scores := []float32{2, -4, -2}
	p.blend(scores)
	for k, want := range []float64{1.7, -4, -1.1} { // the mean is 1
		if math.Abs(float64(scores[k])-want) > 1e-4 {
			t.Errorf("block %d: %v, expected %v", k, scores[k], want)
		}
	}
}

// TestTree: the answers are the bits of the leaf, the first the lowest.
func TestTree(t *testing.T) {
	tree := Tree{Value: [4]uint8{aWords, aScore, aWords, aKind}, Bound: [4]float32{1, 0, 9, 2}, Leaf: [16]float32{1: .25, 2: .5, 3: .75, 11: 1}}
	for _, c := range []struct{ words, score, kind, want float32 }{{2, -1, 0, .25}, {0, 1, 0, .5}, {2, 1, 0, .75}, {2, 1, 3, 1}, {1, 0, 2, 0}} {
		score := []float32{0}
		if tree.add(score, []Around{{aWords: c.words, aScore: c.score, aKind: c.kind}}); score[0] != c.want {
			got := score[0]
			t.Errorf("%+v: %v", c, got)
		}
	}
}

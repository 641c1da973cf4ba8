package blocks

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestPageFacts: each fact about a page is said once, and has a weight; what differs is the page.
func TestPageFacts(t *testing.T) {
	long := strings.Repeat("<div class=post><h3>Reply</h3><p>It works here, too, since the last update of the driver.</div>", 40)
	for _, c := range []struct {
		name, page string
		about      About
		fact       feature
	}{
		{"nothing", "", About{}, pTitle},
		{"kind", "<p>one", About{Kind: Forum}, pKind + feature(Forum)},
		{"many alike", long, About{}, pAlike + 5},
		{"a hint on all of the page", long, About{}, pHint + 5*feature(hPost) + 4},
		{"a hint in a hint", "<div class=post><div class=post>one two</div></div>" + strings.Repeat("<p>three four five six", 3), About{}, pHint + 5*feature(hPost) + 2},
		{"a cue on many blocks", long, About{}, pCue + 5*feature(cComment) + 4},
		{"a word in a block", long, About{}, pTerm + terms().entry(wordOf("works")).number},
		{"a word of the title", long, About{Title: "Reviews"}, pTitled + terms().entry(wordOf("reviews")).number},
		{"the title on top", "<h1>The driver</h1>" + long, About{Title: "The driver"}, pTitle + 1},
	} {
		facts := parsed(t, c.page, c.about).PageFacts()
		if !slices.Contains(facts, c.fact) {
			t.Errorf("%s: %d is missing in %d", c.name, c.fact, facts)
		}
		slices.Sort(facts)
		if n := len(facts); len(slices.Compact(facts)) != n || facts[n-1] >= PageFacts {
			t.Errorf("%s: some fact comes twice, or has no weight", c.name)
		}
	}
}

// TestMix: shares sum up to one, and pages are of the type that their words and lists say.
func TestMix(t *testing.T) {
	prose := "<p>The council voted on Tuesday to close the old bridge, which was built in 1931, after engineers had found cracks in two of its pillars. Drivers will have to take the road along the river, said the mayor.</p>"
	goods := "<li class=product><a href=/p><img src=p.jpg><h2>Blue shirt</h2></a><span class=price>$19.99</span><button>Add to cart</button></li>"
	for _, c := range []struct {
		name, page string
		about      About
		want       []int // as types of bench/content has them
	}{
		{"news", "<h1>Old bridge closed</h1>" + strings.Repeat(prose, 8), About{Kind: Article, Title: "Old bridge closed"}, []int{0}},
		{"shop", "<h1>Shirts</h1><ul class=products>" + strings.Repeat(goods, 30) + "</ul>", About{Title: "Shirts"}, []int{4, 5, 6}},
	} {
		mix := parsed(t, c.page, c.about).Mix(Shipped.Types)
		sum, some := float32(0), float32(0)
		for typ, part := range mix {
			sum += part
			if slices.Contains(c.want, typ) {
				some += part
			}
		}
		if math.Abs(float64(sum)-1) > 1e-4 || some < .5 {
			t.Errorf("%s: %v, expected most in %d", c.name, mix, c.want)
		}
	}
}

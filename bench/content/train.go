package main

import (
	"bytes"
	"fmt"
	"go/format"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html/atom"
)

// prepare reads the blocks of a page, and labels them by the truth.
func (d *document) prepare() {
	root, _ := content.Parse(d.body)
	body := root
	for n := range root.Descendants() {
		if n.DataAtom == atom.Body {
			body = n
			break
		}
	}
	c := content.Extract(content.Page{Root: root}, content.Options{Whole: true})
	d.page = blocks.New(body, blocks.About{Kind: kinds[c.Kind], Title: c.Title, Description: c.Description})
	for k, i := range d.page.Index {
		block := content.Block{Node: d.page.All[i].Node}
		d.tokens = append(d.tokens, d.words(block.Text()))
		d.facts = append(d.facts, d.page.Facts(k))
	}
	d.said = d.page.PageFacts()
	d.labels()
}

var kinds = map[string]blocks.Kind{
	"article": blocks.Article, "product": blocks.Product, "forum": blocks.Forum, "collection": blocks.Collection,
}

// labels finds out which part of each block is in the truth: four tokens in a row are there, and a
// block of fewer stands beside one that is.
func (d *document) labels() {
	grams := make(map[string]bool)
	left := make(map[string]int)
	for i, token := range d.gold {
		left[token]++
		for n := 1; n <= 4 && i+n <= len(d.gold); n++ {
			grams[strings.Join(d.gold[i:i+n], " ")] = true
		}
	}
	d.label = make([]float64, len(d.tokens))
	for pass := range 3 {
		for k, tokens := range d.tokens {
			n := min(4, len(tokens))
			if n == 0 || (pass == 0) != (n == 4) || d.label[k] > .5 || pass > 0 && !d.beside(k) {
				continue
			}
			d.label[k] = covered(tokens, n, grams, left)
			if d.label[k] > .5 {
				for _, token := range tokens {
					left[token]--
				}
			}
		}
	}
	sum := 0.0
	d.weight = make([]float64, len(d.tokens))
	for k, tokens := range d.tokens {
		d.weight[k] = math.Sqrt(float64(len(tokens)))
		sum += d.weight[k]
	}
	for k := range d.weight {
		d.weight[k] /= max(sum, 1)
		if d.kind == "" {
			d.weight[k] *= 3 // people have made this truth, and it is of few pages
		}
	}
}

func (d *document) beside(k int) bool {
	for j := max(0, k-2); j <= min(len(d.label)-1, k+2); j++ {
		if d.label[j] > .5 {
			return true
		}
	}
	return false
}

// covered is the share of tokens in rows of n that are in the truth, each as often as it is there.
func covered(tokens []string, n int, grams map[string]bool, left map[string]int) float64 {
	in := make([]bool, len(tokens))
	for i := 0; i+n <= len(tokens); i++ {
		if grams[strings.Join(tokens[i:i+n], " ")] {
			for j := i; j < i+n; j++ {
				in[j] = true
			}
		}
	}
	count := 0
	for j, token := range tokens {
		if in[j] && left[token] > 0 {
			count++
		}
	}
	return float64(count) / float64(len(tokens))
}

// learn finds the model of the documents that use selects. Trees are made from sums of weights that
// other sites have found, and weights for the types that others have told, as they will be on pages
// that nobody has seen.
func learn(all []*document, use func(*document) bool) blocks.Model {
	var some []*document
	for _, d := range all {
		if use(d) && len(d.gold) > 0 {
			some = append(some, d)
		}
	}
	var m blocks.Model
	foldsAndAll := []int{0, 1, 2, 3, 4, folds} // without a fold each, and without none
	each(foldsAndAll, func(fold int) {
		weight := tell(some, func(d *document) bool { return d.fold != fold })
		if fold == folds {
			m.Types = weight
		}
		for _, d := range some {
			if d.fold == fold {
				d.mix = d.page.Mix(weight)
			}
		}
	})
	each(foldsAndAll, func(fold int) {
		found := fit(some, func(d *document) bool { return d.fold != fold })
		if fold == folds {
			m.Weights, m.Shifts = found.Weights, found.Shifts
		}
		for _, d := range some {
			if d.fold == fold {
				d.around = d.page.Around(d.page.Sums(&found, d.mix), d.mix)
			}
		}
	})
	m.Trees = boost(some)
	return m
}

// weight is the value of a fact, and the sum of its squared slopes: AdaGrad takes small steps where
// much has been learned.
type weight struct{ value, seen float64 }

func (w *weight) step(slope, rate float64) {
	w.seen += slope * slope
	w.value -= rate * slope / (math.Sqrt(w.seen) + 1e-8)
}

// tell finds what facts about pages say of their type, by multinomial logistic regression on the
// documents that use selects.
func tell(all []*document, use func(*document) bool) []blocks.Mix {
	const (
		epochs = 12
		rate   = 0.1
		decay  = 3e-2
	)
	some := slices.DeleteFunc(slices.Clone(all), func(d *document) bool { return !use(d) })
	weights := make([][blocks.Types]weight, blocks.PageFacts)
	order := rand.New(rand.NewPCG(5, 6))
	for range epochs {
		order.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for _, d := range some {
			var odds [blocks.Types]float64
			for _, f := range d.said {
				for t := range odds {
					odds[t] += weights[f][t].value
				}
			}
			sum := 0.0
			for t := range odds {
				odds[t] = math.Exp(odds[t])
				sum += odds[t]
			}
			for t := range odds {
				miss := odds[t] / sum
				if t == d.typeOf() {
					miss--
				}
				for _, f := range d.said {
					w := &weights[f][t]
					w.step(miss+decay*w.value, rate)
				}
			}
		}
	}
	rounded := make([]blocks.Mix, len(weights))
	for f := range weights {
		for t, w := range weights[f] {
			rounded[f][t] = hundredths(w.value)
		}
	}
	return rounded
}

// typeOf is the type of a page as the number that the model has for it. All pages but those of WCXB
// are articles.
func (d *document) typeOf() int { return max(0, slices.Index(types, d.kind)) }

// fit finds the weight of each fact, and what to add to it on pages of each type, by logistic
// regression on the documents that use selects (AdaGrad, one step a page). The weights are the
// means of those after each of the last epochs.
func fit(all []*document, use func(*document) bool) (m blocks.Model) {
	const epochs, last = 6, 3
	some := slices.DeleteFunc(slices.Clone(all), func(d *document) bool { return !use(d) })
	f := fitting{
		weights: make([]weight, blocks.Features), shifts: make([][blocks.Types]weight, blocks.Words),
		mixed: make([]float64, blocks.Features), slope: make([]float64, blocks.Features),
		order: rand.New(rand.NewPCG(1, 2)),
	}
	mean := make([]float64, blocks.Features)
	shift := make([][blocks.Types]float64, blocks.Words)
	for epoch := range epochs {
		f.order.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for _, d := range some {
			f.learn(d)
		}
		if epoch < epochs-last {
			continue
		}
		for i, w := range f.weights {
			mean[i] += w.value / last
		}
		for i, types := range f.shifts {
			for t, w := range types {
				shift[i][t] += w.value / last
			}
		}
	}
	for _, x := range mean {
		m.Weights = append(m.Weights, hundredths(x))
	}
	for _, types := range shift {
		for t, x := range types {
			m.Shifts[t] = append(m.Shifts[t], hundredths(x))
		}
	}
	return m
}

// fitting is the state of fit.
type fitting struct {
	weights []weight               // of each fact
	shifts  [][blocks.Types]weight // of each that is no word
	mixed   []float64              // both, on the page that teaches
	slope   []float64              // of the loss of that page, for each fact
	order   *rand.Rand
}

// learn takes the step of a page.
func (f *fitting) learn(d *document) {
	const (
		rate   = 0.15
		decay  = 1e-3
		single = 3e-2 // the decay of words of a vocabulary: there are many, and each is rare
		shift  = 3e-3 // of what is added on pages of a type
		few    = 0.02 // a page is of no type that is less likely
	)
	f.mix(d.mix)
	for _, i := range f.slopes(d) {
		w, slope := &f.weights[i], f.slope[i]
		f.slope[i] = 0
		if i >= blocks.Words {
			w.step(slope+single*w.value, rate)
			continue
		}
		w.step(slope+decay*w.value, rate)
		for t, part := range d.mix {
			if w := &f.shifts[i][t]; part >= few {
				w.step(float64(part)*(slope+shift*w.value), rate/2)
			}
		}
	}
}

// mix adds what types shift to the weights.
func (f *fitting) mix(mix blocks.Mix) {
	for i, w := range f.weights {
		f.mixed[i] = w.value
	}
	for i := range f.shifts {
		for t, part := range mix {
			f.mixed[i] += float64(part) * f.shifts[i][t].value
		}
	}
}

// slopes adds up the slope of some blocks of a page, and returns the facts about them.
func (f *fitting) slopes(d *document) (touched []uint16) {
	const sample = 150 // blocks, roughly
	every := max(1, len(d.facts)/sample)
	for k := f.order.IntN(every); k < len(d.facts); k += every {
		odds := 0.0
		for _, i := range d.facts[k] {
			odds += f.mixed[i]
		}
		miss := (1/(1+math.Exp(-odds)) - d.label[k]) * d.weight[k] * float64(every)
		for _, i := range d.facts[k] {
			if f.slope[i] == 0 {
				touched = append(touched, i)
			}
			f.slope[i] += miss
		}
	}
	return touched
}

// hundredths rounds a weight, so that few digits are written.
func hundredths(x float64) float32 { return float32(math.Round(x*100) / 100) }

// source is the Go file of a model.
func source(m blocks.Model) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, "// Code generated by bench/content -train; DO NOT EDIT.\n\npackage blocks\n\n")
	fmt.Fprint(&b, "// Shipped is the model that finds the main content.\nvar Shipped = Model{\n\tTypes: []Mix{\n")
	for _, mix := range m.Types {
		fmt.Fprintf(&b, "\t\t{%s},\n", list(mix[:]))
	}
	b.WriteString("\t},\n\tWeights: ")
	numbers(&b, m.Weights)
	b.WriteString("\tShifts: [Types][]float32{\n")
	for _, shift := range m.Shifts {
		numbers(&b, shift)
	}
	b.WriteString("\t},\n\tTrees: []Tree{\n")
	for _, t := range m.Trees {
		fmt.Fprintf(&b, "\t\t{[4]uint8{%s},\n\t\t\t[4]float32{%s},\n\t\t\t[16]float32{%s}},\n", list(t.Value[:]), list(t.Bound[:]), list(t.Leaf[:]))
	}
	b.WriteString("\t},\n}\n")
	code, err := format.Source(b.Bytes())
	if err != nil {
		panic(err) // the model is all numbers
	}
	return code
}

func numbers(b *bytes.Buffer, all []float32) {
	b.WriteString("[]float32{\n")
	for line := range slices.Chunk(all, 14) {
		fmt.Fprintf(b, "%s,\n", list(line))
	}
	b.WriteString("},\n")
}

func list[T any](all []T) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(all), "[]")), ", ")
}

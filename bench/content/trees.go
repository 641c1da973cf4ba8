package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/weftcrawl/weft/internal/blocks"
)

// The measures of trees.
const (
	trees = 300
	bins  = 32  // into which a value is put
	depth = 4   // of blocks.Tree
	pace  = .08 // the part of a correction that is made at once
	damp  = 2   // pages that a leaf must speak for
	part  = .4  // of the pages, by which each tree is made
	some  = .6  // of the values, which it may ask for
	most  = 150 // blocks of a page that teach a tree, roughly
)

// example is a block to learn from.
type example struct {
	bin           [len(blocks.Around{})]uint8
	label, weight float64
	score         float64
	times         float64 // the number of the page's blocks for which it stands
	leaf          uint8
}

// boost makes trees that correct the scores of blocks, one after another: each follows the slope of
// the loss (gradient boosting with Newton steps). Its levels ask one question each.
func boost(docs []*document) []blocks.Tree {
	bounds := boundsOf(docs)
	var all []example
	var ends []int
	for _, d := range docs {
		for k := range d.around {
			if d.weight[k] == 0 {
				continue
			}
			e := example{label: d.label[k], weight: d.weight[k], score: float64(d.around[k][0])}
			for v, value := range d.around[k] {
				at, _ := slices.BinarySearch(bounds[v], value) // the bounds that are less
				e.bin[v] = uint8(at)
			}
			all = append(all, e)
		}
		ends = append(ends, len(all))
	}
	order := rand.New(rand.NewPCG(3, 4))
	made := make([]blocks.Tree, trees)
	for t := range made {
		var taught []*example
		from := 0
		for _, end := range ends {
			if order.Float64() < part {
				every := max(1, (end-from)/most)
				for i := from + order.IntN(every); i < end; i += every {
					all[i].leaf, all[i].times = 0, float64(every)
					taught = append(taught, &all[i])
				}
			}
			from = end
		}
		var values []int
		for v := range bounds {
			if order.Float64() < some {
				values = append(values, v)
			}
		}
		asked := grow(&made[t], taught, bounds, values)
		for i := range all {
			e, leaf := &all[i], 0
			for level, bin := range asked {
				if e.bin[made[t].Value[level]] > bin {
					leaf |= 1 << level
				}
			}
			e.score += float64(made[t].Leaf[leaf])
		}
	}
	return made
}

// slope is the slope of the loss and its change, summed.
type slope struct{ first, second float64 }

func (s *slope) add(o slope) { s.first, s.second = s.first+o.first, s.second+o.second }

// gain is the gain of the best step along a slope.
func (s slope) gain() float64 { return s.first * s.first / (s.second + damp*.25) }

func slopeOf(e *example) slope {
	p := 1 / (1 + math.Exp(-e.score))
	w := e.weight * e.times
	return slope{w * (e.label - p), w * p * (1 - p)}
}

// grow makes a tree that asks for some values, level by level, and returns the bins above which its
// answers are yes.
func grow(tree *blocks.Tree, taught []*example, bounds [][]float32, values []int) (asked [depth]uint8) {
	slopes := make([]slope, len(taught))
	for i, e := range taught {
		slopes[i] = slopeOf(e)
	}
	for level := range depth {
		var sums [1 << depth][len(blocks.Around{})][bins]slope
		for i, e := range taught {
			in := &sums[e.leaf]
			for _, v := range values {
				in[v][e.bin[v]].add(slopes[i])
			}
		}
		best, value, bin := 0.0, 0, 0
		for _, v := range values {
			var left [1 << depth]slope
			for b := range bounds[v] {
				gain := 0.0
				for leaf := range 1 << level {
					in := &sums[leaf][v]
					left[leaf].add(in[b])
					var right slope
					for _, s := range in[b+1:] {
						right.add(s)
					}
					gain += left[leaf].gain() + right.gain()
				}
				if gain > best {
					best, value, bin = gain, v, b
				}
			}
		}
		tree.Value[level], tree.Bound[level], asked[level] = uint8(value), bounds[value][bin], uint8(bin)
		for _, e := range taught {
			if int(e.bin[value]) > bin {
				e.leaf |= 1 << level
			}
		}
	}
	var sums [1 << depth]slope
	for i, e := range taught {
		sums[e.leaf].add(slopes[i])
	}
	for leaf, s := range sums {
		tree.Leaf[leaf] = float32(math.Round(1000*pace*s.first/(s.second+damp*.25)) / 1000)
	}
	return asked
}

// boundsOf returns the bounds between the bins of each value: as many blocks are in each, if their
// values differ.
func boundsOf(docs []*document) [][]float32 {
	bounds := make([][]float32, len(blocks.Around{}))
	for v := range bounds {
		var values []float32
		for _, d := range docs {
			for k := 0; k < len(d.around); k += 7 {
				values = append(values, d.around[k][v])
			}
		}
		slices.Sort(values)
		for b := 1; b < bins; b++ {
			bounds[v] = append(bounds[v], float32(math.Round(float64(values[b*len(values)/bins])*100)/100))
		}
		bounds[v] = slices.Compact(bounds[v])
	}
	return bounds
}

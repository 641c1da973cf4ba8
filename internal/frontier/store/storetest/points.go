package storetest

import (
	"path"
	"strings"
)

// Point names one operation of a run: the Nth, from 1, of its kind, which is the operation and
// the kind of file. Numbers that count within a kind mean the same moment in every replay,
// although Pebble's goroutines interleave differently each time.
type Point struct {
	Op   Op
	File string
	N    int
}

// Points numbers the operations of a run as they happen.
type Points struct {
	counts map[Point]int // by kind: Points with N 0
	all    []Point
}

// Next returns the point of an operation. A Before function, whose calls do not overlap, calls
// it once for each.
func (p *Points) Next(op Op, path string) Point {
	if p.counts == nil {
		p.counts = make(map[Point]int)
	}
	kind := Point{Op: op, File: fileKind(path)}
	p.counts[kind]++
	kind.N = p.counts[kind]
	p.all = append(p.all, kind)
	return kind
}

// All returns the points so far, in order.
func (p *Points) All() []Point { return p.all }

// Sample returns the first point of each kind and, of all, every stride-th, in order. With a
// stride of 1 it returns all of them.
func Sample(points []Point, stride int) []Point {
	var some []Point
	for i, p := range points {
		if p.N == 1 || (i+1)%stride == 0 {
			some = append(some, p)
		}
	}
	return some
}

// fileKind is the name of a file without its digits, or the folder that holds many alike.
func fileKind(name string) string {
	if folder, _, ok := strings.Cut(name, "/bodies"); ok {
		return folder + "/bodies"
	}
	if path.Base(path.Dir(name)) == "part" {
		return path.Dir(name)
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

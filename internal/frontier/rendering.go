package frontier

import (
	"maps"
	"slices"
)

// rendered takes in that a page of o is being rendered.
func (p *politeness) rendered(now moment, o *origin) {
	r := &p.rendering
	r.pages++
	r.of[o]++
	if r.pages == r.most {
		p.placeRendering(now)
	} else {
		p.place(now, o)
	}
}

// endRendering takes in that a page of o is not being rendered any more.
func (p *politeness) endRendering(now moment, o *origin) {
	r := &p.rendering
	r.pages--
	if r.of[o]--; r.of[o] == 0 {
		delete(r.of, o)
	}
	if r.pages == r.most-1 {
		p.placeRendering(now)
	}
	p.place(now, o)
}

// placeRendering places the origins with pages that are being rendered: bars holds for all of them
// from now on, or for none.
func (p *politeness) placeRendering(now moment) {
	for _, o := range slices.SortedFunc(maps.Keys(p.rendering.of), byName) {
		p.place(now, o)
	}
}

package frontier

import (
	"maps"
	"slices"
	"strings"
)

// rendered takes in that a page of h is being rendered.
func (p *politeness) rendered(now moment, h *host) {
	r := &p.rendering
	r.pages++
	r.of[h]++
	if r.pages == r.most {
		p.placeRendering(now)
	} else {
		p.placeHost(now, h)
	}
}

// endRendering takes in that a page of h is not being rendered any more.
func (p *politeness) endRendering(now moment, h *host) {
	r := &p.rendering
	r.pages--
	if r.of[h]--; r.of[h] == 0 {
		delete(r.of, h)
	}
	if r.pages == r.most-1 {
		p.placeRendering(now)
	}
	p.placeHost(now, h)
}

// placeRendering places the hosts with pages that are being rendered: bars holds for all of them
// from now on, or for none.
func (p *politeness) placeRendering(now moment) {
	for _, h := range slices.SortedFunc(maps.Keys(p.rendering.of), byHostName) {
		p.placeHost(now, h)
	}
}

func byHostName(a, b *host) int { return strings.Compare(a.own.name, b.own.name) }

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

// endRendering takes in that a page of o is not being rendered any more; o has changed.
func (p *politeness) endRendering(now moment, o *origin) {
	r := &p.rendering
	r.pages--
	if r.of[o]--; r.of[o] == 0 {
		delete(r.of, o)
	}
	if r.pages == r.most-1 {
		p.placeRendering(now)
	}
}

// placeRendering places the origins with pages that are being rendered: bars holds for all of them
// from now on, or for none.
func (p *politeness) placeRendering(now moment) {
	for _, o := range slices.SortedFunc(maps.Keys(p.rendering.of), byName) {
		p.place(now, o)
	}
}

// owed returns the host whose URL is due before an errand at h, which could be leased now, as far
// as host, domain and address matter; nil: none is.
func (p *politeness) owed(now moment, h *host, e *Errand) *host {
	if e.Foreign && h.visited {
		if at, ok := p.due(now, h); ok && at <= now {
			return h
		}
	}
	if d := h.domain(); d != nil && d.visited && e.Foreign {
		if first := p.firstOf(now, d); first != nil {
			return first
		}
	}
	if a := h.address; a != nil && a.visited {
		return p.firstOf(now, a)
	}
	return nil
}

// firstOf returns the first host that waits for a group and for nothing else; nil: none does, or
// the group is not free.
func (p *politeness) firstOf(now moment, g *group) *host {
	for p.groups.free(g, now) && g.waiting.Len() > 0 && g.waiting.First().turn.at <= now {
		h := g.waiting.First()
		by := p.blockedBy(h, now)
		switch {
		case p.endedByLimit(now, h):
			return nil
		case by == BlockedByNone:
			return h
		}
		p.leave(h)
		p.join(h, by)
	}
	return nil
}

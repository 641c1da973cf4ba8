package seen

import "slices"

// Remove takes a fingerprint out of the set, with any that shares its key.
func (s *Set) Remove(fp [16]byte) {
	seg, key := s.locate(fp)
	g := &s.segments[seg]
	far := len(g.packed.far)
	switch {
	case g.lossy: // the filter keeps it: the set is unsure of it from now on
		g.packed.remove(key, true)
	case len(g.buckets) > 0 && g.remove(key), len(g.packed.buckets) > 0 && g.packed.remove(key, false):
		g.n--
	}
	s.bytes -= 8 * (far - len(g.packed.far))
}

// remove takes a key out, and fills its slot so that the invariant of segment holds.
func (g *segment) remove(key uint64) bool {
	i, slot := g.find(key)
	if slot < 0 {
		return false
	}
	for {
		b := &g.buckets[i]
		last := len(b) - 1
		for b[last] == 0 {
			last--
		}
		b[slot], b[last] = b[last], 0
		if last < len(b)-1 {
			return true // the bucket had room, and no key passed it
		}
		from, at := g.stray(i)
		if at < 0 {
			return true
		}
		b[last] = g.buckets[from][at]
		i, slot = from, at
	}
}

// stray finds a key that is in a later bucket only because this one was full.
func (g *segment) stray(i int) (bucket, slot int) {
	n := len(g.buckets)
	for away := 1; away < n; away++ {
		j := (i + away) % n
		for slot, key := range g.buckets[j] {
			switch {
			case key == 0:
				return 0, -1
			case (j-g.home(key)+n)%n >= away:
				return j, slot
			}
		}
	}
	return 0, -1
}

// remove takes a key out, and fills its slot so that the invariant of packed holds; in a lossy
// segment no key has passed its bucket.
func (p *packed) remove(key uint64, lossy bool) bool {
	i, slot := p.find(key, lossy)
	switch slot {
	case -1:
		return false
	case afar:
		p.far = slices.Delete(p.far, i, i+1)
		return true
	}
	for {
		b := &p.buckets[i]
		full := b.taken() == packedKeys
		b.pull(slot)
		if !full || lossy {
			return true
		}
		from, at := p.stray(i)
		if at < 0 {
			p.comeBack(i)
			return true
		}
		s := &p.buckets[from]
		b.push(s.rest(at), s.away(at)-(from-i+len(p.buckets))%len(p.buckets))
		i, slot = from, at
	}
}

// pull frees a slot; the last takes its place.
func (b *packedLine) pull(slot int) {
	last := b.taken() - 1
	b.set(slot, b.rest(last), b.away(last))
	b.set(last, 0, 0)
	b.meta -= 1 << 28
}

// stray finds a key that is in a later bucket only because this one was full.
func (p *packed) stray(i int) (bucket, slot int) {
	n := len(p.buckets)
	for away := 1; away < min(reach, n); away++ {
		j := (i + away) % n
		b := &p.buckets[j]
		for slot := range b.taken() {
			if b.away(slot) >= away {
				return j, slot
			}
		}
	}
	return 0, -1
}

// comeBack moves a key from far to a bucket that has room again, if it passed that.
func (p *packed) comeBack(i int) {
	n := len(p.buckets)
	for at, key := range p.far {
		home, rest := p.split(key)
		if away := (i - home + n) % n; away < reach {
			p.buckets[i].push(rest, away)
			p.far = slices.Delete(p.far, at, at+1)
			return
		}
	}
}

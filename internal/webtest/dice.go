package webtest

// dice is a random source: a state of SplitMix64 (Steele, Lea, Flood 2014).
type dice uint64

// Salts separate the draws for one resource.
const (
	saltPages uint64 = iota
	saltDead
	saltShared
	saltAddr
	saltSite
	saltRobots
	saltDelayed
	saltLinks
	saltLook
	saltFlaky
	saltSlow
	saltCharset
	saltBase
	saltChain
	saltLatency
	saltFraming
	saltHosted
	saltBlog
	saltSlowHost
	saltRefusing
	saltMute
	saltTrap
	saltSitemap
)

// draws are the random decisions of a web, which follow from its seed.
type draws struct{ seed uint64 }

// dice returns the source for one draw about one resource.
func (w draws) dice(salt uint64, p resource) dice {
	d := dice(w.seed)
	d = d.next() ^ dice(salt<<32|uint64(uint32(p.host)))
	d = d.next() ^ dice(uint64(p.kind)<<56^uint64(uint32(p.n))<<16^uint64(uint32(p.sub)))
	return d.next()
}

func (d *dice) next() dice {
	*d += 0x9e3779b97f4a7c15
	z := *d
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// roll returns a number in [0, n).
func (d *dice) roll(n int) int { return int(d.next() % dice(n)) }

// skewed is roll with small numbers more likely: few pages get many links.
func (d *dice) skewed(n int) int {
	u := d.unit()
	return int(u * u * float64(n))
}

// unit returns a number in [0, 1).
func (d *dice) unit() float64 { return float64(d.next()>>11) / (1 << 53) }

// has draws whether a resource has a feature, at a rate.
func (w draws) has(salt uint64, p resource, rate float64) bool {
	d := w.dice(salt, p)
	return d.unit() < rate
}

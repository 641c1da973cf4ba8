package webtest

import "slices"

// link is an edge of the link graph, with its spelling.
type link struct {
	to    resource
	spell spelling
}

// copies is the number of further URLs of a page.
const copies = 2

// chainLengths is the number of redirects of chain n, by n modulo its length.
var chainLengths = []int{1, 1, 2, 1, 3, 2, 5, 12, 12}

// entered is the middle of a chain of host 0. The home page leads to its start and page 1 to its
// middle; the shorter way lets a crawler that follows ten redirects reach the end.
var entered = resource{kind: hop, n: 8, sub: 6}

// redirects are the statuses of redirects (RFC 9110, section 15.4).
var redirects = []int{301, 302, 303, 307, 308}

// next returns the target of a redirect.
func (w *Web) next(p resource) resource {
	switch {
	case p.kind == loop:
		p.sub = (p.sub + 1) % (p.n%3 + 1)
		return p
	case p.kind == robotsTxt:
		p.sub = 1
		return p
	case int(p.sub)+1 < chainLengths[int(p.n)%len(chainLengths)]:
		p.sub++
		return p
	}
	d := w.draws.dice(saltChain, p)
	return w.somePage(&d, p.host)
}

// links returns the links of a resource, in the order of its page.
func (w *Web) links(p resource) []link {
	// Copies have the links of their page.
	d := w.draws.dice(saltLinks, resource{host: p.host, kind: p.kind, n: p.n})
	var to []link
	add := func(p resource, s spelling) { to = append(to, link{p, s}) }
	follow := func(p resource) { add(p, spelling(d.roll(int(followed)))) }
	switch p.kind {
	case page:
	case private:
		follow(resource{host: p.host, kind: page})
		return to
	case missing:
		if p.sub == 0 {
			add(resource{host: p.host, kind: missing, n: p.n, sub: 1}, plain)
		}
		return to
	case day:
		follow(resource{host: p.host, kind: day, n: p.n%maxNumber + 1})
		follow(resource{host: p.host, kind: day, n: p.n, sub: 1 + int32(d.roll(maxNumber-1))})
		return to
	case maze:
		if p.n < maxMaze {
			add(resource{host: p.host, kind: maze, n: p.n + 1, sub: p.sub}, relative)
		}
		return to
	default:
		return nil
	}

	pages := w.Pages(int(p.host))
	for c := 3*int(p.n) + 1; c <= 3*int(p.n)+3 && c < pages; c++ {
		follow(resource{host: p.host, kind: page, n: int32(c)})
	}
	if p.n == 0 {
		w.offspring(int(p.host), func(child int) { follow(resource{host: int32(child), kind: page}) })
		if w.trap(int(p.host)) {
			follow(resource{host: p.host, kind: day, n: 1})
		}
	}
	if w.cfg.Links > 0 {
		for range d.roll(2*w.cfg.Links + 1) {
			q := w.somePage(&d, p.host)
			if d.unit() < w.cfg.Rates.Copy {
				q.sub = 1 + int32(d.roll(copies))
			}
			follow(q)
		}
	}
	for _, f := range w.features() {
		if f.rate > 0 && p.host == 0 && p.n == 0 { // one of each kind
			for i := range max(1, variants[f.kind]) {
				w.feature(p, f.kind, i, follow, add)
			}
		} else if f.rate > 0 && d.unit() < f.rate {
			w.feature(p, f.kind, d.roll(4*pages), follow, add)
		}
	}
	if p.host == 0 && p.n == 1 && w.cfg.Rates.Redirect > 0 {
		follow(entered)
	}
	if d.unit() < w.cfg.Rates.Refresh {
		add(w.somePage(&d, p.host), refresh)
	}
	if d.unit() < w.cfg.Rates.Header {
		add(w.somePage(&d, p.host), header)
	}
	return to
}

// features are the resources other than pages that a page may link to.
func (w *Web) features() [10]struct {
	kind kind
	rate float64
} {
	r := &w.cfg.Rates
	return [...]struct {
		kind kind
		rate float64
	}{
		{hop, r.Redirect}, {loop, r.Loop}, {missing, r.Missing}, {failing, r.Failing},
		{stalled, r.Stalled}, {broken, r.Broken}, {private, r.Private}, {asset, r.Asset},
		{hostile, r.Hostile}, {maze, r.Maze},
	}
}

// feature links p to the n-th resource of a kind on its host.
func (w *Web) feature(p resource, k kind, n int, follow func(resource), add func(resource, spelling)) {
	to := resource{host: p.host, kind: k, n: int32(n)}
	switch k {
	case asset:
		spells := assetTypes[n%len(assetTypes)].spells
		add(to, spells[n/len(assetTypes)%len(spells)])
	case maze:
		to.n, to.sub = 0, to.n
		follow(to)
	case private:
		follow(to)
		to.sub = 1
		follow(to)
	default:
		follow(to)
	}
}

// somePage draws a page to link to from a host; home pages and low numbers are most likely.
func (w *Web) somePage(d *dice, host int32) resource {
	if w.cfg.Hosts > 1 && d.unit() < w.cfg.Rates.Across {
		host = int32(d.skewed(w.cfg.Hosts))
	}
	return resource{host: host, kind: page, n: int32(d.skewed(w.Pages(int(host))))}
}

// followedBy reports whether a client that follows these elements follows the link.
func (l link) followedBy(elements []string) bool {
	return slices.Contains(elements, spellings[l.spell].element)
}

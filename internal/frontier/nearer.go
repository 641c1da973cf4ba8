package frontier

import (
	"maps"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// fewNearer is how many nearer ways are looked into at once, or a quarter of nearerText, and
	// maxNearer how many wait, with nearerText bytes of URLs. The price of forgetting one is that its
	// URL may keep a depth that is too great.
	fewNearer  = 4096
	maxNearer  = 1 << 16
	nearerText = 4 << 20
)

// nearer is the URLs seen that were found again, by a way that may be shorter. Those that are still
// pending are moved to the smaller depth before a level opens. What is leased or done keeps its
// depth.
type nearer struct {
	ways  map[weburl.URL]way
	text  int                 // bytes of these URLs, and of where they were found
	asked map[weburl.URL]way  // looked up in the store; nil: no request is open
	left  map[string]struct{} // names evicted since that request
	names map[string]struct{} // of the origins of all these URLs
	hurry bool                // an origin waits for it
}

// way is a way to a URL.
type way struct {
	depth int
	from  string
}

// empty reports whether nothing may have to be moved.
func (n *nearer) empty() bool { return len(n.ways) == 0 && n.asked == nil }

// keep keeps a way to a URL, and reports whether it is the shortest.
func (n *nearer) keep(u weburl.URL, w way) bool {
	known, ok := n.ways[u]
	switch {
	case ok && known.depth <= w.depth, !ok && (len(n.ways) >= maxNearer || n.text >= nearerText):
		return false
	case n.ways == nil:
		n.ways, n.text = make(map[weburl.URL]way), 0
	}
	n.ways[u] = w
	n.text += len(u.String()) + len(w.from)
	n.name(u)
	return true
}

func (n *nearer) name(u weburl.URL) {
	if n.names == nil {
		n.names = make(map[string]struct{})
	}
	n.names[u.Origin()] = struct{}{}
}

// on reports whether URLs of o may have to be moved.
func (n *nearer) on(o *origin) bool {
	_, is := n.names[o.name]
	return is
}

// evicted takes in that the host of a name was evicted.
func (n *nearer) evicted(name string) {
	if n.asked != nil {
		n.left[name] = struct{}{}
	}
}

// foundAgain takes in another way to a URL that was seen. It may be shorter if it is no deeper than
// the level: what is found by links from an open level is one deeper.
func (f *Frontier) foundAgain(u *URL) {
	if !f.cfg.Levels {
		return
	}
	o := f.residency.origin(u.URL.Origin())
	if o != nil {
		f.found(o, u)
	}
	from := originOf(u.From)
	elsewhere := f.partitions.foreign(Hostname(from)) // there levels may be deeper, or less deep, than here
	if all := &f.levels; u.Depth >= all.found || u.Depth > all.deepest && !elsewhere || u.Role.Beyond() {
		return
	}
	source := f.residency.origin(from) // it may be ahead of sites that it has joined
	if o == nil || elsewhere || u.Depth <= f.levelOf(o).depth || source != nil && u.Depth <= source.step.reached {
		if f.levels.nearer.keep(u.URL, way{u.Depth, u.From}) {
			f.journal.record(func(l Journal) { l.Nearer(*u, true) })
		}
	}
	if o != nil && f.levels.nearer.on(o) {
		f.place(o)
	}
}

// wantsNearer reports whether pending URLs are to be looked up in the store.
func (f *Frontier) wantsNearer() bool {
	n := &f.levels.nearer
	return f.journal.to != nil && n.asked == nil && len(n.ways) > 0 &&
		(len(n.ways) >= fewNearer || n.text >= nearerText/4 || n.hurry || len(f.levels.vacant) > 0)
}

// requestNearer requests those of the URLs found again that are pending.
func (f *Frontier) requestNearer() (r Request, ok bool) {
	if !f.wantsNearer() {
		return r, false
	}
	n := &f.levels.nearer
	n.asked, n.ways, n.left = n.ways, nil, make(map[string]struct{})
	return Request{Kind: Find, URLs: slices.Collect(maps.Keys(n.asked))}, true
}

// provideNearer moves those of the URLs found again that are pending, with what is known of their
// origins.
func (f *Frontier) provideNearer(p Page) {
	n := &f.levels.nearer
	if n.asked == nil {
		panic("frontier: Provide: nobody has requested pending URLs")
	}
	asked := n.asked
	n.asked, n.hurry = nil, false
	for _, s := range p.Origins {
		name := Hostname(s.Name)
		if _, left := n.left[name]; !left && f.residency.origin(s.Name) == nil && !f.partitions.unread(name) {
			f.comeBack(s.OriginState, s.Rules)
		}
	}
	found := make(map[*origin][]URL)
	for _, u := range p.URLs {
		if o := f.residency.origin(u.URL.Origin()); o != nil {
			found[o] = append(found[o], u)
		} else if !f.partitions.foreign(u.URL.Hostname()) { // it was evicted meanwhile
			n.keep(u.URL, asked[u.URL])
		}
	}
	for u := range asked {
		if _, again := n.ways[u]; !again {
			f.journal.record(func(l Journal) { l.Nearer(URL{URL: u}, false) })
		}
	}
	f.moveAll(found, asked)
	f.resume()
	f.allRead()
}

// resume places the origins that no URL has to be moved to any more.
func (f *Frontier) resume() {
	n := &f.levels.nearer
	names := slices.Sorted(maps.Keys(n.names))
	n.names = nil
	for u := range n.ways {
		n.name(u)
	}
	for _, name := range names {
		if o := f.residency.origin(name); o != nil {
			f.place(o)
		}
	}
}

// moveInMemory does the same of a crawl without a journal, in which everything is in memory.
func (f *Frontier) moveInMemory() {
	n := &f.levels.nearer
	ways := n.ways
	n.ways, n.hurry = nil, false
	found := make(map[*origin][]URL)
	for u := range ways {
		if o := f.residency.origin(u.Origin()); o != nil {
			found[o] = nil
		}
	}
	for o := range found {
		for c, queued := range o.queue.All() {
			if _, ok := ways[queued.url]; ok && !queued.role().Beyond() {
				found[o] = append(found[o], queued.of(c))
			}
		}
	}
	f.moveAll(found, ways)
	f.resume()
}

// moveAll moves pending URLs that were never leased to the depths of shorter ways.
func (f *Frontier) moveAll(found map[*origin][]URL, ways map[weburl.URL]way) {
	for _, o := range byName(found) {
		inMemory := make(map[uint64]struct{})
		moved := slices.DeleteFunc(found[o], func(u URL) bool {
			return u.Tries > 0 || u.Depth <= ways[u.URL].depth || f.leased[u.leaseKey()] != nil || o.capped
		})
		for i := range moved {
			if b := o.backlog; b == nil || b.cursor.Compare(moved[i].QueueKey()) >= 0 {
				inMemory[moved[i].Seq] = struct{}{}
			}
		}
		gone := f.unqueue(o, inMemory)
		for _, u := range moved {
			_, queued := inMemory[u.Seq]
			if _, taken := gone[u.Seq]; !queued {
				o.backlog.n--
				o.backlog.ended(u.Seq)
			} else if !taken { // it has ended, or is to be tried again
				continue
			}
			f.moveNearer(o, u, ways[u.URL])
		}
		f.place(o)
	}
}

// byName returns origins in an order that is the same every time.
func byName(all map[*origin][]URL) []*origin {
	return slices.SortedFunc(maps.Keys(all), func(a, b *origin) int {
		return strings.Compare(a.name, b.name)
	})
}

// unqueue takes URLs out of the queue of o, and returns those that were there.
func (f *Frontier) unqueue(o *origin, seqs map[uint64]struct{}) map[uint64]struct{} {
	gone := make(map[uint64]struct{})
	if len(seqs) == 0 {
		return gone
	}
	o.queue.Remove(func(_ class, n *queued) bool {
		_, ok := seqs[n.seq()]
		if ok {
			gone[n.seq()] = struct{}{}
			f.refills.held -= n.cost()
		}
		return ok
	})
	return gone
}

// moveNearer queues a URL of o, which is in no queue any more, at the depth of a way to it.
func (f *Frontier) moveNearer(o *origin, u URL, w way) {
	was := u.QueueKey()
	f.seq++
	u.Seq, u.Depth, u.From, u.ByDepth = f.seq, w.depth, w.from, w.depth > 0
	f.journal.record(func(l Journal) { l.Moved(u, was) })
	f.journal.originChanged(o)
	f.refills.add(o, &u)
}

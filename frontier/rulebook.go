package frontier

import (
	"container/list"
	"crypto/sha256"
	"time"

	"github.com/weftcrawl/weft/robots"
)

// said is what a robots.txt says, or why there is none. Hosts whose robots.txt says the same share one.
type said struct {
	rules   robots.Rules
	delay   time.Duration // the Crawl-delay: it is kept when the rules are not
	why     failure       // of shut
	dropped bool          // there is no room for the rules: they are to be asked for again

	key   [sha256.Size]byte
	size  int           // in memory
	place *list.Element // among those that are used, or are not yet
	until moment        // not used yet: it is not dropped before
}

const (
	// spared is how long rules are not dropped that were not used yet: a host that is asked for them is
	// then asked for a page, or hosts whose rules are many would only ever be asked for rules.
	spared = time.Minute

	// noRoom is how long a host waits at most for whose rules there is no room, as all others are spared.
	noRoom = 30 * time.Second

	// costOfSaid is what a said takes, with its place, beside its rules.
	costOfSaid = 400
)

// rulebook is the rules that are in memory, at most share bytes of them; 0: any. Those that were used least
// lately are dropped first.
type rulebook struct {
	share  int
	held   int // bytes
	spared int // of these, of rules that were not used yet
	asked  int // hosts, for their rules
	freed  int // times that there may be more room, since feed
	alike  map[[sha256.Size]byte]*said
	used   list.List // of *said; the one that was used last is the last
	unused list.List // of *said, as they came
}

// add returns what is to be kept of rules: of those that say the same, as whole networks of hosts do,
// one; of those that say nothing, none. It returns false if there is no room.
func (b *rulebook) add(r robots.Rules, now moment) (*said, bool) {
	if r.IsZero() {
		return nil, true
	}
	encoded, _ := r.AppendBinary(nil) // there is no error
	key := sha256.Sum256(encoded)
	if s := b.alike[key]; s != nil {
		b.use(s)
		return s, true
	}
	s := &said{rules: r, key: key, size: r.Size() + costOfSaid, until: now + spared}
	s.delay, _ = r.CrawlDelay()
	for b.share > 0 && b.held > 0 && b.held+s.size > b.share {
		if !b.dropOne(now) {
			return nil, false
		}
	}
	if b.alike == nil {
		b.alike = make(map[[sha256.Size]byte]*said)
	}
	b.alike[key] = s
	b.held += s.size
	b.spared += s.size
	s.place = b.unused.PushBack(s)
	return s, true
}

// use takes note that rules are used.
func (b *rulebook) use(s *said) {
	if s.until != never {
		b.unused.Remove(s.place)
		b.spared -= s.size
		b.freed++
		s.place, s.until = b.used.PushBack(s), never
	} else {
		b.used.MoveToBack(s.place)
	}
}

// full reports whether no host is to be asked for its rules now, as there would be no room for them.
func (b *rulebook) full(now moment) bool {
	n := len(b.alike)
	if b.share == 0 || n == 0 || b.asked == 0 && (b.unused.Len() == 0 || b.unused.Front().Value.(*said).until <= now) {
		return false
	}
	return b.spared+(b.asked+1)*(b.held/n) > b.share
}

// dropOne makes room, unless all rules are spared.
func (b *rulebook) dropOne(now moment) bool {
	from := &b.used
	if from.Len() == 0 {
		from = &b.unused
	}
	s := from.Front().Value.(*said) // there are some, as bytes are held
	if s.until > now {
		return false
	}
	from.Remove(s.place)
	if s.until != never {
		b.spared -= s.size
	}
	delete(b.alike, s.key)
	b.held -= s.size
	s.rules, s.dropped = robots.Rules{}, true
	return true
}

// starve has h wait for room in the rulebook.
func (f *Frontier) starve(h *host) {
	if !h.starved {
		h.starved = true
		f.starved = append(f.starved, h)
	}
}

// feed lets as many hosts be asked for their rules as there may be room for more. Whom there is none for
// after all waits again.
func (f *Frontier) feed() {
	n := min(f.rulebook.freed, len(f.starved))
	f.rulebook.freed = 0
	for _, h := range f.starved[:n] {
		h.starved = false
		if r := &h.robots; r.phase == unknown && r.until > f.now && r.tries == 0 {
			r.until = f.now
			f.place(h)
		}
	}
	clear(f.starved[:n])
	f.starved = f.starved[n:]
}

package frontier

import (
	"encoding/binary"
	"hash/maphash"
)

// ownership is the part of a crawl that is this frontier's: see Config.Partition. A partition is a
// set of registrable domains; a frontier has all hosts of one, or none, but for hosts to which a
// robots.txt redirects: they are foreign, and have no pending URL.
//
// Invariant: tally has what the globals count of evicted origins, by partition, and what was given
// to Adopt of partitions that are not ours yet.
type ownership struct {
	place   func(host string) int // nil: everything is ours
	ours    map[int]struct{}
	held    map[int]struct{}
	leaving map[int]struct{} // disowned, and not forgotten
	tally   map[int]*tally
	send    func(URL) // takes what is not ours
	levels  bool      // Config.Levels

	late       map[int]struct{}   // made ours while a page, perhaps older, was read: see unread
	foreigners map[*host]struct{} // resident foreign hosts

	memo [256]hostMemo // of the last hosts
	sent []uint64      // URLs sent lately: see leaves
	seed maphash.Seed  // of memo
}

// hostMemo is the partition of a host.
type hostMemo struct {
	name string
	p    int
}

// maxSent is the number of URLs of other partitions that a frontier remembers, so as not to send
// them again. A URL takes the place of another: forgetting one costs a message.
const maxSent = 1 << 16

func newOwnership(cfg *Config) ownership {
	w := ownership{place: cfg.Partition, levels: cfg.Levels}
	if w.place == nil {
		return w
	}
	w.seed = maphash.MakeSeed()
	w.ours, w.held, w.leaving = make(map[int]struct{}), make(map[int]struct{}), make(map[int]struct{})
	w.foreigners, w.late = make(map[*host]struct{}), make(map[int]struct{})
	w.tally, w.sent = make(map[int]*tally), make([]uint64, maxSent)
	w.send = func(URL) {}
	for _, n := range cfg.Ours {
		w.ours[n] = struct{}{}
	}
	return w
}

// partition returns that of a host.
func (w *ownership) partition(hostname string) int {
	m := &w.memo[maphash.String(w.seed, hostname)%uint64(len(w.memo))]
	if m.name != hostname || hostname == "" {
		*m = hostMemo{hostname, w.place(hostname)}
	}
	return m.p
}

// foreign reports whether a host is of a partition that is not ours.
func (w *ownership) foreign(hostname string) bool {
	if w.place == nil {
		return false
	}
	_, ours := w.ours[w.partition(hostname)]
	return !ours
}

// unread reports whether a page says nothing about a host: its partition is not ours, or became so
// while the page was being read, which may show half an import.
func (w *ownership) unread(hostname string) bool {
	if w.place == nil {
		return false
	}
	_, late := w.late[w.partition(hostname)]
	return late || w.foreign(hostname)
}

// holds reports whether nothing of a host is to be leased.
func (w *ownership) holds(hostname string) bool {
	if len(w.held) == 0 {
		return false
	}
	_, held := w.held[w.partition(hostname)]
	return held
}

// countEvicted counts an origin that is evicted from now on, or with -1 is not any more.
func (w *ownership) countEvicted(origin string, s OriginState, n int) {
	if w.place == nil {
		return
	}
	w.tallyOf(w.partition(Hostname(origin))).count(s, n)
}

func (w *ownership) tallyOf(n int) *tally {
	t := w.tally[n]
	if t == nil {
		t = new(tally)
		w.tally[n] = t
	}
	return t
}

// sends reports whether u is of another partition. Then it is sent, unless it was lately.
func (w *ownership) sends(u *URL) bool {
	if !w.foreign(u.URL.Hostname()) {
		return false
	}
	fp := u.Fingerprint()
	key := binary.LittleEndian.Uint64(fp[:]) ^ uint64(u.Hops) // it may come nearer
	if w.levels {
		key ^= uint64(u.Depth) << 32
	}
	if last := &w.sent[key%maxSent]; *last != key || u.From == "" {
		*last = key
		w.send(*u)
	}
	return true
}

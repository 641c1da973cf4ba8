package frontier

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/weftcrawl/weft/weburl"
)

// doubts is what is known of the URLs seen beside the table, where that has a limit.
//
// Invariant: a fingerprint that was added is in the table, in fresh or noted, or in what
// the ledger holds for good.
type doubts struct {
	fresh   map[[16]byte]struct{} // added since NoteHosts
	noted   map[[16]byte]struct{} // added before, and not Saved yet
	told    map[[16]byte]bool     // of the URLs of the batch, whether they were seen before it; nil: the table knows
	dubious [][16]byte            // of these, what Settle is to tell
	open    bool                  // Settle is to answer
	batch   batch                 // its memory is used again
}

// Doubts takes the URLs that are to be given to Add and Redirect next, until it is called
// again, those apart that may be given as seeds, From a page or not. It returns the fingerprints
// of those of which only the ledger knows whether they were seen, in order; and the host names
// of which it may know hosts that are not in memory. Settle has to answer before any of them is
// added, and Return for each of these hosts before; in between the
// frontier may be leased from and answered, but for redirects. Without SeenBytes, and
// while all that was seen has room there, no URL is in doubt; nor is a host without HostBytes.
func (f *Frontier) Doubts(urls, seeds iter.Seq[weburl.URL]) (prints [][16]byte, hosts []string) {
	d := &f.doubts
	d.open = false
	f.makeRoom()
	d.told, d.dubious = nil, nil
	n := 0
	for range urls {
		n++
	}
	for range seeds {
		n++
	}
	n *= 1 + f.cfg.MaxRedirects // what these redirect to may come nearer
	roomy := f.seen.Roomy(n)
	if roomy && f.idle.left == 0 {
		return nil, nil
	}
	b := &d.batch
	if cap(b.prints) > usualBatch {
		*b = batch{}
	}
	b.prints, b.urls = b.prints[:0], b.urls[:0]
	for u := range urls {
		f.chain(b, u)
	}
	b.seeds = len(b.prints)
	for u := range seeds {
		f.chain(b, u)
	}
	f.seen.Touch(b.prints)
	if !roomy {
		f.doubt(b.prints)
	}
	if f.idle.left > 0 {
		hosts = f.missing(b)
	}
	d.open = len(d.dubious)+len(hosts) > 0
	return d.dubious, hosts
}

// batch is the URLs that are to be added, and those that redirects from these lead to.
type batch struct {
	prints [][16]byte
	urls   []weburl.URL // the same
	seeds  int          // from here on
}

// doubt finds out which URLs are in doubt.
func (f *Frontier) doubt(prints [][16]byte) {
	d := &f.doubts
	d.told = make(map[[16]byte]bool, len(prints))
	for _, fp := range prints {
		seen, final := f.seen.Has(fp)
		if !seen && !final {
			seen = has(d.fresh, fp) || has(d.noted, fp)
			final = seen
		}
		if _, again := d.told[fp]; !again && !final && !seen {
			d.dubious = append(d.dubious, fp)
		}
		d.told[fp] = seen
	}
	slices.SortFunc(d.dubious, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
}

// surelySeen reports whether a URL of the batch is known to have been seen, before it is settled.
func (f *Frontier) surelySeen(fp [16]byte) bool {
	if f.doubts.told != nil {
		return f.doubts.told[fp]
	}
	seen, _ := f.seen.Has(fp)
	return seen
}

// chain appends a URL, and the redirects that adding it may follow.
func (f *Frontier) chain(b *batch, u weburl.URL) {
	for range f.cfg.MaxRedirects + 1 {
		fp := u.Fingerprint()
		b.prints, b.urls = append(b.prints, fp), append(b.urls, u)
		h := f.hops[fp]
		if h == nil || h.target == nil {
			break
		}
		u = h.target.URL
	}
}

// Settle answers Doubts: seen says of each of its fingerprints whether the ledger, as
// it was after that call or later, has it.
func (f *Frontier) Settle(seen []bool) {
	for i, fp := range f.doubts.dubious {
		f.doubts.told[fp] = seen[i]
		if seen[i] {
			f.seen.Add(fp) // what is linked to once more may be so again: it is in the cache
		}
	}
	f.doubts.dubious, f.doubts.open = nil, false
}

// Seen reports whether a URL was added, whatever became of it; with SeenBytes, of one that
// Doubts was last asked about.
func (f *Frontier) Seen(u weburl.URL) bool { return f.known(u.Fingerprint()) }

// SeenBytes is how much memory the fingerprints take.
func (f *Frontier) SeenBytes() int { return f.seen.Bytes() }

// Saved says that what the ledger was told before the last NoteHosts is kept for good, and
// found by who asks it for the answer to Doubts.
func (f *Frontier) Saved() {
	clear(f.doubts.noted)
	f.idle.saved = f.idle.notes
}

// sealed is called by NoteHosts.
func (d *doubts) sealed() {
	if len(d.noted) == 0 {
		d.fresh, d.noted = d.noted, d.fresh
		return
	}
	for fp := range d.fresh { // the last was not saved, or not yet
		d.noted[fp] = struct{}{}
	}
	clear(d.fresh)
}

// meet takes in that there is a URL with this fingerprint, and reports whether it is new.
func (f *Frontier) meet(fp [16]byte) bool {
	if !f.seen.Limited() {
		return f.seen.Add(fp)
	}
	if f.known(fp) {
		return false
	}
	f.seen.Add(fp)
	if f.doubts.fresh == nil {
		f.doubts.fresh = make(map[[16]byte]struct{})
	}
	f.doubts.fresh[fp] = struct{}{}
	return true
}

// known reports whether a fingerprint was added.
func (f *Frontier) known(fp [16]byte) bool {
	d := &f.doubts
	if d.told == nil {
		found, _ := f.seen.Has(fp)
		return found
	}
	seen, asked := d.told[fp]
	if !asked {
		panic(fmt.Sprintf("frontier: fingerprint %x, which Doubts was not asked about", fp))
	}
	return seen || has(d.fresh, fp)
}

func has(set map[[16]byte]struct{}, fp [16]byte) bool {
	_, ok := set[fp]
	return ok
}

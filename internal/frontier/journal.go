package frontier

import "slices"

// journal is the way to the Journal, with the origins that have changed since they were recorded
// last. Without a Journal it records nothing.
type journal struct {
	to      Journal // nil: none
	changed []*origin
	leased  map[*origin][]URL // of origins that may reach LimitPerHost
	entries int               // since the last seal
	seals   uint32            // calls of NoteOrigins
	saved   uint32            // of these, the last whose batch is committed
}

func newJournal() journal { return journal{leased: make(map[*origin][]URL)} }

// record calls fn with the Journal, if there is one.
func (j *journal) record(fn func(Journal)) {
	if j.to != nil {
		j.entries++
		fn(j.to)
	}
}

// pending and done are record of what a crawl has most of, without a function for each.
func (j *journal) pending(u URL) {
	if j.to != nil {
		j.entries++
		j.to.Pending(u)
	}
}

func (j *journal) done(u URL) {
	if j.to != nil {
		j.entries++
		j.to.Done(u)
	}
}

// next returns the number of the seal that has everything recorded until now; 0: none is needed.
func (j *journal) next() uint32 {
	if j.entries == 0 {
		return j.seals
	}
	return j.seals + 1
}

// seal ends a batch with the origins that have changed, each of which is recorded by a function.
func (j *journal) seal(record func(*origin)) {
	j.seals++
	j.entries = 0
	for _, o := range j.changed {
		o.dirty = false
		record(o)
	}
	clear(j.changed)
	j.changed = j.changed[:0]
}

// originChanged marks an origin as changed since the last seal.
func (j *journal) originChanged(o *origin) {
	if j.to != nil && !o.dirty && !o.host.foreign {
		o.dirty = true
		j.changed = append(j.changed, o)
	}
}

// urlLeased keeps a leased URL for overLimit.
func (j *journal) urlLeased(o *origin, u *URL) {
	if j.to != nil && !o.capped {
		j.leased[o] = append(j.leased[o], *u)
	}
}

// leaseEnded takes in that a lease of a URL of o has ended. It drops what urlLeased has kept.
func (j *journal) leaseEnded(o *origin, seq uint64) {
	j.originChanged(o)
	if len(j.leased) == 0 {
		return
	}
	urls := j.leased[o]
	i := slices.IndexFunc(urls, func(u URL) bool { return u.Seq == seq })
	switch {
	case i < 0:
	case len(urls) == 1:
		delete(j.leased, o)
	default:
		j.leased[o] = slices.Delete(urls, i, i+1)
	}
}

// overLimit records that o has had LimitPerHost, and repeats those of its URLs that are in flight
// for the first time.
func (j *journal) overLimit(o *origin) {
	if j.to == nil {
		return
	}
	j.entries++
	j.to.OverLimit(o.name)
	for _, u := range j.leased[o] {
		if u.Tries == 0 {
			j.to.Pending(u)
		}
	}
	for _, w := range o.again() {
		if u := w.url; u.Tries == 0 { // postponed
			j.to.Pending(u)
		}
	}
	delete(j.leased, o)
}

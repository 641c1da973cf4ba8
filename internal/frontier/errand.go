package frontier

// Errand is a request that a page makes while it is rendered: for a script, or what a script asks
// for. It obeys robots.txt, delays and paces as a URL does, and is none: it is in no queue and not
// in the seen set, no limit counts it, and it does not outlive the process. Its pointer identifies
// it.
type Errand struct {
	For     any  // the caller's
	Foreign bool // the page is of another site than the errand

	after   moment // it is not leased before
	dropped bool
}

// isForeign reports whether there is an errand, and its page is of another site.
func (e *Errand) isForeign() bool { return e != nil && e.Foreign }

// errands are the errands of an origin, and the pages of it that are being rendered. While there
// are any, the origin stays in memory.
type errands struct {
	own, foreign []URL // that wait: of pages of its site, and of others
	leased       int32
	rendering    int32 // pages that have been received, and whose lease has not ended
}

// line returns the line of an errand.
func (x *errands) line(e *Errand) *[]URL {
	if e.Foreign {
		return &x.foreign
	}
	return &x.own
}

// wait reports whether any errand waits.
func (x *errands) wait() bool { return x != nil && len(x.own)+len(x.foreign) > 0 }

// beyond returns how many more pages of o are leased than count as leases.
func (x *errands) beyond() int32 {
	if x == nil {
		return 0
	}
	return x.rendering - x.leased
}

// over reports whether there is nothing left of them.
func (x *errands) over() bool { return !x.wait() && x.leased == 0 && x.rendering == 0 }

package frontier

import (
	"fmt"
	"time"
)

// Done ends a lease: the URL is finished.
func (f *Frontier) Done(now time.Time, u URL, a Result) {
	o := f.end(now, &u, a)
	f.agenda.done(o, &u)
	if o.step != nil && (u.Tries > 0 || u.Responded) { // its next URL may have waited for this one
		f.politeness.place(f.clock.now, o)
	}
}

// Retry ends a lease: the URL is pending again, not before at. It counts as a try.
func (f *Frontier) Retry(now time.Time, u URL, a Result, at time.Time) {
	o := f.end(now, &u, a)
	f.agenda.failed(o, &u, at)
	f.agenda.wait(o, u, f.clock.moment(at))
	f.politeness.place(f.clock.now, o)
}

// Postpone is a Retry that counts as no try: the obstacle was not the host's, or its origin is
// parked, as View.Outlasts says. It ends a lease of robots.txt too, but none of an address.
func (f *Frontier) Postpone(now time.Time, u URL, a Result, at time.Time) {
	if u.Robots {
		f.clock.advance(now)
		f.robots.postpone(f.clock.now, u, a, f.clock.moment(at))
		return
	}
	o := f.end(now, &u, a)
	f.agenda.wait(o, u, f.clock.moment(at))
	f.politeness.place(f.clock.now, o)
}

// end takes in the end of a lease of a URL, and returns its origin.
func (f *Frontier) end(now time.Time, u *URL, a Result) *origin {
	if u.Responded {
		return f.errands.ended(now, u)
	}
	return f.endLease(now, u, a)
}

// endLease is end for a URL whose result counts now.
func (f *Frontier) endLease(now time.Time, u *URL, a Result) *origin {
	f.clock.advance(now)
	o := f.agenda.end(u)
	if o == nil {
		panic(fmt.Sprintf("frontier: result of %s, which is not leased", u.URL))
	}
	f.politeness.end(f.clock.now, o, a)
	return o
}

package frontier

import (
	"fmt"
	"time"
)

// Done ends a lease: the URL is finished.
func (f *Frontier) Done(now time.Time, u URL, a Result) {
	o := f.end(now, &u, a)
	f.agenda.done(o, &u)
	f.politeness.place(f.clock.now, o)
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

// end takes in the end of a lease of a URL, and returns its origin, which is to be placed anew.
func (f *Frontier) end(now time.Time, u *URL, a Result) *origin {
	f.clock.advance(now)
	o := f.agenda.end(u)
	switch {
	case o == nil:
		panic(fmt.Sprintf("frontier: result of %s, which is not leased", u.URL))
	case !u.Responded:
		f.politeness.end(f.clock.now, o, a)
	default: // its result has counted
		f.errands.ended(f.clock.now, o)
	}
	return o
}

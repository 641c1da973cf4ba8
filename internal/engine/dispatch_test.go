package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/frontier"
)

// newDispatcher returns a dispatcher whose crawl has a URL and an errand of each of so many hosts.
func newDispatcher(t *testing.T, hosts int) *dispatcher {
	d := &dispatcher{
		clock: &clock{loop: aio.NewLoop(aio.Options{})}, frontier: frontier.New(frontier.Config{}),
		loops: &loops{workers: 960, free: []int{960}}, outage: new(outage), rendered: budget.New(1), slots: slots{most: 64},
	}
	for i := range hosts {
		d.frontier.Add(frontier.URL{URL: url(t, fmt.Sprintf("http://%d.test/", i))})
		d.frontier.Errands().Add(d.clock.now(), frontier.URL{URL: url(t, fmt.Sprintf("http://js%d.test/", i)), Errand: new(frontier.Errand)})
	}
	return d
}

// begin has leases begin, some time ago.
func (d *dispatcher) begin(leases []frontier.URL, errands bool, ago time.Duration) {
	for i := range leases {
		d.slots.take(d.clock.loop.Now().Add(-ago), &leases[i], errands)
		d.loops.free[0]--
	}
}

// TestErrandRoom: pages whose requests hang have half of the slots and of the workers, and the
// crawl the others.
func TestErrandRoom(t *testing.T) {
	d := newDispatcher(t, 1000)
	for i := range 15 {
		errands, urls := d.lease()
		if len(errands) != 32 || len(urls) != 32 {
			t.Fatalf("time %d: %d errands and %d URLs, expected 32 and 32", i, len(errands), len(urls))
		}
		d.begin(errands, true, waitsFrom)
		for i := range urls {
			d.frontier.Done(d.clock.now(), urls[i], frontier.Result{})
		}
	}
	if errands, urls := d.lease(); len(errands) != 0 || len(urls) != 64 {
		t.Errorf("%d errands and %d URLs, and errands have half of the workers", len(errands), len(urls))
	}
}

// TestErrandsReserve: errands leave prompt hosts what is reserved for these.
func TestErrandsReserve(t *testing.T) {
	d := newDispatcher(t, 100)
	quick := frontier.URL{URL: url(t, "http://quick.test/")}
	for range 4 {
		d.frontier.Add(quick)
		for _, u := range d.frontier.Lease(d.clock.now(), 1000) {
			d.frontier.Done(d.clock.now(), u, frontier.Result{Total: time.Millisecond})
		}
		quick.URL = url(t, quick.URL.String()+"x")
	}
	d.begin(make([]frontier.URL, 40), false, 0)
	if n := d.errandRoom(); n != 16 {
		t.Errorf("room for %d errands beside 40 URLs, expected 16: 8 of 64 are reserved", n)
	}
}

// TestErrandNext: an errand that may not start wakes nobody before it may.
func TestErrandNext(t *testing.T) {
	d := newDispatcher(t, 40)
	now := d.clock.loop.Now()
	if at, ok := d.nextErrand(); !ok || at.After(now) {
		t.Errorf("the next errand is due at %v, %t, expected now", at, ok)
	}
	errands, _ := d.lease()
	d.begin(errands, true, 0)
	if at, ok := d.nextErrand(); !ok || at.Before(now.Add(waitsFrom)) {
		t.Errorf("%v from now, %t, expected %v, when errands have fewer slots", at.Sub(now), ok, waitsFrom)
	}
	d.outage.down, d.outage.probe = true, now.Add(time.Minute)
	if at, ok := d.nextErrand(); !ok || !at.Equal(d.outage.probe) {
		t.Errorf("%v from now, %t, expected %v: the network is down", at.Sub(now), ok, time.Minute)
	}
}

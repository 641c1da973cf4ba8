package frontier_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestShareBy: nothing is leased of an address that is shut; it is asked for when a host's turn
// comes, and rests when the delay after its last response is over.
func TestShareBy(t *testing.T) {
	f := with(t, frontier.Config{Resolve: true, Delay: time.Second}, "a/1 a/2 b/1 c/1")
	x, y := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	var asked []netip.Addr
	room := 1
	f.Addresses().Share(func(a netip.Addr) bool {
		if len(asked) == room {
			return false
		}
		asked = append(asked, a)
		return true
	})
	for i, lease := range f.Lease(at(0), 9) {
		f.Addresses().Resolved(at(0), lease, []netip.Addr{x, x, y}[i])
	}
	expectUse := func(now time.Duration, addr netip.Addr, wanted, rests bool) {
		t.Helper()
		if w, r, _ := f.Addresses().Use(at(now), addr); w != wanted || r != rests {
			t.Errorf("%v: wanted %t, rests %t; expected %t and %t", now, w, r, wanted, rests)
		}
	}
	expectUse(0, x, false, true)
	expectLease(t, f, 0, 9, "")
	expectNoNext(t, f)
	if got := fmt.Sprint(asked); got != "[10.0.0.1]" {
		t.Fatalf("%s was asked for, with room for one", got)
	}
	expectUse(0, x, true, true)

	room = 9
	f.Addresses().Admit(at(0), x, false)
	leases := expectLease(t, f, 0, 9, "a/1")
	expectUse(0, x, true, false)
	if got := fmt.Sprint(asked[1:]); got != "[10.0.0.2]" {
		t.Fatalf("%s was asked for besides", got)
	}
	f.Done(at(time.Second), leases[0], frontier.Result{})
	f.Addresses().Shut(at(time.Second), x)
	expectUse(time.Second, x, true, false)
	expectUse(2*time.Second, x, true, true)
	expectLease(t, f, 3*time.Second, 9, "")

	f.Addresses().Admit(at(4*time.Second), x, true)
	expectLease(t, f, 4*time.Second, 9, "")
	expectNext(t, f, 5*time.Second)
	leases = expectLease(t, f, 5*time.Second, 9, "b/1")
	f.Addresses().Shut(at(5*time.Second), x)
	f.Done(at(6*time.Second), leases[0], frontier.Result{})
	expectUse(7*time.Second, x, true, true)
	f.Addresses().Admit(at(7*time.Second), x, false)
	f.Addresses().Admit(at(7*time.Second), y, false)
	expectLease(t, f, 7*time.Second, 9, "c/1 a/2")
}

// TestSoon: an address is known to be wanted soon when a host there waits for its own delay; and it
// is asked for again on demand.
func TestSoon(t *testing.T) {
	f := with(t, frontier.Config{Resolve: true, Delay: time.Second, AddressDelay: time.Millisecond}, "a/1 a/2")
	x := netip.MustParseAddr("10.0.0.1")
	asked := 0
	f.Addresses().Share(func(netip.Addr) bool { asked++; return true })
	f.Addresses().Resolved(at(0), f.Lease(at(0), 9)[0], x)
	expectLease(t, f, 0, 9, "")
	f.Addresses().AskAgain(at(0))
	if expectLease(t, f, 0, 9, ""); asked != 2 {
		t.Errorf("asked %d times, expected twice", asked)
	}
	f.Addresses().Admit(at(0), x, false)
	lease := expectLease(t, f, 0, 9, "a/1")[0]
	f.Done(at(time.Second), lease, frontier.Result{})
	if wanted, rests, soon := f.Addresses().Use(at(1100*time.Millisecond), x); wanted || !rests || !soon.Equal(at(2*time.Second)) {
		t.Errorf("wanted %t, rests %t, soon %v", wanted, rests, soon)
	}
	if _, _, soon := f.Addresses().Use(at(2*time.Second), x); !soon.IsZero() {
		t.Errorf("soon %v, and it is now", soon)
	}
}

// TestShareByLimited: a frontier that may lease nothing more wants no address, which others could
// use meanwhile. When more is allowed, it asks for it again.
func TestShareByLimited(t *testing.T) {
	f := with(t, frontier.Config{Resolve: true, Metered: true}, "a/1 b/1 c/1")
	x := netip.MustParseAddr("10.0.0.1")
	asked := 0
	f.Addresses().Share(func(netip.Addr) bool { asked++; return true })
	f.Partitions().Allow(at(0), 1)
	for _, lease := range f.Lease(at(0), 9) {
		f.Addresses().Resolved(at(0), lease, x)
	}
	expectLease(t, f, 0, 9, "")
	f.Addresses().Admit(at(0), x, false)
	leases := expectLease(t, f, 0, 9, "a/1")
	f.Done(at(time.Second), leases[0], frontier.Result{})
	if wanted, rests, _ := f.Addresses().Use(at(time.Second), x); wanted || !rests {
		t.Errorf("wanted %t, rests %t, and nothing may be leased", wanted, rests)
	}
	f.Addresses().Shut(at(time.Second), x)
	asked = 0
	f.Partitions().Allow(at(2*time.Second), 2)
	expectLease(t, f, 2*time.Second, 9, "")
	if wanted, _, _ := f.Addresses().Use(at(2*time.Second), x); !wanted || asked == 0 {
		t.Errorf("asked for %d times, wanted %t, and one may be leased", asked, wanted)
	}
	f.Addresses().Admit(at(2*time.Second), x, false)
	expectLease(t, f, 2*time.Second, 9, "b/1")
}

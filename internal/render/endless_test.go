package render

import "testing"

// TestEndlessByRealClock: a page is not rendered again if the tab that it has hung had the real
// clock, and a process of its own.
func TestEndlessByRealClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shell, virtual, again bool }{{true, false, false}, {true, true, true}, {false, false, true}, {false, true, true}} {
		b := &browser{shell: c.shell}
		b.cause.Store(&errCPU)
		err := b.crash(&tab{virtual: c.virtual})
		if KindOf(err) != KindCPU || mayRecover(err) != c.again {
			t.Errorf("%+v: %v, again %v", c, err, mayRecover(err))
		}
	}
}

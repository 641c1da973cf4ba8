package render

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestClocks: the time of a page does not pass while its stopwatch is held or all are paused, and
// is longer by what its processes have waited for a core, held or not.
func TestClocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		during func(*clocks, *stopwatch)
		after  time.Duration
	}{
		"undisturbed": {func(*clocks, *stopwatch) {}, 10 * time.Second},
		"held": {func(_ *clocks, w *stopwatch) {
			w.hold()
			w.hold()
			time.Sleep(3 * time.Second)
			w.release()
			time.Sleep(time.Second)
			w.release()
		}, 14 * time.Second},
		"paused": {func(c *clocks, _ *stopwatch) {
			c.pause(true)
			c.pause(true)
			time.Sleep(time.Hour)
			c.pause(false)
		}, time.Hour + 10*time.Second},
		"extended":            {func(c *clocks, _ *stopwatch) { time.Sleep(time.Second); c.extend(4 * time.Second) }, 14 * time.Second},
		"extended while held": {func(c *clocks, w *stopwatch) { w.hold(); c.extend(4 * time.Second); w.release() }, 14 * time.Second},
		"extended when it is over": {func(c *clocks, _ *stopwatch) {
			time.Sleep(11 * time.Second)
			c.extend(time.Hour)
		}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var all clocks
				began := time.Now()
				ctx, w, stop := all.within(t.Context(), 10*time.Second)
				defer stop()
				ended := make(chan time.Duration, 1)
				go func() {
					<-ctx.Done()
					ended <- time.Since(began)
				}()
				time.Sleep(2 * time.Second)
				c.during(&all, w)
				if after := <-ended; after != c.after || context.Cause(ctx) != errLate {
					t.Errorf("ended after %v, %v; expected %v", after, context.Cause(ctx), c.after)
				}
			})
		})
	}
}

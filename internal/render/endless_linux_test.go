package render

import (
	"context"
	"testing"
)

// TestEndless: a page that computes without end is rendered again where it may wait for the clock,
// as its clock was a virtual one; not if it had the real one.
func TestEndless(t *testing.T) {
	t.Parallel()
	r := rendererOf(t, 1)
	tries := func() (n int) {
		p := pageOf(u, "<p>text<script>fetch('/a'); for (;;);</script>", nil)
		p.Fetch = func(context.Context, *Request) (*Response, error) {
			n++
			for _, one := range usages(r.browser.process.cmd.Process.Pid) {
				if one.renderer {
					r.browser.end(one.pid, errCPU)
				}
			}
			return &Response{Status: 200}, nil
		}
		if _, err := r.Render(t.Context(), p); KindOf(err) != KindCPU {
			t.Errorf("%v, expected kind %s", err, KindCPU)
		}
		return n
	}
	first := 2
	for range 3 { // the clock may just become virtual before the script begins
		first = min(first, tries())
	}
	if _, err := r.Render(t.Context(), pageOf(u, "<p>text", nil)); err != nil {
		t.Fatal(err)
	}
	if second := tries(); first != 1 || second != 2 {
		t.Errorf("%d and %d tries, expected one in a tab without a past, two in another", first, second)
	}
}

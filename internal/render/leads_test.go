package render_test

import (
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestFormsLead: a form that a script submits leads to a URL, unless it is sent by POST.
func TestFormsLead(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		for method, want := range map[string][]string{"get": {"http://a.test/to?a=b"}, "post": nil} {
			p := page(u, "<p>text<form method="+method+" action=/to><input name=a value=b></form><script>document.forms[0].submit()</script>", nil)
			if d, err := r.Render(t.Context(), p); err != nil || !slices.Equal(d.Targets, want) {
				t.Errorf("%s: %+v, %v, expected %q", method, d, err, want)
			}
		}
	})
}

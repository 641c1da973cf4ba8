package render_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestManyBytes: a page that gets more bytes for its requests than it may is what it was until
// then.
func TestManyBytes(t *testing.T) {
	t.Parallel()
	p := page("http://bytes.test/", `<p id=p>text<script>(async () => { for (;;) p.append(', ' + (await (await fetch('/a')).text()).length) })()</script>`, nil)
	p.Limits.Bytes = 9000
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		return &render.Response{Status: 200, Body: make([]byte, 4000)}, nil
	}
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil || d.Cut != "bytes" || !strings.Contains(d.HTML, "</script>, 4000, 4000<") || len(d.Refused) != 1 || !d.Refused[0].ByRule {
		t.Errorf("%+v, %v", d, err)
	}
}

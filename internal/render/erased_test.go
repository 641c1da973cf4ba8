package render_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestErased: a page that scripts leave or empty in its first second is what it was before, and
// says so; if there was nothing before, it counts as it was received. One that was empty always, or
// is for a while, has nothing to say.
func TestErased(t *testing.T) {
	const fill = "fetch('/a').then(r => r.text()).then(t => p.append(t)); "
	r := anyRenderer(t, "")
	for name, c := range map[string]struct {
		html string
		cut  string
		kind render.Kind
		has  string
	}{
		"it leaves":                  {"<div id=p></div><script>" + fill + "setTimeout(() => { location = 'about:blank' }, 500)</script>", "left", "", "filled"},
		"it leaves at once":          {"<p>text<script>location = 'about:blank'</script>", "", render.KindLeft, ""},
		"it leaves later":            {"<p>text<script>setTimeout(() => { location = 'about:blank' }, 5000)</script>", "left", "", "text"},
		"it is written anew":         {"<div id=p></div><script>" + fill + "setTimeout(() => { document.open(); document.write(''); document.close() }, 500)</script>", "emptied", "", "filled"},
		"its root goes":              {"<div id=p>text </div><script>" + fill + "setTimeout(() => document.documentElement.remove(), 500)</script>", "emptied", "", "text filled"},
		"it is emptied at once":      {"<p>text<script>onload = () => { document.body.innerHTML = '' }</script>", "", render.KindEmptied, ""},
		"it is empty":                {"<div id=root></div><script>root.className = 'x'</script>", "", "", `class="x"`},
		"it is in another encoding":  {"\xff\xfe<\x00i\x00>\x00", "", "", ""},
		"it is empty for a while":    {"<div id=p></div><script>setTimeout(() => p.append('filled'), 5000)</script>", "", "", "filled"},
		"a shadow root and no text":  {"<div id=p></div><script>p.attachShadow({mode: 'closed'}).innerHTML = '<p>filled'</script>", "", "", "filled"},
		"a picture and nothing else": {"<div id=p></div><script>p.append(new Image)</script>", "", "", "<img"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := r.Render(t.Context(), page(u, c.html, map[string]string{u + "a": "filled"}))
			switch {
			case c.kind != "":
				if err == nil || render.KindOf(err) != c.kind {
					t.Errorf("%+v, %v, expected kind %s", d, err, c.kind)
				}
			case err != nil || d.Cut != c.cut || !strings.Contains(d.HTML[strings.Index(d.HTML, "<body"):], c.has):
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

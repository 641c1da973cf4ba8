package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// TestFrames: what a page loads when it is drawn, or in view, is in the document without any step,
// though virtual time draws nothing.
func TestFrames(t *testing.T) {
	const more = "fetch('/more').then(r => r.text()).then(text => p.append(text))"
	inEach(t, 0, browsers, func(t *testing.T, r *render.Renderer) {
		for name, script := range map[string]string{
			"in view":       "new IntersectionObserver(all => { if (all[0].isIntersecting) " + more + " }).observe(p)",
			"in a frame":    "setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => " + more + ")), 2000)",
			"frame by turn": "requestAnimationFrame(() => setTimeout(() => " + more + ", 100))",
		} {
			for range long.Or(2, 4) { // whether it is drawn anyway is a matter of luck
				pages := map[string]string{"http://a.test/app.js": script, "http://a.test/more": "more"}
				d, err := r.Render(t.Context(), page("http://a.test/", "<!doctype html><p id=p>text <script src=/app.js></script>", pages))
				if err != nil || !strings.Contains(d.HTML, "more</p>") {
					t.Fatalf("%s: %+v, %v", name, d, err)
				}
			}
		}
	})
}

// TestVirtualList: the links of a list that keeps only what is in view are those of all its parts.
func TestVirtualList(t *testing.T) {
	const list = `<!doctype html><style>body { margin: 0 } #all { position: relative; height: 30000px } a { position: absolute; height: 100px }</style><div id=all></div><script>
const show = () => { const from = Math.floor(scrollY / 100); all.innerHTML = ''; for (let i = from; i < Math.min(300, from + 10); i++) { const a = document.createElement('a'); a.href = '/item' + i; a.style.top = 100 * i + 'px'; a.textContent = i; all.append(a) } }
addEventListener('scroll', show); show()
</script>`
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		p := page("http://a.test/", list, nil)
		p.Steps.Scroll = 100
		d, err := r.Render(t.Context(), p)
		if err != nil || !strings.Contains(d.HTML, `"/item299"`) {
			t.Fatalf("%+v, %v", d, err)
		}
		for i := range 290 {
			if link := fmt.Sprint("http://a.test/item", i); !slices.Contains(d.Targets, link) && !strings.Contains(d.HTML, fmt.Sprintf(`"/item%d"`, i)) {
				t.Errorf("no %s", link)
			}
		}
	})
}

// TestFirstEntry: a list that heeds only the first of what an observer reports goes on to its end,
// each time: an element that leaves the view and comes into it is two reports.
func TestFirstEntry(t *testing.T) {
	const shop = `<!doctype html><style>a { display: block; height: 200px }</style><div id=list></div><p id=end>more</p><script>
let n = 0, busy = false
new IntersectionObserver(async all => {
  if (!all[0].isIntersecting || busy || n >= 30) return
  busy = true
  for (const x of (await (await fetch('/items?from=' + n)).text()).split(' ')) { const a = document.createElement('a'); a.href = '/' + x; list.append(a) }
  n += 5
  busy = false
}).observe(end)</script>`
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		for range 4 {
			p := page("http://a.test/", shop, nil)
			p.Fetch, p.Steps.Scroll = items(nil), 50
			if d, err := r.Render(t.Context(), p); err != nil || !strings.Contains(d.HTML, `"/item29"`) {
				t.Fatalf("%+v, %v", d, err)
			}
		}
	})
}

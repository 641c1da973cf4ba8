package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// heavyPage takes all that the compositor of the browser's own process gives it.
const heavyPage = `<!doctype html><style>@keyframes turn { to { transform: rotate(1turn) scale(1.5) } }
.x { position: absolute; inset: 0; width: 3000px; height: 3000px; will-change: transform, filter; animation: turn 1s infinite; filter: url(#f) blur(40px); mix-blend-mode: difference; backdrop-filter: blur(60px) }</style>
<svg width=0 height=0><filter id=f x=-50% y=-50% width=200% height=200%><feTurbulence baseFrequency=0.01 numOctaves=10 /><feDisplacementMap in=SourceGraphic scale=200 /><feGaussianBlur stdDeviation=30 /><feMorphology radius=20 /></filter></svg>
<p id=p>text<script>
for (let i = 0; i < 40; i++) { const e = document.createElement('div'); e.className = 'x'; e.textContent = 'x'.repeat(1000); document.body.append(e) }
for (let i = 0; i < 1; i++) { const c = document.createElement('canvas'); c.className = 'x'; c.width = c.height = 1000; const g = c.getContext('2d'); document.body.append(c)
	requestAnimationFrame(function f() { g.fillStyle = '#' + Math.random().toString(16).slice(2, 8); g.fillRect(0, 0, 1000, 1000); requestAnimationFrame(f) }) }
</script>`

// TestCompositor: a page that is heavy to draw costs itself: one beside it is whole, with its steps
// and its picture.
func TestCompositor(t *testing.T) {
	if !long.Enabled() {
		return // two minutes
	}
	inEach(t, 2, browsers, func(t *testing.T, r *render.Renderer) {
		sound := func() time.Duration {
			p := page("http://sound.test/", "<p id=p>text<button id=b onclick='p.append(\", more\"); this.remove()'>more</button>", nil)
			p.Steps.Click, p.Screenshot = "#b", render.ScreenshotViewport
			d, err := r.Render(t.Context(), p)
			if err != nil || d.Cut != "" || !strings.Contains(d.HTML, ", more") || len(d.Screenshot) == 0 {
				t.Errorf("the sound page: %t, %+v, %v", d == nil, d, err)
				return 0
			}
			return d.Took
		}
		alone := sound()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p := page("http://heavy.test/", heavyPage, nil)
			p.Steps.Click, p.Screenshot = "#p", render.ScreenshotFull
			d, err := r.Render(t.Context(), p)
			if d != nil {
				t.Log("the heavy page: ", d.Took, d.Cut, d.Missing, len(d.Screenshot))
			}
			t.Log("the heavy page: ", err)
		}()
		for over := false; !over; {
			select {
			case <-ended:
				over = true
			default:
			}
			t.Logf("%v, alone %v", sound(), alone)
		}
	})
}

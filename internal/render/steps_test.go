package render_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// poison breaks what a page can break of its globals.
const poison = `
for (const of of [Document, Element, HTMLElement, EventTarget]) for (const name of ['querySelector', 'querySelectorAll', 'elementsFromPoint', 'click', 'scrollBy', 'scrollIntoView', 'dispatchEvent', 'getAttribute', 'checkVisibility']) if (name in of.prototype) of.prototype[name] = () => { throw new Error('poison') }
Object.defineProperty(globalThis, 'weft', {get() { throw new Error('poison') }, set() { throw new Error('poison') }})
for (const of of [Set, WeakSet, Array]) for (const name of ['map', 'flatMap', 'filter', 'find', 'push', 'reduce', 'add', 'has', 'flat']) of.prototype[name] = () => { throw new Error('poison') }
JSON.stringify = () => '"poison"'; window.PointerEvent = window.MouseEvent = window.WeakSet = null
Array.prototype[Symbol.iterator] = () => { throw new Error('poison') }
`

// endless is a page that loads five items whenever its end comes into view, up to a number.
const endless = `<!doctype html><style>.item, .more { height: 300px }</style><div id=list></div><p id=end>end</p><script>
let n = 0, busy = false
const add = all => { for (const x of all) { const d = document.createElement('div'); d.className = 'item'; d.textContent = x; document.getElementById('list').append(d) } }
new IntersectionObserver(async seen => {
  if (!seen.some(e => e.isIntersecting) || busy || n >= MOST) return
  busy = true
  await new Promise(then => setTimeout(then, 250))
  add((await (await fetch('/items?from=' + n)).text()).split(' '))
  n += 5
  busy = false
}).observe(document.getElementById('end'))
</script>`

// items answers requests for items, and others from a table.
func items(pages map[string]string) func(context.Context, *render.Request) (*render.Response, error) {
	rest := site(pages)
	return func(ctx context.Context, q *render.Request) (*render.Response, error) {
		_, from, ok := strings.Cut(q.URL, "/items?from=")
		if !ok {
			return rest(ctx, q)
		}
		var n int
		fmt.Sscan(from, &n)
		var all []string
		for i := range 5 {
			all = append(all, fmt.Sprint("item", n+i))
		}
		return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", "text/plain"}}, Body: []byte(strings.Join(all, " "))}, nil
	}
}

// TestSteps: what scrolling and clicking bring is in the document, in both browsers, in pages that
// have broken their globals, too; and nothing of it unless it is asked for.
func TestSteps(t *testing.T) {
	short := strings.ReplaceAll(endless, "MOST", "40")
	const details = `<!doctype html><details id=d><summary>x</summary></details><script>
			document.getElementById('d').addEventListener('toggle', async () => { document.getElementById('d').append(await (await fetch('/items?from=7')).text()) })</script>`
	cases := map[string]struct {
		html      string
		steps     render.Steps
		has, lack []string
	}{
		"no steps": {short, render.Steps{}, nil, []string{">item10<"}},
		"an endless scroller, to its end": {short, render.Steps{Scroll: 100},
			[]string{">item0<", ">item39<"}, nil},
		"so many screens": {strings.ReplaceAll(endless, "MOST", "1e9"), render.Steps{Scroll: 5},
			[]string{">item10<"}, []string{">item40<"}},
		"poisoned": {strings.ReplaceAll(short, "add = all => { for (const x of all) {", "add = all => { for (let i = 0; i < all.length; i++) { const x = all[i];") + "<script>" + poison + "</script>", render.Steps{Scroll: 100}, []string{">item39<"}, nil},
		"a list that scrolls in the page": {`<!doctype html><style>body { margin: 0 } #pane { height: 100vh; overflow: auto } .item { height: 300px }</style><div id=pane><div id=list></div><p id=end>end</p></div>` +
			short[strings.Index(short, "<script>"):], render.Steps{Scroll: 100}, []string{">item39<"}, nil},
		"scroll events, slowly": {`<!doctype html><div style="height: 3000px"></div><p id=out></p><script>
			let t; addEventListener('scroll', () => { clearTimeout(t); t = setTimeout(() => { if (scrollY > 2000) document.getElementById('out').textContent = 'at the end' }, 800) })</script>`,
			render.Steps{Scroll: 20}, []string{"at the end"}, nil},
		"lazy images": {`<!doctype html><div style="height: 5000px"></div><img id=i width=10 height=10 data-src=/a.png><script>
			new IntersectionObserver((all, o) => { for (const e of all) if (e.isIntersecting) { e.target.src = e.target.dataset.src; o.unobserve(e.target) } }).observe(document.getElementById('i'))</script>`,
			render.Steps{Scroll: 20}, []string{` src="/a.png"`}, nil},
		"details":                    {details, render.Steps{Scroll: 1}, []string{"item7 item8"}, nil},
		"the time of the first look": {details, render.Steps{Scroll: 1, Wait: render.Wait{Time: time.Second}}, []string{"item7 item8"}, nil},
		"hardly any time":            {details, render.Steps{Scroll: 1, Wait: render.Wait{Time: time.Microsecond}}, []string{"item7 item8"}, nil},
		"a more button": {`<!doctype html><div id=list></div><button id=more class=more>More</button><script>` + poison + `
			let n = 0; const more = document.getElementById('more')
			more.onclick = () => fetch('/items?from=' + n).then(r => r.text()).then(text => { document.getElementById('list').innerHTML += '<p>' + text; n += 5; if (n === 30) more.remove() })</script>`,
			render.Steps{Click: ".more"}, []string{"item0 ", " item29"}, []string{"item30"}},
		"a more button that stays": {`<!doctype html><div id=list></div><button class=more onclick="if (n < 3) list.innerHTML += '<p>no ' + n++">More</button><script>let n = 0</script>`,
			render.Steps{Click: ".more"}, []string{"no 2"}, nil},
		"many buttons, in shadow roots, too": {`<!doctype html><p><button class=more onclick="this.parentNode.append('one')">+</button><div id=h></div><button hidden class=more onclick="document.body.append('unseen')">+</button><script>
			h.attachShadow({mode: 'open'}).innerHTML = '<button class=more onclick="this.replaceWith(\'two\')">+</button>'</script>`,
			render.Steps{Click: ".more"}, []string{"one", "two"}, []string{"+</button>unseen"}},
		"elements with names of ours": {`<!doctype html><p id=weft>x<form name=weft></form><button class=more onclick="this.replaceWith('clicked')">+</button><script>requestAnimationFrame(() => 0)</script>`,
			render.Steps{Click: ".more", Scroll: 2}, []string{"clicked"}, nil},
		"a section that opens and closes": {`<!doctype html><button class=more onclick="list.innerHTML = shown ? '' : '<b>inside</b>'; shown = !shown">+</button><div id=list></div><script>let shown = false</script>`,
			render.Steps{Click: ".more"}, []string{"<b>inside</b>"}, nil},
		"a menu of pointer events": {`<!doctype html><button class=more>+</button><script>document.querySelector('.more').addEventListener('pointerdown', () => document.body.append('menu'))</script>`,
			render.Steps{Click: ".more"}, []string{"menu"}, nil},
		"clicks and scrolling in turn": {strings.ReplaceAll(short, `<p id=end>`, `<button class=more onclick="for (let i = 0; i < 12; i++) document.body.insertAdjacentHTML('beforeend', '<div class=item>'); document.body.insertAdjacentHTML('beforeend', '<p id=deep>'); this.remove(); new IntersectionObserver(all => { if (all[0].isIntersecting) deep.textContent = 'deep' }).observe(deep)">+</button><p id=end>`),
			render.Steps{Scroll: 100, Click: ".more"}, []string{">item39<", ">deep<"}, nil},
		"an element that comes late": {`<!doctype html><p id=p><script>setTimeout(() => { p.innerHTML = '<i class=late>here</i>' }, 20000)</script>`,
			render.Steps{Wait: render.Wait{Selector: ".late"}}, []string{"here"}, nil},
		"a longer time": {`<!doctype html><p id=p><script>setTimeout(() => { p.innerHTML = 'a minute' }, 60000)</script>`,
			render.Steps{Wait: render.Wait{Time: 61 * time.Second}}, []string{"a minute"}, nil},
		"a shorter time": {`<!doctype html><p id=p><script>setTimeout(() => { p.innerHTML = 'late' }, 3000)</script>`,
			render.Steps{Wait: render.Wait{Time: 2 * time.Second}}, nil, []string{">late"}},
	}
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				p := page("http://a.test/", c.html, nil)
				p.Fetch, p.Steps = items(nil), c.steps
				d, err := r.Render(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%v, %d requests, errors %q", d.Took, d.Requests, d.Errors)
				for _, want := range c.has {
					if !strings.Contains(d.HTML, want) {
						t.Errorf("no %q in %s", want, d.HTML)
					}
				}
				for _, not := range c.lack {
					if strings.Contains(d.HTML, not) {
						t.Errorf("%q in %s", not, d.HTML)
					}
				}
				if d.Cut != "" || len(d.Errors) > 0 {
					t.Errorf("cut %q, errors %q", d.Cut, d.Errors)
				}
			})
		}
	})
}

// TestDroppedLinks: the link of a drawing or a formula that goes leads where it says, and one that
// says nothing keeps no step from going on.
func TestDroppedLinks(t *testing.T) {
	const html = `<!doctype html>text<p id=p><svg><a href=to><rect width=9 height=9 /></a><a href="http://["></a></svg>
		<math><a href=formula><mi>x</mi></a></math></p>
		<button class=more onclick="document.getElementById('p').remove(); this.remove()">+</button>`
	p := page("http://a.test/in/", html, nil)
	p.Steps = render.Steps{Click: ".more"}
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil || d.Cut != "" || strings.Join(d.Targets, " ") != "http://a.test/in/to http://a.test/in/formula" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestLostFrames: a page whose frames do not come is taken through its steps without them.
func TestLostFrames(t *testing.T) {
	r := anyRenderer(t, "")
	defer render.LoseFrames()()
	const html = `<!doctype html><button class=more onclick="this.replaceWith('clicked')">+</button>`
	p := page("http://a.test/", html, nil)
	p.Steps, p.Limits.Time = render.Steps{Scroll: 100, Click: ".more"}, 8*time.Second
	d, err := r.Render(t.Context(), p)
	if err != nil || d.Cut != "" || !strings.Contains(d.HTML, "clicked") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestWait: an element that never comes ends the page with a word for it, and a selector that is
// none fails; the tab goes on.
func TestWait(t *testing.T) {
	t.Parallel()
	r := anyRenderer(t, "")
	if long.Enabled() {
		r = strictRenderer(t)
	}
	p := page("http://a.test/", "<p>text", nil)
	p.Steps.Wait.Selector = ".never"
	if d, err := r.Render(t.Context(), p); err != nil || d.Cut != "wait" || !strings.Contains(d.HTML, "text") {
		t.Errorf("%+v, %v", d, err)
	}
	p.Steps.Wait.Selector = "p["
	if d, err := r.Render(t.Context(), p); err == nil || !strings.Contains(err.Error(), "not a valid selector") {
		t.Errorf("%+v, %v", d, err)
	}
	p = page("http://wait.test/", "<p>text<script>setInterval(() => fetch('/x').catch(() => 0), 10)</script>", nil)
	p.Fetch = func(ctx context.Context, _ *render.Request) (*render.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p.Steps.Wait.Selector, p.Limits.Total = ".never", 5*time.Second
	if d, err := r.Render(t.Context(), p); err != nil || d.Cut != "time" {
		t.Errorf("%+v, %v", d, err)
	}
	if long.Enabled() { // in the short form, see TestFailsLater
		p = page("http://a.test/", "<p>text<script>setTimeout(() => { while (true) {} }, 3000)</script>", nil)
		p.Steps.Wait.Selector, p.Limits.Time = ".never", 4*time.Second
		if d, err := r.Render(t.Context(), p); err == nil && d.Cut != "wait" {
			t.Errorf("a page that hangs: %+v", d)
		}
	}
	if d, err := r.Render(t.Context(), page("http://a.test/", "<p>after", nil)); err != nil || !strings.Contains(d.HTML, "after") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestParseWait: a selector or a duration.
func TestParseWait(t *testing.T) {
	for text, want := range map[string]render.Wait{
		" .late ": {Selector: ".late"}, "#a > b": {Selector: "#a > b"}, "5s": {Time: 5 * time.Second}, "1m30s": {Time: 90 * time.Second},
		"": {}, "5": {}, "5 s": {}, "2h": {}, "0s": {}, "3d": {}, "-5s": {}, "a[[": {},
	} {
		got, err := render.ParseWait(text)
		if got != want || (err == nil) == (want == render.Wait{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestEndlessClicks: what brings more for ever ends.
func TestEndlessClicks(t *testing.T) {
	t.Parallel()
	p := page("http://a.test/", `<p id=p><button onclick="p.append('x'); p.append(document.createElement('i'))">+</button>`, nil)
	p.Steps.Click = "button"
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil || strings.Count(d.HTML, "<i>") != 200 && d.Cut != "time" {
		t.Errorf("%+v, %v", d, err)
	}
	t.Log(d.Took, d.Cut)
}

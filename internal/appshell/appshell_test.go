package appshell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/appshell"
)

// words is a text of n words.
func words(n int) string { return strings.Repeat("lorem ", n) }

// page is a document with a script.
func page(body string) string {
	return `<!doctype html><html><head><meta charset=utf-8><title>A long title of the page that counts for nothing</title>
<style>body { color: black; background: white; margin: 0; padding: 0; font-family: sans-serif; line-height: 1.5 }</style>
<link rel=stylesheet href=/app.css><script src=/app.js defer></script></head><body>` + body + `</body></html>`
}

func TestJudge(t *testing.T) {
	nav := `<nav><a href=/>Home</a> <a href=/docs>Docs</a> <a href=/blog>Blog</a> <a href=/shop>Shop</a> <a href=/about>About</a></nav>`
	for _, c := range []struct {
		name, body string
		want       appshell.Reason
	}{
		// What frameworks ship.
		{"vite and react", page(`<div id="root"></div>`), appshell.Mount},
		{"create-react-app", page(`<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>`), appshell.Mount},
		{"vue", page(`<noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled.</strong></noscript><div id=app></div>`), appshell.Mount},
		{"angular", page(`<app-root></app-root>`), appshell.Mount},
		{"angular, loading", page(`<app-root><div class=spinner><img src=s.gif>Loading, please wait…</div></app-root>`), appshell.Mount},
		{"sveltekit", page(`<div style="display: contents"><script>import("./start.js")</script></div>`), appshell.NoText},
		{"next, exported", page(`<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":"` + words(900) + `"}</script>`), appshell.Mount},
		{"nuxt", page(`<div id="__nuxt"></div><script>window.__NUXT__={}</script>`), appshell.Mount},
		{"docsify", page(`<div id="app">Loading …</div>`), appshell.Mount},
		{"flutter, meteor, ember", page(``), appshell.NoText},
		{"swagger", page(`<div id="swagger-ui"></div>`), appshell.Mount},
		{"menu and mount", page(nav + `<div id=app><div><div></div></div></div><footer>© 2026 Example, Inc. All rights reserved.</footer>`), appshell.Mount},
		{"noscript alone", page(`<noscript>Please turn on JavaScript.</noscript><div class=x-view></div><p>` + words(20)), appshell.NoScript},
		{"a script that leads elsewhere", page(`<script>location.href = "/en/"</script>`), appshell.NoText},
		{"upper case, unclosed", `<HTML><SCRIPT SRC=a.js></SCRIPT><BODY><DIV ID=ROOT>`, appshell.Mount},
		{"blanks", page("<div id=x>" + strings.Repeat("&nbsp; \n", 500) + "</div>"), appshell.NoText},

		{"it says that it loads", page(`<div id=main><p>Please wait while the shop is loading its products for you …</p></div>`), appshell.NoText},

		{"a template", page(`<h1>Tasks</h1><ul><li v-for="t in tasks">{{ t.title }}</li></ul>`), appshell.Template},
		{"a text to be written", page(`<h1>Task 5</h1><p>Owner: <b data-bind="text: owner"></b></p>`), appshell.Template},
		{"an empty list", page(nav + `<h1>Products</h1><ul id=products></ul><footer>` + words(40) + `</footer>`), appshell.Hollow},
		{"an empty place", page(nav + `<h1>Products</h1><div class="product-grid"><div></div></div>`), appshell.Hollow},
		{"a custom element", page(nav + `<h1>Portal</h1><energy-portal></energy-portal><div class=legal>` + words(20) + `</div>`), appshell.Hollow},
		{"placeholder blocks", page(nav + `<main><h1>Feed</h1><div class="skeleton"><i></i></div></main>`), appshell.Hollow},
		{"it is written as it is read", page(`<h1>Results</h1><script>for (r of rs) document.write("<p>" + r)</script>`), appshell.Hollow},

		// What needs no script.
		{"places of a template in code", page(`<h1>Values</h1><p>Write <code>{{ name }}</code>.</p>`), ""},
		{"an empty place for comments", page(`<h1>Note</h1><p>Saw a swallow today.</p><section id=comments></section>`), ""},
		{"text written over", page(`<h1>Cart</h1><p>It has <b x-text="n">0</b> things in it.</p>`), ""},
		{"a declarative shadow root", page(`<x-page><template shadowrootmode=open><h1>Hours</h1><p>Open on Sundays.</p></template></x-page>`), ""},
		{"it works", page(`<h1>It works!</h1><p>All good here today.</p>`), ""},
		{"opening hours", page(`<h1>Opening hours</h1><p>Monday to Friday, nine to five.</p>`), ""},
		{"a map", page(`<h1>Contact</h1><p>Example Street 1, 12345 Example. Telephone: 0123 456789, every day from nine to five. Write to us at the address above, or come by; our door is the green one, next to the bakery.</p><noscript>Enable JavaScript for the map</noscript>`), ""},
		{"no script", `<title>x</title><div id=root></div>`, ""},
		{"data only", `<title>x</title><script type=application/ld+json>{}</script><p>Hello`, ""},
		{"server-rendered", page(`<div id=root>` + nav + words(100) + `</div><script src=hydrate.js></script>`), ""},
		{"server-rendered, short", page(`<div id=__next><h1>Contact</h1><p>Write to us at the address below, or call; we answer within a day.</p></div>`), ""},
		{"an article", page(words(400)), ""},
		{"a long page and a noscript", page(`<noscript>Comments need JavaScript.</noscript>` + words(120)), ""},
		{"a counter's noscript", page(`<noscript><img src=count.gif></noscript><p>` + words(30)), ""},
		{"an article and a widget's mount", page(words(300) + `<div id=app></div>`), ""},
		{"a picture", page(`<img src=cat.jpg alt=Cat>`), ""},
		{"a gallery", page(`<div id=root><img src=1><img src=2><img src=3><img src=4></div>`), ""},
		{"a login", page(`<form><input name=u><input name=p type=password><button>Go</button></form>`), ""},
		{"a list of links", page(`<a href=1>1</a> <a href=2>2</a> <a href=3>3</a> <a href=4>4</a>`), ""},
		{"a frame", page(`<iframe src=/map></iframe>`), ""},
		{"it refreshes itself away", page(`<meta http-equiv=refresh content="0;url=/en/">`), ""},
		{"thanks", page(`<h1>Thank you</h1><p>We have received your order. You will get a message as soon as it has left our house, with a number by which you can follow it.</p>`), ""},
		{"nothing", ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := appshell.Judge([]byte(c.body)); got != c.want {
				t.Errorf("%q, expected %q", got, c.want)
			}
		})
	}
}

// TestJudgeEndsEarly: a page of text costs its beginning alone.
func TestJudgeEndsEarly(t *testing.T) {
	body := []byte(page(words(300) + `<div id=root></div>`))
	if n := testing.AllocsPerRun(10, func() { appshell.Judge(body) }); n > 1 {
		t.Errorf("%v allocations, expected at most one, of a type in lower case", n)
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{"", "<", "<div id=root", "<noscript>", "<script", "<div id=app></div><script>", "<template><div id=root>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		reason := appshell.Judge(body)
		if reason != "" && !strings.Contains(strings.ToLower(string(body)), "script") {
			t.Errorf("%q of a page without a script", reason)
		}
	})
}

func ExampleJudge() {
	fmt.Println(appshell.Judge([]byte(`<div id="root"></div><script src="/app.js"></script>`)))
	// Output: mount
}

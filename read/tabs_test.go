package read

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

// TestTabs: all panels of tabs are in a text, each under the name of its tab, as generators of
// documentation write them.
func TestTabs(t *testing.T) {
	code := func(s string) string { return "<pre><code class=language-sh>" + s + "</code></pre>" }
	for name, tabs := range map[string]string{
		"ARIA by place": `<ul role=tablist><li role=tab>npm</li><li role=tab>Yarn</li></ul><div><div role=tabpanel>` + code("a") + `</div><div role=tabpanel hidden>` + code("b") + `</div></div>`,
		"ARIA by id":    `<div role=tabpanel aria-labelledby=t1>` + code("a") + `</div><div role=tabpanel id=p2 hidden=true>` + code("b") + `</div><ul><li><button role=tab id=t1>npm</button><li><button role=tab aria-controls=p2>Yarn</button></ul>`,
		"PyMdown":       `<div class="tabbed-set tabbed-alternate"><input type=radio><div class=tabbed-labels><label>npm</label><label>Yarn</label></div><div class=tabbed-content><div class=tabbed-block>` + code("a") + `</div><div class=tabbed-block>` + code("b") + `</div></div></div>`,
		"sphinx-design": `<div class="sd-tab-set docutils"><input type=radio><label class=sd-tab-label>npm</label><div class=sd-tab-content>` + code("a") + `</div><input type=radio><label class=sd-tab-label>Yarn</label><div class=sd-tab-content>` + code("b") + `</div></div>`,
		"two sets":      `<div class=sd-tab-set><label class=sd-tab-label>npm</label><div class=sd-tab-content>` + code("a") + `</div></div><div role=tablist><b role=tab>Yarn</b></div><div role=tabpanel>` + code("b") + `</div>`,
	} {
		url, err := weburl.Parse("https://example.org/")
		if err != nil {
			t.Fatal(err)
		}
		body := `<meta name=generator content="Docusaurus v3"><title>Install</title><main><h1>Install</h1><p>Choose the manager of packages that you know.</p>` + tabs + `<p>Then start it.</p></main>`
		got := One(Source{URL: url, ContentType: "text/html; charset=utf-8", Body: []byte(body)}, Options{}).Markdown
		if want := "know.\n\n**npm**\n\n```sh\na\n```\n\n**Yarn**\n\n```sh\nb\n```\n\nThen"; !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

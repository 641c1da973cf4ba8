package read

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html/atom"
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
		"ARIA, nested":  `<div role=tablist><div role=tab><p><b>npm</b></p><div role=tabpanel>` + code("a") + `</div></div></div><div role=tab id=t2>Yarn</div><div role=tabpanel aria-labelledby=t2 aria-hidden=true>` + code("b") + `</div>`,
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

// TestTasks: the boxes of tasks are in a text, also those that MkDocs Material puts into labels.
func TestTasks(t *testing.T) {
	box := func(more string) string {
		return `<label class=task-list-control><input type=checkbox disabled` + more + `><span></span></label> `
	}
	url, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	body := `<meta name=generator content="mkdocs-1.6"><title>Plan</title><main><h1>Plan</h1><p>What is done, and what will be done next.</p><ul class=task-list><li>` + box(" checked") + `Write it<li>` + box("") + `Print it</ul></main>`
	for _, o := range []Options{{}, {Whole: true}} {
		got := One(Source{URL: url, ContentType: "text/html; charset=utf-8", Body: []byte(body)}, o).Markdown
		if !strings.Contains(got, "- [x] Write it\n- [ ] Print it\n") {
			t.Errorf("%+v:\n%s", o, got)
		}
	}
}

// TestTabNames: however much is in tabs, little of it is read for their names.
func TestTabNames(t *testing.T) {
	root, err := content.Parse([]byte(strings.Repeat("<div role=tab>", 300) + "<i>" + strings.Repeat("<b></b>", 1000) + "late"))
	if err != nil {
		t.Fatal(err)
	}
	if name := textIn(root); name != "" {
		t.Errorf("name %q", name)
	}
	root, err = content.Parse([]byte("<div role=tablist></div>" + strings.Repeat("<div role=tab>x</div><div role=tabpanel>y</div>", mostPanels+1)))
	if err != nil {
		t.Fatal(err)
	}
	openTabs(root)
	named := 0
	for n := range root.Descendants() {
		if n.DataAtom == atom.Strong {
			named++
		}
	}
	if named != mostPanels {
		t.Errorf("%d names, expected %d", named, mostPanels)
	}
}

// TestHasPanels: each kind of panels makes a page be looked at, and a page without them is not.
func TestHasPanels(t *testing.T) {
	for body, want := range map[string]bool{
		`<div role=tabpanel>`: true, `<div class="tabbed-block">`: true, `<div class="sd-tab-content docutils">`: true, `<table role=tablist>`: false,
	} {
		if hasPanels([]byte(body)) != want {
			t.Errorf("%s: %v", body, !want)
		}
	}
}

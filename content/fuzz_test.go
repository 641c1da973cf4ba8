package content_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
	"golang.org/x/net/html"
)

// FuzzExtract: whatever the bytes, nothing panics, the tree of the content is a tree, its text is
// text of the page, in order, and a page with words has some.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{page(prose), hostileFormatting()[:2000], "<table><a><p></table>x", "<math><mi>x", "<math><mi><c>", "<math><th>", "<svg><title>a", "<frameset>", "<select><option>a<p>b", "<a><div><a>b</a>c", "\xff<p>\x00é"} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, whole bool) {
		root, _ := content.Parse(body)
		before := pieces(root)
		c := content.Extract(content.Page{Root: root}, content.Options{Whole: whole})
		if c.Node == nil {
			t.Fatal("no node")
		}
		if strings.Contains(string(body), "articleBody") {
			return // of JSON-LD
		}
		rest := before
		for _, piece := range pieces(c.Node) {
			i := 0
			for i < len(rest) && rest[i] != piece {
				i++
			}
			if i == len(rest) {
				t.Fatalf("%q is not in the page, or out of order", piece)
			}
			rest = rest[i+1:]
		}
		if after := pieces(root); strings.Join(before, "") != strings.Join(after, "") {
			t.Fatal("the page was changed")
		}
		words := 0
		content.Blocks(root, func(b content.Block) bool { words += b.Words; return true })
		kept := 0
		content.Blocks(c.Node, func(b content.Block) bool { kept += b.Words; return true })
		if words > 0 && kept == 0 && !strings.Contains(string(body), "<head") {
			t.Fatalf("nothing kept of %d words", words)
		}
	})
}

// FuzzParsePage: whatever the bytes, nothing panics, a tree is a tree, and no text is lost.
func FuzzParsePage(f *testing.F) {
	const shadow = "<template shadowrootmode=open>"
	for _, seed := range []string{
		"<x-a>" + shadow + "<slot>a<slot name=b>c</slot></slot></template>d<p slot=b>e</x-a>", "<slot>" + shadow + "<slot>" + shadow + "<slot></slot></template></slot></template>a</slot>",
		"<iframe src=/f></iframe>" + framed("http://a.example/f", "a<iframe src=/g></iframe>"+shadow) + framed("http://a.example/g", "<p>b"), framed("about:blank", "<iframe hidden srcdoc=a>"),
		"<table>" + shadow + "<tr><slot>", "<svg><slot>" + shadow + "a",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, _ := content.ParsePage(parsedURL(t), body)
		nodes := 0
		for n := range root.Descendants() {
			if nodes++; nodes > 1<<20 || n.NextSibling != nil && n.NextSibling.PrevSibling != n || n.FirstChild != nil && n.FirstChild.Parent != n {
				t.Fatal("no tree")
			}
		}
		if strings.Contains(string(body), "<iframe") || strings.Contains(string(body), "slot") {
			return // a frame has no fallback, and a slot that is filled no content
		}
		whole, _ := content.Parse(body)
		if before, after := len(strings.Join(pieces(whole), "")), len(strings.Join(pieces(root), "")); before != after {
			t.Fatalf("%d bytes of text, expected %d", after, before)
		}
	})
}

// pieces are the texts of a tree.
func pieces(root *html.Node) (all []string) {
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			all = append(all, n.Data)
		}
	}
	return all
}

package content

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestTag: a tag is as long as the parser takes it to be, and has no fewer attributes than it says.
func TestTag(t *testing.T) {
	for _, text := range []string{
		"<b>", "<b >", "<b/>", "<b a>", "<b a=b c>", `<b a="x>y" b='<i>"' c = d>`, `<b x="1"y="2"/z>`, "<b ==a =b>", `<b a=">`, "<b a=>", "<b a=x>y>", "<b\na\tb\fc=\rd>",
		"<b " + strings.Repeat("a ", 10_000) + ">",
	} {
		z := html.NewTokenizer(strings.NewReader(text + "text"))
		kind := z.Next()
		raw := len(z.Raw())
		length, attributes := tag([]byte(text + "text")[1:])
		if kind == html.ErrorToken || len(text) > 4<<10 { // a tag without end
			if attributes < 2000 {
				t.Errorf("%.40s: %d attributes", text, attributes)
			}
			continue
		}
		if length != raw-len("<>") || attributes < len(z.Token().Attr) {
			t.Errorf("%s: %d bytes and %d attributes", text, length, attributes)
		}
	}
}

// TestCopies: whatever the order of tags, the parser makes no more elements than are counted.
func TestCopies(t *testing.T) {
	tags := strings.Split("<b>|<b 1>|<b 2>|<i>|<i x=1>|</b>|</i>|</b >|<b/>|</b x='</b>'>|<p>|</p>|<div>|</div>|<a>|</a>|<span>|</span>|<br>|x|<table>|</table>|<tr>|<td>|"+
		"<!-- </b> -->|<!-- <b> -->|<span a='</b>'>|<svg>|</svg>|<desc>|<select>|</select>|<option>|<script>|</script>|<style></b></style>|<nobr>|</nobr>|<button>|</button>|"+
		"<template>|</template>|<h1>|</h1>|<li>|<textarea>|</textarea>|<font a b c d>|</font>|<applet>|</applet>|<em>|</em>", "|")
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) (text string) {
		for range n {
			text += tags[random.IntN(len(tags))]
		}
		return text
	}
	var pages []string
	for _, open := range []string{ // forty kinds, which seem to be closed
		"<b $>", "<b $>" + strings.Repeat("<div>", 10) + "</b>", "<b $><span a='</b>'>", "<b $><i $></b x='</b>'></i>", "<b $><!-- </b> -->", "<b $><i></b></b>",
	} {
		page := "<p>"
		for i := range 40 {
			page += strings.ReplaceAll(open, "$", strconv.Itoa(i))
		}
		pages = append(pages, page+strings.Repeat("</p><p>x", 50), "<a>"+page+strings.Repeat("<a>x", 50))
	}
	for range 1500 {
		pages = append(pages, some(15)+strings.Repeat(some(8), 30))
	}
	for _, page := range pages {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			continue // nested too deeply
		}
		size := 0
		for n := range root.Descendants() {
			size += 1 + len(n.Attr)/2
		}
		if counted := 10 + 2*strings.Count(page, "<") + copies([]byte(page), 1<<20); size > counted {
			t.Errorf("%s: %d elements, counted %d", page, size, counted)
		}
	}
}

package content_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/content"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// prose are sentences enough for a page.
const prose = `<p>The harbour was built in 1870, when ships still came under sail, and the town had four streets.
<p>Ten years later there was a railway, a bank, and a newspaper that came out on Fridays; the streets were lit by gas.
<p>What remains of it is the quay, two warehouses of yellow brick, and the custom house, which is a library now.`

func extract(t *testing.T, page string, o content.Options) (content.Content, string) {
	t.Helper()
	root, err := content.Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	c := content.Extract(content.Page{Root: root}, o)
	return c, textOf(c.Node)
}

func textOf(n *html.Node) string {
	var words []string
	for m := range n.Descendants() {
		if m.Type == html.TextNode {
			words = append(words, strings.Fields(m.Data)...)
		}
	}
	return strings.Join(words, " ")
}

func page(inner string) string {
	return `<html lang=en><head><title>A town</title></head><body>
<header><div class=logo><a href=/>Towns</a></div></header>
<nav><ul><li><a href=/a>Places</a><li><a href=/b>People</a><li><a href=/c>Ships</a></ul></nav>
<main><article><h1>A town</h1>` + inner + `</article></main>
<aside class=sidebar><h3>Related articles</h3><ul><li><a href=/d>Another town</a><li><a href=/e>A village</a></ul></aside>
<footer><p>Copyright 2020, all rights reserved. <a href=/privacy>Privacy policy</a></footer></body></html>`
}

func TestExtract(t *testing.T) {
	c, text := extract(t, page(prose), content.Options{})
	if !strings.Contains(text, "The harbour was built") || !strings.Contains(text, "which is a library now.") {
		t.Errorf("text %q, expected the article", text)
	}
	for _, other := range []string{"Places", "Related", "Another town", "rights reserved", "Towns"} {
		if strings.Contains(text, other) {
			t.Errorf("text %q, expected it without %q", text, other)
		}
	}
	rules := make(map[string]string)
	for _, r := range c.Removed {
		rules[r.Path] = r.Rule
	}
	for _, path := range []string{"body/nav", "body/aside.sidebar", "body/footer"} {
		if rules[path] == "" {
			t.Errorf("removed %v, expected %s among them", rules, path)
		}
	}
}

func TestWhole(t *testing.T) {
	c, text := extract(t, page(prose), content.Options{Whole: true})
	for _, part := range []string{"Towns", "Places", "harbour", "Another town", "Privacy policy"} {
		if !strings.Contains(text, part) {
			t.Errorf("text %q, expected %q in it", text, part)
		}
	}
	if len(c.Removed) != 0 {
		t.Errorf("removed %v, expected nothing", c.Removed)
	}
}

// TestBreaks: text before and behind a block stays apart where the block is empty.
func TestBreaks(t *testing.T) {
	for between, want := range map[string]string{
		"<p></p>": "12<div></div>34", "<div> <aside></aside></div>": "12<div></div>34", "<label><span></span></label>": "1234",
	} {
		c, _ := extract(t, page(prose+"<div>The harbour has 12"+between+"34 ships, and its towns have more of them, every week.</div>"), content.Options{})
		var text strings.Builder
		if err := html.Render(&text, c.Node); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s: %s, expected %s in it", between, text.String(), want)
		}
	}
}

func TestDrop(t *testing.T) {
	drop := func(b content.Block) bool { return b.Text() == "Towns are read by 900 people, every week." }
	c, text := extract(t, page(prose+"<p class=note>Towns are read by 900  people, every week."), content.Options{Drop: drop})
	if strings.Contains(text, "900") || !strings.Contains(text, "harbour") {
		t.Errorf("text %q", text)
	}
	want := content.Removal{Rule: "boilerplate", Path: "body/main/article/p.note", Text: "Towns are read by 900 people, every week."}
	found := false
	for _, r := range c.Removed {
		found = found || r == want
	}
	if !found {
		t.Errorf("removed %+v, expected %+v", c.Removed, want)
	}
	if _, text = extract(t, page(prose), content.Options{Drop: func(content.Block) bool { return true }}); text == "" {
		t.Error("no text, expected some: a page is never left without")
	}
}

// TestNeverNothing: a page with words has text, however little looks like content.
func TestNeverNothing(t *testing.T) {
	for name, page := range map[string]string{
		"one word":   "Hello",
		"a menu":     "<nav><a href=/>Home</a> <a href=/b>About us</a></nav>",
		"hidden":     `<div hidden style="display:none">Words nobody sees</div>`,
		"a footer":   "<footer>© 2020</footer>",
		"no body":    "<title>x</title>text",
		"noscript":   "<noscript><p>Text for those without scripts.</p></noscript>",
		"a fragment": "</div></p><td>cell",
		"unclosed":   "<html><body><div><p><b><i><table><tr><td><ul><li><a href=x>text",
		"Chinese":    "<p>这个港口建于一八七〇年，当时还有帆船来往。",
		"Arabic":     "<p dir=rtl>بُني الميناء في عام ١٨٧٠",
		"Thai":       "<p>ท่าเรือนี้สร้างขึ้น",
		"an image":   "<p><img src=a alt=b>x",
	} {
		if _, text := extract(t, page, content.Options{}); text == "" {
			t.Errorf("%s: no text", name)
		}
	}
	for _, page := range []string{"", "<html>", "<frameset><frame src=a></frameset>", "<!-- -->", "\x00"} {
		if c, _ := extract(t, page, content.Options{}); c.Node == nil || c.Node.Type != html.ElementNode {
			t.Errorf("%q: node %v, expected an element", page, c.Node)
		}
	}
}

// TestScripts: text without blanks is counted by characters, so that it is no short block.
func TestScripts(t *testing.T) {
	const zh = `<p>这个港口建于一八七〇年，当时还有帆船来往，城里只有四条街道。<p>十年以后有了铁路、银行和每逢星期五出版的报纸，街道也点上了煤气灯。<p>现在只剩下码头、两座黄砖仓库和改成图书馆的海关大楼。`
	_, text := extract(t, `<div class=menu><a href=/1>首页</a> <a href=/2>新闻</a></div><div class=content>`+zh+`</div><div class=footer><a href=/3>联系我们</a> 版权所有</div>`, content.Options{})
	if !strings.Contains(text, "图书馆") || strings.Contains(text, "首页") || strings.Contains(text, "联系我们") {
		t.Errorf("text %q", text)
	}
}

// TestKept: what readers see beside words stays where it was.
func TestKept(t *testing.T) {
	c, _ := extract(t, page(prose+`<p>The formula is <math><mi>x</mi><mspace></mspace><mo>=</mo><mn>1</mn></math>, and as TeX it is <script type="math/tex">x=1</script>, they say.
<figure><img src=quay.jpg alt="The quay"></figure><p>Lines end<br>here, and the table, which is small, has an empty cell, as some have.
<table><tr><th></th><th>ships</th></tr><tr><td rowspan=2>1870</td><td>12</td></tr><tr><td></td></tr><tr><td>1880</td><td>40</td></tr><tr><td>1890</td><td>&nbsp;</td></tr></table><pre>for {
  sail()
}</pre><pre><div>moor()</div><div>&nbsp;</div><div></div><div>rest()</div></pre>`+prose), content.Options{})
	var b strings.Builder
	if err := html.Render(&b, c.Node); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"<math><mi>x</mi><mspace></mspace><mo>=</mo><mn>1</mn></math>", `<script type="math/tex">x=1</script>`, `<img src="quay.jpg" alt="The quay"/>`,
		"Lines end<br/>here", "<th></th><th>ships</th>", "<tr><td></td></tr>", "for {\n  sail()\n}", "<tr><td>1890</td><td>\u00a0</td></tr>",
		"<div>moor()</div><div>\u00a0</div><div></div><div>rest()</div>",
	} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%s\nexpected %s in it", b.String(), part)
		}
	}
}

func TestMetadata(t *testing.T) {
	c, _ := extract(t, `<html lang=de-AT><head><title>Der Hafen | Orte</title>
<meta name=description content="Ein Ort."><meta property=og:site_name content=Orte><meta name=author content="Von Anna Berg">
<meta property=article:modified_time content=2020-05-06T07:08:09+02:00>
<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"Orte"},{"@type":"NewsArticle","headline":"Der Hafen von 1870",
"author":[{"@type":"Person","name":"Anna Berg"},{"name":"Jo Tal"}],"datePublished":"2020-05-04"}]}</script></head><body><p>Text.`, content.Options{})
	want := content.Content{
		Title: "Der Hafen von 1870", Author: "Anna Berg, Jo Tal", Site: "Orte", Description: "Ein Ort.", Kind: "article", Language: "de-AT",
		Date: time.Date(2020, 5, 4, 0, 0, 0, 0, time.UTC), Modified: time.Date(2020, 5, 6, 5, 8, 9, 0, time.UTC),
	}
	if c.Title != want.Title || c.Author != want.Author || c.Site != want.Site || c.Description != want.Description || c.Kind != want.Kind || c.Language != want.Language || !c.Date.Equal(want.Date) || !c.Modified.Equal(want.Modified) {
		t.Errorf("%+v, expected %+v", c, want)
	}
	c, _ = extract(t, `<title>A town - Towns</title><meta property=og:site_name content=Towns><h1>A town</h1><span class=byline>By Ann Hill</span> <time datetime=2021-02-03>3 Feb</time><p>Text.`, content.Options{})
	if c.Title != "A town" || c.Author != "Ann Hill" || c.Date.Format(time.DateOnly) != "2021-02-03" {
		t.Errorf("%+v, expected title, byline and time", c)
	}
}

// TestLinkedData: a page that a script would fill says what it is about in JSON-LD.
func TestLinkedData(t *testing.T) {
	_, text := extract(t, `<script type="application/ld+json">{"@type":"Article","articleBody":"The harbour was built in 1870.\n\nIt is a library now."}</script><div id=app>Loading</div>`, content.Options{})
	if text != "The harbour was built in 1870. It is a library now." {
		t.Errorf("text %q", text)
	}
}

// TestSigns: signs without a word are content where what surrounds them is.
func TestSigns(t *testing.T) {
	prose := "<p>The following tokens are operators of the language, and each of them has a meaning of its own in an expression.</p>"
	page := `<body><nav><a href=/>Home</a><div>»</div><a href=/x>Next</a></nav><div class=content>` + prose + "<pre>+ - *</pre>" +
		prose + "<table><tr><th>Kind<th>Sign<tr><td>less<td>&lt;</table>" + prose + `</div><div class=footer><p>←</p><a href=/y>Imprint</a></div>`
	_, text := extract(t, page, content.Options{})
	if !strings.Contains(text, "+ - *") || !strings.Contains(text, "less <") || strings.ContainsAny(text, "»←") {
		t.Errorf("%q", text)
	}
}

func TestParseLimits(t *testing.T) {
	for _, c := range []struct {
		name, page string
		err        error
		text       string
	}{
		{"deep", strings.Repeat("<div>", 100_000) + "<p>text", content.ErrTooDeep, "text"},
		{"deep lists", strings.Repeat("<ul><li>", 10_000) + "text", content.ErrTooDeep, "text"},
		{"nested tags", strings.Repeat("<b>", content.MaxTags+1) + "<p>text", content.ErrTooDeep, "text"},
		{"a deep script", strings.Repeat("<div>", 1000) + "<script>no()</script><p>text", content.ErrTooDeep, "text"},
		{"open formatting", hostileFormatting(), content.ErrTooDeep, "x"},
		{"few kinds", "<p>" + strings.Repeat("<b><i><u><s><tt><em><big><code><small><strong>", 3) + "</p>" + strings.Repeat("<p>x</p>", 120_000), content.ErrTooDeep, "x"},
		{"attributes of formatting", "<p>" + strings.Repeat("<b a b c d e f g h><i a b c d e f g h>", 3) + "</p>" + strings.Repeat("<p>x</p>", 30_000), content.ErrTooDeep, "x"},
		{"long", "<p>text<!--" + strings.Repeat("-", content.MaxBody), content.ErrTooLong, "text"},
		{"many tags", "<p>text" + strings.Repeat("<i></i>", 300_000), content.ErrTooLong, "text"},
	} {
		root, err := content.Parse([]byte(c.page))
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, expected %v", c.name, err, c.err)
		}
		if text := textOf(content.Extract(content.Page{Root: root}, content.Options{}).Node); !strings.HasPrefix(text, c.text) {
			t.Errorf("%s: text %.40q, expected %q", c.name, text, c.text)
		}
	}
}

// TestFlatRows: rows and cells whose end tags are left out stand side by side, as in a tree of the
// standard's parser.
func TestFlatRows(t *testing.T) {
	root, err := content.Parse([]byte("<table>" + strings.Repeat("<tr><th>a<td>b", 3) + "</table>" + hostileFormatting()))
	if !errors.Is(err, content.ErrTooDeep) {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Tr && (n.Parent.DataAtom != atom.Table || n.LastChild.DataAtom != atom.Td) {
			t.Errorf("a row in %s ends with %s", n.Parent.Data, n.LastChild.Data)
		}
	}
}

// hostileFormatting makes a parser of the standard copy 400 open elements into each of 20,000
// paragraphs.
func hostileFormatting() string {
	var b strings.Builder
	b.WriteString("<p>")
	for i := range 400 {
		b.WriteString("<b a=")
		b.WriteString(strings.Repeat("x", i+1))
		b.WriteString(">")
	}
	b.WriteString("</p>")
	b.WriteString(strings.Repeat("<p>x</p>", 20_000))
	return b.String()
}

func TestBlocks(t *testing.T) {
	root, _ := content.Parse([]byte(`<body><div id=a class="b c">one <b>two</b><p>three</p> four</div><p>three  </p>`))
	var got []content.Block
	content.Blocks(root, func(b content.Block) bool { got = append(got, b); return true })
	if len(got) != 3 || got[0].Text() != "one two four" || got[0].Words != 3 || got[1].Text() != "three" {
		t.Fatalf("%+v", got)
	}
	if got[1].Hash != got[2].Hash || got[1].Place == got[2].Place {
		t.Errorf("hashes %x %x, places %x %x: expected one text in two places", got[1].Hash, got[2].Hash, got[1].Place, got[2].Place)
	}
	root, _ = content.Parse([]byte("<p>这个港口，建于一八七〇年</p>"))
	content.Blocks(root, func(b content.Block) bool {
		if b.Words != 6 {
			t.Errorf("%d words, expected half of 11 characters", b.Words)
		}
		return true
	})
	if path := content.Path(got[1].Node); path != "body/div#a.b.c/p" {
		t.Errorf("path %s", path)
	}
}

func TestLanguage(t *testing.T) {
	const german = "<p>Der Hafen ist im Jahr 1870 gebaut worden, als noch Schiffe unter Segeln kamen und die Stadt vier Straßen hatte. " +
		"Zehn Jahre später gab es eine Bahn, eine Bank und eine Zeitung, die am Freitag erschien; die Straßen hatten Gaslicht. " +
		"Was davon bleibt, sind der Kai, zwei Speicher aus gelbem Stein und das Zollhaus, das jetzt eine Bücherei ist."
	for _, c := range []struct{ name, header, page, want string }{
		{"declared", "", "<html lang=de-CH>" + german, "de-CH"},
		{"by the header", "de", "<html>" + german, "de"},
		{"not declared", "", "<html>" + german, "de"},
		{"no tag", "", "<html lang=deutsch>" + german, "de"},
		{"the template's", "", "<html lang=en-US>" + german, "de"},
		{"an underscore", "", "<html lang=en_US>" + prose, "en-US"},
		{"too short to tell", "", "<html lang=en>Hallo", "en"},
		{"nothing", "", "<html>1870", ""},
		{"Japanese", "", "<p>港は一八七〇年に造られ、まだ帆船が来ていた。", "ja"},
		{"Chinese", "", "<p>这个港口建于一八七〇年，当时还有帆船来往。", "zh"},
		{"Korean", "", "<p>항구는 천팔백칠십년에 지어졌다.", "ko"},
		{"Ukrainian", "", "<p>Порт був збудований, коли ще ходили вітрильники, і місто мало чотири вулиці.", "uk"},
		{"Persian", "", "<p>این بندر در سال ۱۸۷۰ ساخته شد و چهار خیابان داشت.", "fa"},
		{"Greek", "", "<p>Το λιμάνι χτίστηκε το 1870.", "el"},
	} {
		root, _ := content.Parse([]byte(c.page))
		if got := content.Extract(content.Page{Root: root, Language: c.header}, content.Options{}).Language; got != c.want {
			t.Errorf("%s: language %q, expected %q", c.name, got, c.want)
		}
	}
}

// TestFormulas: a formula is content where what surrounds it is, in a line of its own, too.
func TestFormulas(t *testing.T) {
	prose := "<p>This is a sentence of prose, with a comma, and as long as those that people write about formulas of all kinds.</p>"
	for _, formula := range []string{
		`<math display=block><mi>q</mi></math>`, `<dl><dd><math display=block><mi>q</mi></math></dd></dl>`, `<script type="math/tex; mode=display">q</script>`,
		`<span class=katex-display><span class=katex><math><mi>q</mi></math></span><span class=katex-html>q</span></span>`,
	} {
		page := "<body><nav><a href=/>Home</a><math><mi>nav</mi></math></nav><article>" + prose + prose + formula + prose + "</article>"
		c, _ := extract(t, page, content.Options{})
		var out strings.Builder
		if err := html.Render(&out, c.Node); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, "q</mi></math>") && !strings.Contains(got, ">q</script>") || strings.Contains(got, "nav") {
			t.Errorf("%s: %s", formula, got)
		}
	}
}

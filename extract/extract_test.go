package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

const shop = `<!doctype html><html lang=en><head><title>Red  shoe | Shop</title><base href="/shop/">
<meta name=description content="A red&#10; shoe"><meta property="og:title" content="Red shoe"></head><body>
<h1>Red <em>shoe</em></h1><p class=price>Only <b>1,234.50</b> €</p><p class=old>1.999,00 EUR</p>
<img src="img/red.png"><ul class=tags><li>red<li>shoe<li> <li>summer</ul><time datetime="2024-02-29T10:00Z">yesterday</time>
<span class=since>March 5, 2023</span><span class=us>03/04/2024</span>
<table><tr><td>SKU</td><td>Item no. AB-12</td></tr><tr><td>Weight</td><td>1 200 g</td></tr></table>
<div class=review><b>Ann</b><i>5</i><a href="u/ann">more</a></div><div class=review><b>Bob</b></div><div class=review></div>
<script>var x = "<h1>no</h1>"</script></body></html>`

func extractor(t testing.TB, rules ...Rule) *Extractor {
	t.Helper()
	x, err := New(rules, false)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func parseURL(t testing.TB, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func line(t testing.TB, item record.Item) []byte {
	t.Helper()
	b, err := item.JSONLine()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// items returns the items of a page, one a line.
func items(t testing.TB, x *Extractor, url, body string) string {
	t.Helper()
	var b strings.Builder
	for _, item := range x.Page(parseURL(t, url), []byte(body)) {
		b.Write(line(t, item))
	}
	return b.String()
}

const shopURL = "https://shop.example/shop/p/1?a=b"

func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		"h1":                             `"Red shoe"`,
		"h1::text":                       `"Red"`,
		"h1 ::text":                      `"Red"`,
		"[]=h1 ::text":                   `["Red","shoe"]`,
		":html=h1":                       `"<h1>Red <em>shoe</em></h1>"`,
		"title":                          `"Red shoe | Shop"`,
		"meta[name=description]":         `"A red shoe"`,
		":number=.price":                 `1234.50`,
		":number=.old":                   `1999.00`,
		":url=img":                       `"https://shop.example/shop/img/red.png"`,
		"img::attr(src)":                 `"img/red.png"`,
		":url[]=a":                       `["https://shop.example/shop/u/ann"]`,
		"[]=.tags li":                    `["red","shoe","summer"]`,
		":date=time":                     `"2024-02-29T10:00:00Z"`,
		":date=.since":                   `"2023-03-05"`,
		":date=.us":                      ``,
		"//h1":                           `"Red shoe"`,
		"//td[.='SKU']/following::td[1]": `"Item no. AB-12"`,
		"//img/@src":                     `"img/red.png"`,
		"//h1/text()":                    `"Red"`,
		"count(//li)":                    `"4"`,
		":number=count(//li)":            `4`,
		"string(//title)":                `"Red shoe | Shop"`,
		"[]=//div[@class='review']/b":    `["Ann","Bob"]`,
		"table":                          `"SKU Item no. AB-12 Weight 1 200 g"`,
		":number=tr:last-child td + td":  `1200`,
		".nothing":                       ``,
		"script":                         `"var x = \"<h1>no</h1>\""`,
		"body script":                    `"var x = \"<h1>no</h1>\""`,
	} {
		spec := text
		if !strings.HasPrefix(text, ":number=") && !strings.HasPrefix(text, ":url") && !strings.HasPrefix(text, ":date=") && !strings.HasPrefix(text, ":html=") && !strings.HasPrefix(text, "[]") {
			spec = "=" + text
		}
		if strings.HasPrefix(spec, ":url[]") {
			spec = ":url[]" + strings.TrimPrefix(spec, ":url[]")
		}
		r, err := Of("f" + spec)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want != "" {
			want = `{"url":"` + shopURL + `","fields":{"f":` + want + "}}\n"
		}
		if got := items(t, extractor(t, r), shopURL, shop); got != want {
			t.Errorf("%s:\ngot      %sexpected %s", text, got, want)
		}
	}
}

func TestRules(t *testing.T) {
	product := Rule{Name: "product", URLs: "^/shop/p/", Fields: []Field{
		{Name: "name", Select: "h1", Required: true},
		{Name: "sku", Select: "//td[.='SKU']/../td[2]", Match: `no\. (\S+)`},
		{Name: "stock", Select: ".stock", Type: Number, Default: "0"},
		{Name: "us", Select: ".us", Type: Date, Format: "%m/%d/%Y"},
		{Name: "color", Select: ".color", Required: true},
		{Name: "reviews", Select: ".review", List: true, Fields: []Field{
			{Name: "author", Select: "> b", Required: true}, {Name: "stars", Select: "i", Type: Number}, {Name: "link", Select: "./a/@href", Type: URL},
		}},
	}}
	x := extractor(t, product)
	want := `{"url":"https://shop.example/shop/p/1","type":"product","fields":{"name":"Red shoe","sku":"AB-12","stock":0,"us":"2024-03-04",` +
		`"reviews":[{"author":"Ann","stars":5,"link":"https://shop.example/shop/u/ann"},{"author":"Bob"}]},"missing":["color","reviews.author"]}` + "\n"
	if got := items(t, x, "https://shop.example/shop/p/1", shop); got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
	if got := items(t, x, "https://shop.example/about/shop/p/1", shop); got != "" || x.Wants(parseURL(t, "https://shop.example/")) {
		t.Errorf("a page of another kind: %s", got)
	}
	want = `{"url":"https://shop.example/shop/p/2","type":"product","fields":{"stock":0},"missing":["name","color"]}` + "\n"
	if got := items(t, x, "https://shop.example/shop/p/2", "<p>gone"); got != want {
		t.Errorf("an empty page of the kind: %s", got)
	}
	each := extractor(t, Rule{Each: ".review", Fields: []Field{{Name: "by", Select: "b"}}})
	want = `{"url":"https://shop.example/","fields":{"by":"Ann"}}` + "\n" + `{"url":"https://shop.example/","fields":{"by":"Bob"}}` + "\n"
	if got := items(t, each, "https://shop.example/", shop); got != want {
		t.Errorf("each: %s", got)
	}
	own := extractor(t, Rule{Each: ".review b", Fields: []Field{
		{Name: "text", Select: "::text"}, {Name: "html", Select: ":scope", Type: HTML}, {Name: "class", Select: "::attr(class)"}, {Name: "below", Select: "b"},
		{Name: "all", Select: ":scope ::text", List: true},
	}})
	want = `{"url":"https://shop.example/","fields":{"text":"Ann","html":"<b class=\"by\">Ann<i>Hill</i></b>","class":"by","all":["Ann","Hill"]}}` + "\n"
	if got := items(t, own, "https://shop.example/", `<div class=review><b class=by>Ann<i>Hill</i></b></div>`); got != want {
		t.Errorf("of the element itself: %s", got)
	}
}

func TestRuleErrors(t *testing.T) {
	field := func(f Field) Rule { return Rule{Name: "p", Fields: []Field{f}} }
	for _, test := range []struct {
		rule Rule
		want string
	}{
		{Rule{Name: "p"}, "p: no fields, expected at least one"},
		{Rule{Name: "a b", Fields: []Field{{Name: "n", Select: "a"}}}, `a b: "a b": expected a name of letters, digits, _ and -, not longer than 64`},
		{field(Field{Name: "a.b", Select: "a"}), `p: "a.b": expected a name`},
		{field(Field{Name: "n"}), "p.n: no selector, expected CSS such as h1 or .price::text, or XPath such as //h1"},
		{field(Field{Name: "n", Select: "div["}), "p.n: column 5: the end, expected the name of an attribute"},
		{field(Field{Name: "n", Select: "//a[@href"}), `p.n: column 10: the end, expected an operator or ]`},
		{field(Field{Name: "n", Select: "count(//a[')']"}), `p.n: column 15: the end, expected an operator, a comma or )`},
		{field(Field{Name: "n", Select: "//a[.='x]"}), `p.n: column 7: "'x]", expected ' behind it`},
		{field(Field{Name: "n", Select: "//a]"}), `p.n: column 4: "]", expected an operator such as | or =, or the end`},
		{field(Field{Name: "n", Select: "//a[(@b]"}), `p.n: column 8: "]", expected an operator or )`},
		{field(Field{Name: "n", Select: "//a b"}), `p.n: column 5: "b", expected an operator such as | or =, or the end`},
		{field(Field{Name: "n", Select: "//a[]"}), `p.n: column 5: "]", expected a path, a text, a number or a function`},
		{field(Field{Name: "n", Select: "//a[@x = 'replace(' and matches (., @b)]"}), `p.n: column 25: "matches (., @b)]", expected a function of XPath 1.0`},
		{field(Field{Name: "n", Select: "replace(//a, 'a', //b)"}), `p.n: column 1: "replace(//a, 'a', //b)", expected a function of XPath 1.0`},
		{field(Field{Name: "n", Select: "//h1/foo()"}), `p.n: column 6: "foo()", expected text(), node() or comment() as a step`},
		{field(Field{Name: "n", Select: "//h1 / child:: string (.)"}), `p.n: column 16: "string (.)", expected text(), node() or comment() as a step`},
		{field(Field{Name: "n", Select: "//a//"}), "p.n: column 6: the end, expected an element, @attribute, text(), *, . or .."},
		{field(Field{Name: "n", Select: "//a/folowing::b"}), `p.n: column 5: "folowing::b", expected an axis of XPath 1.0: did you mean following::?`},
		{field(Field{Name: "n", Select: "//a[contain(., 'b')]"}), `p.n: column 5: "contain(., 'b')]", expected a function of XPath 1.0, not id() or lang(), has-class() or re:test(): did you mean contains()?`},
		{field(Field{Name: "n", Select: "//a[contains(@x)]"}), `p.n: column 5: "contains(@x)]", expected 2 arguments`},
		{field(Field{Name: "n", Select: "//a[@b==1]"}), `p.n: column 8: "=1]", expected a path, a text, a number or a function`},
		{field(Field{Name: "n", Select: "//a/child:b"}), `p.n: column 5: "child:b", expected child:: with two colons`},
		{field(Field{Name: "n", Select: "a", Type: "int"}), `p.n: type: "int", expected one of text, html, number, date, url`},
		{field(Field{Name: "n", Select: "a", Match: "("}), "p.n: match: \"(\": missing closing ): `(`, expected a regular expression"},
		{field(Field{Name: "n", Select: "a", Match: "(a)(b)"}), `p.n: match: "(a)(b)": 2 groups, expected at most one`},
		{field(Field{Name: "n", Select: "a", Format: "%d"}), `p.n: format: expected together with type = "date"`},
		{field(Field{Name: "n", Select: "a", Type: Date, Format: "%Y-%q"}), `p.n: format: column 4: "%q", expected %Y`},
		{field(Field{Name: "n", Select: "a", Fields: []Field{{Name: "m", Select: "b:fist-child"}}}), `p.n.m: column 2: ":fist-child", expected a pseudo-class: did you mean :first-child?`},
		{Rule{Name: "p", URLs: "[", Fields: []Field{{Name: "n", Select: "a"}}}, "p: urls: \"[\": missing closing ]: `[`, expected a regular expression"},
		{Rule{Fields: []Field{{Name: "n", Select: "a"}, {Name: "n", Select: "b"}}}, "n: two fields of this name"},
	} {
		_, err := New([]Rule{test.rule}, false)
		var e *RuleError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %s", test.rule, err, test.want)
		}
	}
	for text, want := range map[string]string{"price": "expected NAME=SELECTOR, such as price=.price", "a=p >": "a: column 4: the end, expected an element"} {
		if _, err := Of(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"7": "7", "1,234": "1234", "1.234": "1.234", "1,23": "1.23", "1.234.567": "1234567", "1,234,567.89": "1234567.89", "1.234.567,89": "1234567.89",
		"1 234,5 €": "1234.5", "1’234.50": "1234.50", "CHF 1'234.–": "1234", "-5": "-5", "−5 °C": "-5", "$-3.20": "-3.20", "-$3.20": "-3.20", "A4 10": "4", "007": "7", "0": "0", "-0": "0", ".5": "0.5",
		"12 34": "12", "1,2,3": "123", "٣٫٥": "3.5", "१२": "12", "３": "3", "no": "", "": "", "5.": "5", "4.5 stars of 5": "4.5", "1e9": "1", strings.Repeat("9", 80): "",
	} {
		n, ok := ParseNumber(text)
		if string(n) != want || ok != (want != "") {
			t.Errorf("%q: %q, expected %q", text, n, want)
		}
		if ok && !json.Valid([]byte(n)) {
			t.Errorf("%q: %q is no number of JSON", text, n)
		}
	}
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29": "2024-02-29", "2024-02-29T10:00:00+01:00": "2024-02-29T10:00:00+01:00", "2024-02-29 10:00": "2024-02-29T10:00:00", "February 29, 2024": "2024-02-29", "29 Feb 2024": "2024-02-29",
		"Thu, 29 Feb 2024 10:00:00 GMT": "2024-02-29T10:00:00Z", "29.2.2024": "2024-02-29", "2024-02": "2024-02", "March 2024": "2024-03", "2024年2月9日": "2024-02-09", "30 Feb 2024": "", "02/03/2024": "", "soon": "",
		"20240229": "2024-02-29", "2024-02-29T10:00:00.123Z": "2024-02-29T10:00:00Z",
	} {
		if d, ok := parseDate(text, ""); d != want || ok != (want != "") {
			t.Errorf("%q: %q, expected %q", text, d, want)
		}
	}
}

func TestStructured(t *testing.T) {
	x, err := New(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	golden.Cases(t, "testdata/structured.txt", golden.DoubleRule, func(t *testing.T, _, input, _ string) string {
		var b strings.Builder
		for _, item := range x.Page(parseURL(t, "https://e.example/p/"), []byte(input)) {
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			if err := e.Encode(item); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	})
}

// Pages that would take forever, or everything, end with a note.
func TestHostilePages(t *testing.T) {
	deep := strings.Repeat("<div>", 300)
	long := strings.Repeat("x", 60_000)
	for name, test := range map[string]struct{ selector, body, note string }{
		"nested":        {"div", strings.Repeat("<div>", 2000) + "x", "elements nested deeper than"},
		"long":          {"p", "<p>x</p>" + strings.Repeat("    ", 2<<20), "page longer than"},
		"tags":          {"p", "<p>x</p>" + strings.Repeat("< ", 400_001), "page of more than 400000 tags"},
		"combinators":   {"p div div div div div div div, body", deep, "steps of work"},
		"siblings":      {"//i[count(preceding::i) > count(following::i)]", strings.Repeat("<i>x</i>", 1000), "steps of work"},
		"texts":         {"//div[contains(., 'nothing')]", deep + strings.Repeat("x", 2<<20), "steps of work"},
		"attributes":    {"//p[contains(/html/@lang, 'nothing')]", "<html lang=" + long + ">" + strings.Repeat("<p>", 100), "steps of work"},
		"text nodes":    {"//p[contains(//b/text(), 'nothing')]", "<b>" + long + "</b>" + strings.Repeat("<p>", 100), "steps of work"},
		"big value":     {"p", "<p>" + strings.Repeat("word ", 100_000), "cut at 65536 bytes"},
		"big values":    {"b", strings.Repeat("<b>"+strings.Repeat("x", 60_000)+"</b>", 60), "left out"},
		"many values":   {"b", strings.Repeat("<b>x</b>", 20_000), "more than 10000 values"},
		"big attribute": {"p::attr(title)", "<p title='" + strings.Repeat("é", 100_000) + "'>", "cut at 65536 bytes"},
	} {
		r := Rule{Fields: []Field{{Name: "first", Select: "html"}, {Name: "f", Select: test.selector, List: true}}}
		x := extractor(t, r)
		x.steps = 400_000
		all := x.Page(parseURL(t, "http://h/"), []byte(test.body))
		notes := ""
		for _, item := range all {
			notes += fmt.Sprint(item.Notes)
			if n := len(line(t, item)); n > 4*MaxPage {
				t.Errorf("%s: an item of %d bytes", name, n)
			}
		}
		if !strings.Contains(notes, test.note) {
			t.Errorf("%s: %d items, notes %.300s, expected %s", name, len(all), notes, test.note)
		}
	}
}

// A thing that has several names, or to which several others refer, is written as often: that
// counts.
func TestNestedThings(t *testing.T) {
	x, err := New(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	var web strings.Builder // each thing refers to the two behind it
	for i := range 40 {
		fmt.Fprintf(&web, "<p id=i%d itemscope itemprop=x itemref='i%d i%d'><b itemprop=y>yy</b></p>", i, i+1, i+2)
	}
	for name, body := range map[string]string{
		"names":      strings.Repeat(`<div itemscope itemprop="a b c">`, 30) + "<p itemprop=d>text",
		"RDFa":       strings.Repeat(`<div typeof=x property="a b c">`, 30) + "<p property=d>text",
		"siblings":   strings.Repeat(strings.Repeat(`<div itemscope itemprop="a b">`, 12)+"<p itemprop=d>"+strings.Repeat("text ", 200)+strings.Repeat("</div>", 12), 20),
		"references": "<div itemscope itemref='i0 i1'></div>" + web.String(),
	} {
		body = "<div itemscope typeof=x>" + body
		all := x.Page(parseURL(t, "http://h/"), []byte(body))
		if len(all) != 1 || !strings.Contains(fmt.Sprint(all[0].Notes), "left out: more than") && !strings.Contains(fmt.Sprint(all[0].Notes), "steps of work") {
			t.Errorf("%s: %d items, expected one with a note", name, len(all))
			continue
		}
		if n := len(line(t, all[0])); n > 2*MaxPage {
			t.Errorf("%s: an item of %d bytes, expected at most %d", name, n, 2*MaxPage)
		}
	}
}

// A text that elements around it share is read and compared again for each, a base URL copied.
func TestHostileTexts(t *testing.T) {
	base := "<base href='/" + strings.Repeat("x", 900_000) + "/'>"
	body := base + strings.Repeat("<div>", 300) + strings.Repeat("x", 20_000) + strings.Repeat("<a href=b>c</a>", 100)
	for name, f := range map[string]Field{
		"url":    {Select: "a", Type: URL, List: true},
		"match":  {Select: "div", Match: "nothing"},
		"number": {Select: "div", Type: Number},
	} {
		f.Name = "f"
		x := extractor(t, Rule{Fields: []Field{f}})
		x.steps = 200_000
		if all := x.Page(parseURL(t, "http://h/"), []byte(body)); len(all) != 1 || !strings.Contains(fmt.Sprint(all[0].Notes), "steps of work") {
			t.Errorf("%s: %.300v, expected a note", name, all)
		}
	}
}

// What machines read takes time in proportion to the page, however often something in it begins
// again.
func TestHostileStructured(t *testing.T) {
	x, err := New(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	const mb = 1_000_000
	for name, body := range map[string]string{
		"comments in a line": "<script type=application/ld+json>" + strings.Repeat("<!-- x --> <!-- ", mb/33) + "{}</script>",
		"comments in lines":  "<script type=application/ld+json>" + strings.Repeat("<!-- x\n", mb/16) + "{}</script>",
		"types":              "<p typeof='" + strings.Repeat("t ", mb/2) + "'>",
		"a vocabulary":       "<div vocab='" + strings.Repeat("v", mb) + "'>" + strings.Repeat("<p typeof='a b c d e f g h i j k l m n o p'>", mb/64),
	} {
		began := time.Now()
		x.Page(parseURL(t, "http://h/"), []byte(body))
		if took := time.Since(began); took > time.Second { // 50 ms at most; once it was 3 s and more
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func TestLanguages(t *testing.T) {
	body := "<p class=名前>東京　都</p><p dir=rtl id=he>שלום <b>עולם</b></p>"
	for selector, want := range map[string]string{".名前": "東京　都", "#he": "שלום עולם", "//p[@class='名前']": "東京　都"} {
		x := extractor(t, Rule{Fields: []Field{{Name: "f", Select: selector}}})
		if got := x.Page(parseURL(t, "http://h/"), []byte(body)); len(got) != 1 || got[0].Fields.Text("f") != want {
			t.Errorf("%s: %v", selector, got)
		}
	}
}

// Whatever a page holds, what comes of it is JSON of bounded size.
func FuzzPage(f *testing.F) {
	f.Add(shop)
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "----") {
			f.Add(part)
		}
	}
	x, err := New([]Rule{{Fields: []Field{
		{Name: "a", Select: "*", List: true}, {Name: "h", Select: "body > *", Type: HTML}, {Name: "n", Select: "//*[@content]", Type: Number, List: true},
		{Name: "d", Select: "::text", Type: Date, List: true}, {Name: "u", Select: "[href]", Type: URL, List: true},
	}}}, true)
	if err != nil {
		f.Fatal(err)
	}
	u := parseURL(f, "http://h/")
	f.Fuzz(func(t *testing.T, body string) {
		for _, item := range x.Page(u, []byte(body)) {
			line := line(t, item)
			if !json.Valid(line) || len(line) > 20*MaxPage {
				t.Fatalf("%.200q", line)
			}
		}
	})
}

// What is read of a script, broken or not, is JSON.
func FuzzJSONLD(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e3,"x\u00e9",true,null,],}`, "//<![CDATA[\n{\"a\":\"b\nc\"}\n//]]>", `{"a":007}`, `[{"@graph":[{}]}]`, `{"a":"\q"}`, `{/*x*/"a"://y` + "\n1}", `{}{}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := reader{text: text}
		r.start()
		if err := r.value(0); err == nil && !json.Valid(r.out) {
			t.Fatalf("%q: %q", text, r.out)
		}
	})
}

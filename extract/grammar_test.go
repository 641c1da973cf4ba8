package extract

import (
	"strings"
	"testing"
)

// TestXPathGrammar: expressions of XPath 1.0 are read, whatever their spacing.
func TestXPathGrammar(t *testing.T) {
	for _, text := range []string{
		"/", "//a [ 1 ] / @href", "count( //a ) * 2 - -1", "//p[position() mod 2 = 1]/text()", "string(/)", "(//a)[1]/@href", "//p[not(@class or @id)]",
		"substring-after(//title, ' ')", "//li[.='Red']/following-sibling::li[1]", "//a/ancestor::nav", `concat("a", //title, 'b')`, "//p | //h1", ".//p", "..", "@*",
		"child::p", "//child::*/node()", "//a/text ()", "count(//a[@href]) >= 2", "/ | //a", "//é", "//a[.5 < 1.]", "//image/@xlink:href", "//x.y", "//div[div]/div", "//a[@x = ']']",
	} {
		if _, err := parseXPath(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestEXSLT: the functions that users of Scrapy know select the same here, or an error says what to
// write.
func TestEXSLT(t *testing.T) {
	const page = `<ul><li class="on a">One<li class="off">two<li class="a  on b">ONE 3<li>four</ul><a href="/p/17">x</a><a href="/about">y</a>`
	for text, want := range map[string]string{
		`//li[has-class('on')]`:                               `["One","ONE 3"]`,
		`//li[has-class("a", 'b')]`:                           `["ONE 3"]`,
		`//li[has-class('o')]`:                                ``,
		`//li[not( has-class( 'on' ) ) and @class]`:           `["two"]`,
		`//li[re:test(., 'one')]`:                             ``,
		`//li[re:test(., '^one', 'i')]`:                       `["One","ONE 3"]`,
		`//li[re:test(@class, "^o[nf]")]/text()`:              `["One","two"]`,
		`//a[re:test(@href, '/\d+$')]/@href`:                  `["/p/17"]`,
		`//a[re:test(@href,'/P/','gi')]/@href`:                `["/p/17"]`,
		`re:test(//a/@href, 'p')`:                             `["true"]`,
		`//li[re:test(., 't') and has-class('off')]`:          `["two"]`,
		`//li[re:test(concat(@class, "'"), "n a'$")]`:         `["One"]`,
		`//li[count(. | //li[2]) != count(//li[2])]`:          `["One","ONE 3","four"]`,
		`//li[count(. | //li[@class]) = count(//li[@class])]`: `["One","two","ONE 3"]`,
	} {
		x := extractor(t, Rule{Fields: []Field{{Name: "f", Select: text, List: true}}})
		got := items(t, x, "http://h/", page)
		if want != "" {
			want = `{"url":"http://h/","fields":{"f":` + want + "}}\n"
		}
		if got != want {
			t.Errorf("%s: %s, expected %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`//li[re:test(., 'x{900}') or re:test(., 'y{200}')]`: `column 41: "'y{200}')]", expected shorter patterns, with what their repetitions stand for`,
		`//li[re:test(., @class)]`:                           `column 17: "@class)]", expected a pattern in quotes`,
		`//li[re:test(., '(')]`:                              `column 17: "'(')]", expected a regular expression: missing closing ): ` + "`(`",
		`//li[re:test(., 'a', 'x')]`:                         `column 22: "'x')]", expected the flag 'i', or none`,
		`//li[re:test('a')]`:                                 `column 17: ")]", expected a comma and a pattern in quotes`,
		`//li[has-class()]`:                                  `column 6: "has-class()]", expected a class: has-class('price')`,
		`//li[has-class('a b')]`:                             `column 16: "'a b')]", expected one class`,
		`//li[has-class(@x)]`:                                `column 16: "@x)]", expected the name of a class in quotes`,
		`re:match(//a/@href, '\d+')`:                         `column 1: "re:match(//a/@href, '\\d+')", expected the text alone, and match = 'PATTERN' in the rule of the field`,
		`set:difference(//li, //li[2])`:                      `column 1: "set:difference(//li, //li[2])", expected A[count(. | B) != count(B)] for set:difference(A, B)`,
		`//li[re:tets(., 'a')]`:                              `column 6: "re:tets(., 'a')]", expected a function of XPath 1.0, not id() or lang(), has-class() or re:test(): did you mean re:test()?`,
		`//li[str:split(., 'a')]`:                            `column 6: "str:split(., 'a')]", expected a function of XPath 1.0, not id() or lang(), has-class() or re:test()`,
	} {
		if _, err := parseSelector(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

// FuzzXPath: whatever a rule says is read or refused in one line; nothing panics.
func FuzzXPath(f *testing.F) {
	for _, text := range []string{"//a[@b='c']/..", "count(//a) div 2", "((", "//a[[", "child::", "a/@*[1]", ".//..", "//a[re:test(., 'b', 'i')][has-class('c')]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseXPath(text); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

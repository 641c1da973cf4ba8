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

// FuzzXPath: whatever a rule says is read or refused in one line; nothing panics.
func FuzzXPath(f *testing.F) {
	for _, text := range []string{"//a[@b='c']/..", "count(//a) div 2", "((", "//a[[", "child::", "a/@*[1]", ".//.."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseXPath(text); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

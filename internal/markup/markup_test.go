package markup_test

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
)

func TestReferences(t *testing.T) {
	for raw, want := range map[string][3]string{ // in text, in an attribute, in XML
		"a&amp;b":           {"a&b", "a&b", "a&b"},
		"&lt;&GT;&apos;":    {"<>'", "<>'", "<>'"},
		"&nbsp;&#160;&#xa0": {"\u00a0\u00a0\u00a0", "\u00a0\u00a0\u00a0", "\u00a0\u00a0&#xa0"},
		"?a&copy=b&copy":    {"?a©=b©", "?a&copy=b©", "?a&copy=b&copy"},
		"&notit;":           {"¬it;", "&notit;", "&notit;"},
		"&NotEqualTilde;":   {"≂̸", "≂̸", "&NotEqualTilde;"},
		"&semi;&unknown;":   {";&unknown;", ";&unknown;", ";&unknown;"},
		"&#0;&#xD800;":      {"\ufffd\ufffd", "\ufffd\ufffd", "\ufffd\ufffd"},
		"&#x110000;":        {"\ufffd", "\ufffd", "\ufffd"},
		"&#150;":            {"–", "–", "\u0096"},
		"&#;&#x;&;& &":      {"&#;&#x;&;& &", "&#;&#x;&;& &", "&#;&#x;&;& &"},
		"&#9a":              {"\ta", "\ta", "&#9a"},
		"&ltx":              {"<x", "&ltx", "&ltx"},
	} {
		for rule, want := range want {
			if got := markup.AppendText([]byte("!"), []byte(raw), markup.Rule(rule)); string(got) != "!"+want {
				t.Errorf("%s by rule %d: %q, want %q", raw, rule, got[1:], want)
			}
		}
	}
}

// FuzzReferences: escaped text decodes to the text by every rule; and any bytes decode without a
// panic to valid UTF-8, if they are valid, of a bounded length.
func FuzzReferences(f *testing.F) {
	for _, s := range []string{"", "a&b<c>\"'", "&#x26;lt;", "&&#", "&CounterClockwiseContourIntegral;", "&#99999999999999999999;", "\xff&amp"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for rule := markup.InText; rule <= markup.InXML; rule++ {
			if got := markup.AppendText(nil, []byte(html.EscapeString(s)), rule); string(got) != s {
				t.Errorf("rule %d: %q, want %q", rule, got, s)
			}
			got := markup.AppendText(nil, []byte(s), rule)
			if utf8.ValidString(s) && !utf8.Valid(got) || len(got) > 2*len(s) {
				t.Errorf("rule %d: %q becomes %q", rule, s, got)
			}
		}
	})
}

// tokens returns the tags of a document and the texts before them.
func tokens(body string) (all []string) {
	x := markup.XML{Body: []byte(body)}
	for {
		x.Collect(1000)
		kind := x.Next()
		text := fmt.Sprintf("%q", x.Text)
		if x.Undefined != nil {
			text += fmt.Sprintf(" %s?", x.Undefined)
		}
		switch kind {
		case markup.EOF:
			if x.Missing != "" {
				text += fmt.Sprintf(" %s missing at %d", x.Missing, x.MissingAt)
			}
			return append(all, text)
		case markup.EndTag:
			all = append(all, text, fmt.Sprintf("</%s>", x.Name))
		case markup.StartTag:
			tag := "<" + string(x.Name)
			if a, _ := x.Attr("a"); a != nil {
				tag += fmt.Sprintf(" a=%q", a)
			}
			if x.Empty {
				tag += "/"
			}
			if x.Unclosed {
				tag += "…"
			}
			all = append(all, text, tag+">")
		}
	}
}

func TestXML(t *testing.T) {
	for body, want := range map[string][]string{
		`<r>a&amp;b</r>`:                     {`""`, "<r>", `"a&b"`, "</r>", `""`},
		`<r>a<!-- <b> -->b<![CDATA[&<]]>`:    {`""`, "<r>", `""`},
		`<?xml?><!DOCTYPE a><R X:A="1&lt;">`: {`""`, `<R a="1<">`, `""`},
		`<r a='x>' b=/>`:                     {`""`, `<r a="x>"/>`, `""`},
		`<r a=x/>`:                           {`""`, `<r a="x/"/>`, `""`},
		`<url <loc>1</loc/url>`:              {`""`, "<url…>", `""`, "<loc>", `"1"`, "</loc>", `""`},
		`<é_:.>`:                             {`""`, "<é_:.>", `""`},
		`1 < 2 <3 &x; &y;<b>`:                {`"1 < 2 <3 &x; &y;" &x;?`, "<b>", `""`},
		`<a>1</a`:                            {`""`, "<a>", `"1"`},
		`<a>1`:                               {`""`, "<a>", `""`},
		`a<!-- b`:                            {`"" --> missing at 5`},
		`<![CDATA[ b`:                        {`"" ]]> missing at 9`},
	} {
		if got := tokens(body); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", body, got, want)
		}
	}
}

// FuzzXML: any bytes are read without a panic, each tag begins with a '<' of its own, and text has
// its limit; and a text is the same escaped and in a CDATA section.
func FuzzXML(f *testing.F) {
	for _, s := range []string{"", "<a b='c'>d</a>", "<!--", "<![CDATA[a]]>&b;", "<a <b>", "</", "<a/>", "<?x?>", "a&#38;b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const limit = 50
		x := markup.XML{Body: []byte(s)}
		n := 0
		for x.Collect(limit); x.Next() != markup.EOF; x.Collect(limit) {
			n++
			if len(x.Name) == 0 || len(x.Text) > 2*limit {
				t.Fatalf("tag %q after %q", x.Name, x.Text)
			}
			x.Attr("a")
		}
		if n > strings.Count(s, "<") || x.Pos != len(s) {
			t.Fatalf("%d tags, position %d", n, x.Pos)
		}
		if strings.Contains(s, "]]>") {
			return
		}
		read := func(body string) []byte {
			x := markup.XML{Body: []byte("<a>" + body + "</a>")}
			x.Next()
			x.Collect(1 << 20)
			x.Next()
			return x.Text
		}
		if a, b := read(html.EscapeString(s)), read("<![CDATA["+s+"]]>"); !bytes.Equal(a, b) {
			t.Errorf("%q escaped, %q in a CDATA section", a, b)
		}
	})
}

// TestTwoCharacters checks names that stand for two characters. The standard library's package html
// lacks two of these names.
func TestTwoCharacters(t *testing.T) {
	for in, want := range map[string]string{"&nGt;": "\u226b\u20d2", "&nLt;": "\u226a\u20d2", "&nGtv;": "\u226b\u0338"} {
		if got := string(markup.AppendText(nil, []byte(in), markup.InText)); got != want {
			t.Errorf("%s: %q, expected %q", in, got, want)
		}
	}
}

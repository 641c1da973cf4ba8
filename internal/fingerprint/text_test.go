package fingerprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/links"
)

// prose returns n words in which no two adjacent words repeat.
func prose(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
	}
	return b.String()
}

func read(body string) fingerprint.Fingerprint {
	return new(fingerprint.Reader).Read("text/html; charset=utf-8", []byte(body))
}

var (
	long  = prose(200)
	again = read("<p>" + long)
)

// TestSame: changes of a page that do not count.
func TestSame(t *testing.T) {
	for name, body := range map[string]string{
		"white space":            "<p>\n\t" + strings.ReplaceAll(long, " ", "\r\n  "),
		"no-break space":         "<p>" + strings.ReplaceAll(long, " ", "&nbsp;"),
		"unicode space":          "<p>" + strings.ReplaceAll(long, " ", "\u3000"),
		"tags, odd ones":         "<p =\"a>" + strings.ReplaceAll(long, " ", "<p a=\"b>\"c d='>' e=f>") + "<p/><br / a>",
		"tags":                   "<P CLASS='>'>" + strings.ReplaceAll(long, " ", "</b><b\n>"),
		"references":             "<p>" + strings.ReplaceAll(long, "a", "&#97;"),
		"references, hex":        "<p>" + strings.ReplaceAll(long, "a", "&#X61;"),
		"references, unended":    "<p>" + strings.ReplaceAll(long, "a", "&#97"),
		"soft hyphens":           "<p>" + strings.ReplaceAll(long, "wo", "wo&shy;"),
		"comment":                "<p><!-- a > b <p>-->" + long + "<!-- never ended",
		"doctype":                "<!DOCTYPE html \"a b\"><p>" + long,
		"instruction":            "<?php echo ?>" + long,
		"script":                 "<script>if (a</b/) { '<p>' }</script>" + long,
		"script, escaped":        "<script><!-- <script> a </script> b --></script>" + long,
		"style":                  "<style>p { a: b }</style>" + long,
		"template":               "<template>a<template>b</template>c</template>" + long,
		"svg":                    "<svg><title>a</title><script href=b /><path/>b</svg>" + long,
		"svg, closes itself":     "<svg/>" + long,
		"iframe":                 "<iframe><p>a</iframe>" + long,
		"hidden value":           "<form><input type=hidden name=token value='a b c'><textarea>a</textarea></form>" + long,
		"nav":                    "<nav><ul><li>a<nav>b</nav>c</ul></nav>" + long,
		"nav, in the middle":     strings.Replace(long, " ", " <NAV class=a>b c</NAV\n> ", 1),
		"header and footer":      "<header>a b</header>" + long + "<footer>c</footer>",
		"aside":                  long + "<aside><p>a</aside>",
		"role":                   "<div role=navigation>a<div>b</div>c</div>" + long + "<div class='x' role=\"contentinfo\">d</div>",
		"role, several":          "<div role='banner none'>a</div>" + long,
		"section as navigation":  "<section role=navigation>a</section><header>b</header>" + long,
		"time":                   "<time datetime=x>an hour ago</time>" + long,
		"time of day":            "12:34 9:05:06.789 12:34:56Z 23:59:59+01:00 " + long,
		"time in words":          "5 pm 12:34 AM (UTC) " + long,
		"ISO date":               "2026-11-21 2026-11-21T22:02:15.123456+00:00 " + long,
		"dates":                  "21.11.2026 1/2/2026, (2026/01/02) " + long,
		"date in words":          "Sat, 21 Nov 2026 22:02:15 GMT " + long + " November 21st, 2026.",
		"date, in pieces":        "<b>Nov</b> 21,&nbsp;<i>2026</i> " + long,
		"ctime":                  "Sat Nov 21 22:02:15 2026 " + long + "Sat Nov 21 22:02:15 UTC 2026",
		"ago":                    "3 minutes ago. 2 hours, 3 min ago " + long,
		"byte order mark":        "\ufeff" + long,
		"CDATA is a comment":     "<![CDATA[ a ]]>" + long,
		"end tag without a name": "</><//>" + long,
	} {
		if f := read(body); f != again {
			t.Errorf("%s: %+v, expected %+v", name, f, again)
		}
	}
}

// TestChanged: small changes that count.
func TestChanged(t *testing.T) {
	for name, body := range map[string]string{
		"word":                 long + "more",
		"order":                "<p>wordbaa wordaaa " + strings.TrimPrefix(long, "wordaaa wordbaa "),
		"case":                 strings.Replace(long, "word", "Word", 1),
		"punctuation":          strings.Replace(long, " ", ", ", 1),
		"space within a word":  strings.Replace(long, "word", "wo rd", 1),
		"title":                "<title>a &amp; <b></title>" + long,
		"header of an article": "<article><header>a</header></article>" + long,
		"aside in main":        "<main><section></section><aside>a</aside></main>" + long,
		"other role":           "<div role=main>a</div>" + long,
		"role of a parameter":  "<div title='role=navigation'>a</div>" + long,
		"number":               long + "12",
		"heading after a time": "22:15 UTC 7. " + long,
		"a number of things":   long + "12 apples",
		"may, no month":        long + "in 3 may",
		"ratio":                long + "16:9",
		"version":              long + "1.2.3",
		"address":              long + "10.0.0.1",
		"text in noscript":     "<noscript>a</noscript>" + long,
		"less than":            long + "1 < 2",
		"math":                 "<math><mi>x</mi></math>" + long,
		"plaintext":            long + "<plaintext></plaintext><p>",
	} {
		f := read(body)
		if f.Hash == again.Hash {
			t.Errorf("%s: the hash is as before", name)
		}
	}
}

// TestCounters: counts may change, their words count.
func TestCounters(t *testing.T) {
	a, b := read(long+"1,234 views 5 replies"), read(long+"99 views 1.2k replies")
	if a != b || a.Words != 202 {
		t.Errorf("%+v and %+v, expected the same, of 202 words", a, b)
	}
}

// TestWhole: a page that is all furniture, or whose furniture never ends, has a hash of its whole
// text and no simhash.
func TestWhole(t *testing.T) {
	for name, body := range map[string]string{
		"all in furniture":   "<header>" + long + "</header>",
		"nearly":             "<nav>" + long + "</nav> a b c",
		"nav never ends":     "<nav>a</nav><nav>" + long,
		"time never ends":    "<time>" + long,
		"role never ends":    long + long + "<div role=navigation>" + long,
		"the wrong end":      long + "<nav>" + long + "</div>",
		"nested, one is not": long + "<nav>" + long + "<nav></nav>",
	} {
		f := read(body)
		if f.Hash == 0 || f.Words < 200 || f.Simhash != 0 {
			t.Errorf("%s: %+v, expected a hash of 200 words or more, no simhash", name, f)
		}
	}
	if f := read("<template>" + long); f != (fingerprint.Fingerprint{}) {
		t.Errorf("a template that never ends: %+v, expected no text", f)
	}
}

func TestWords(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		words      int
	}{
		"empty":               {"text/html", "", 0},
		"only markup":         {"text/html", "<p><img alt='a b'>", 0},
		"HTML":                {"TEXT/HTML ;charset=x", "<p>a b<p>c", 3},
		"plain text":          {"text/plain", "<p>a b</p> &amp; 1 < 2", 6},
		"XHTML":               {"application/xhtml+xml", "<nav/><script/><p>a<![CDATA[<b> &c;]]></p>", 3},
		"XHTML, cut":          {"application/xhtml+xml", "<p>a<![CDATA[b", 2},
		"another type":        {"application/pdf", "a b c", 0},
		"no type":             {"", "a b c", 0},
		"CJK":                 {"text/html", "日本語 text、です", 6},
		"Thai":                {"text/plain", "ภาษา", 4},
		"Cyrillic":            {"text/html", "Привет, мир", 2},
		"cut in a tag":        {"text/html", "a b <p class='", 2},
		"cut at a tag":        {"text/html", "a b <", 3},
		"cut at an end tag":   {"text/html", "a b </", 3},
		"cut at a reference":  {"text/html", "a b &", 3},
		"not UTF-8":           {"text/plain", "a\xff \xe9", 2},
		"reference of spaces": {"text/html", "a&Tab;b&nbsp;&nbsp;c&ThickSpace;d", 4},
		"reference, no end":   {"text/html", "a&ampb &notit; &copy", 3},
		"reference, unknown":  {"text/html", "&a; &#; &#x; &#1114112;", 4},
		"title":               {"text/html", "<title>a <b>b</b></title>", 2},
	} {
		if f := new(fingerprint.Reader).Read(c.kind, []byte(c.body)); f.Words != c.words || (f.Hash == 0) != (c.words == 0) {
			t.Errorf("%s: %+v, expected %d words", name, f, c.words)
		}
	}
}

// TestStable: fingerprints are stored, so they must not change between versions.
func TestStable(t *testing.T) {
	for _, c := range []struct {
		body string
		want fingerprint.Fingerprint
	}{
		{"<p>one word more", fingerprint.Fingerprint{Hash: 0x37797ac01ad31c80, Words: 3}},
		{"<p>" + long, fingerprint.Fingerprint{Hash: 0x5fdf002dcdd511f8, Simhash: 0xce44190989c4c1e, Words: 200}},
		{"<p>" + "いろはにほへとちりぬるをわかよたれそつねならむうゐのおくやまけふこえてあさきゆめみしゑひもせす天地玄黄宇宙洪荒日月盈昃辰宿列張雲騰致雨露結為霜金生麗水玉出崑岡", fingerprint.Fingerprint{Hash: 0x73e39001bd8ed107, Simhash: 0x5c7dd273a7b8483a, Words: 79}},
	} {
		if f := read(c.body); f != c.want {
			t.Errorf("%.20q: %#v, expected %#v", c.body, f, c.want)
		}
	}
}

// TestNear: a page with another word, or sentence, is near; another page is not.
func TestNear(t *testing.T) {
	page := prose(1000)
	base := read(page).Simhash
	for name, c := range map[string]struct {
		body string
		near bool
	}{
		"the same":       {page, true},
		"a word":         {strings.Replace(page, "wordabc", "changed", 1), true},
		"a sentence":     {page + "And a sentence of some words comes last.", true},
		"another page":   {strings.ReplaceAll(page, "word", "text"), false},
		"half of it new": {page[:len(page)/2] + strings.ReplaceAll(page[len(page)/2:], "word", "text"), false},
	} {
		if d := fingerprint.Distance(base, read(c.body).Simhash); (d <= fingerprint.Near) != c.near {
			t.Errorf("%s: distance %d", name, d)
		}
	}
}

// TestShort: a short text has no simhash.
func TestShort(t *testing.T) {
	n := fingerprint.MinShingles + 2 // words
	for name, c := range map[string]struct {
		body string
		has  bool
	}{
		"enough":        {prose(n), true},
		"a word less":   {prose(n - 1), false},
		"always again":  {strings.Repeat(prose(n/2), 10), false},
		"all furniture": {"<nav>" + prose(n) + "</nav>" + prose(n-1), false},
	} {
		if f := read(c.body); (f.Simhash != 0) != c.has || f.Hash == 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestHashOnly: the hash is the same without a simhash, page after page.
func TestHashOnly(t *testing.T) {
	r := &fingerprint.Reader{HashOnly: true}
	for _, body := range []string{"<p>" + long, "<nav>" + long + "</nav>a b", "Sat Nov 21 22:02:15 2026 " + long, "On Monday in May 12 of (Nov 3 times) " + long, "<p ='a>b'c>" + long, ""} {
		want := read(body)
		want.Simhash = 0
		if f := r.Read("text/html", []byte(body)); f != want {
			t.Errorf("%.40q: %+v, expected %+v", body, f, want)
		}
	}
}

// TestExtract: one pass yields the links, the page and the text, whatever the type, and whether
// or not furniture has to be read after all.
func TestExtract(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		links      int
	}{
		"HTML":          {"text/html", "<title>A</title><nav><a href=/1>a</a></nav><a href=/2>" + long + "</a>", 2},
		"all furniture": {"text/html", "<title>A</title><nav>" + long + "<a href=/1>a</a></nav>", 1},
		"never ends":    {"Text/HTML;charset=utf-8", "<title>A</title><nav>" + long + "<a href=/1>a</a>", 1},
		"plain":         {"text/plain", "<a href=/1>", 0},
		"CSS":           {"text/css", "a { b: url(/1) }", 1},
	} {
		page, found, f := both(new(fingerprint.Reader), links.Options{}, c.kind, c.body, 100)
		want := new(fingerprint.Reader).Read(c.kind, []byte(c.body))
		if len(found) != c.links || (page.Title == "A") != strings.Contains(c.body, "<title>") || f != want {
			t.Errorf("%s: %v, title %q, %+v, expected %d links, %+v", name, found, page.Title, f, c.links, want)
		}
	}
}

// TestLongText: the end of the buffer ends no word and no stamp.
func TestLongText(t *testing.T) {
	stamp := "Sat, 21 Nov 2026 22:02:15 GMT "
	for n := range 40 {
		body := strings.Repeat("x", n) + " " + strings.Repeat(long, 14) + strings.Repeat("y", 40000) + " " + long
		want := new(fingerprint.Reader).Read("text/plain", []byte(body))
		var stamped strings.Builder
		for i, word := range strings.Fields(body) {
			if i%7 == 0 {
				stamped.WriteString(stamp)
			}
			stamped.WriteString(word + " \n ")
		}
		if got := new(fingerprint.Reader).Read("text/plain", []byte(stamped.String())); got != want || got.Words != 15*200+1+min(1, n) {
			t.Errorf("%d: %+v, expected %+v", n, got, want)
		}
	}
}

// TestReader: reading a page after another gives the same result, and allocates nothing.
func TestReader(t *testing.T) {
	r := new(fingerprint.Reader)
	r.Read("text/html", []byte("<nav>"+long+"&#x41;"+strings.Repeat("é", 9000)))
	body := []byte("<nav>a</nav>é " + long + " 3 minutes ago")
	want := new(fingerprint.Reader).Read("text/html", body)
	if f := r.Read("text/html", body); f != want {
		t.Errorf("%+v, expected %+v", f, want)
	}
	if n := testing.AllocsPerRun(10, func() { r.Read("text/html", body) }); n != 0 {
		t.Errorf("%v allocations, expected none", n)
	}
}

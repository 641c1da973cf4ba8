package links

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/conformance"
	"github.com/weftcrawl/weft/internal/markup"
	"golang.org/x/net/html"
)

// candidatesByStates is the standard's parser of srcset, one character at a time, with
// the states of its descriptor tokenizer. It keeps candidates whose descriptors are wrong.
func candidatesByStates(s string) (urls []string) {
	const (
		inDescriptor = iota
		inParens
		afterDescriptor
	)
	isWhite := func(c byte) bool { return strings.IndexByte(markup.WhiteSpace, c) >= 0 }
	at := 0
	for {
		for at < len(s) && (isWhite(s[at]) || s[at] == ',') {
			at++
		}
		if at == len(s) {
			return urls
		}
		from := at
		for at < len(s) && !isWhite(s[at]) {
			at++
		}
		url := s[from:at]
		if strings.HasSuffix(url, ",") {
			urls = append(urls, strings.TrimRight(url, ","))
			continue
		}
		urls = append(urls, url)
		for at < len(s) && isWhite(s[at]) {
			at++
		}
		for state := inDescriptor; at < len(s); {
			c := s[at]
			at++
			if state == inDescriptor && c == ',' {
				break
			}
			switch {
			case state == inDescriptor && isWhite(c):
				state = afterDescriptor
			case state == inDescriptor && c == '(':
				state = inParens
			case state == inParens && c == ')':
				state = inDescriptor
			case state == afterDescriptor && !isWhite(c):
				state = inDescriptor
				at--
			}
		}
	}
}

// FuzzSrcset: the candidates are those of the standard's algorithm, state by state; no
// candidate is empty or has white space.
func FuzzSrcset(f *testing.F) {
	for _, s := range []string{
		"", "a", " ,,a 1x,b 2x , c,d (e, f) 3x,g, ,h", "a,b", "a, b", "a 1x, b", "data:,a ( , ) b, c", "a ( b", "a b(c,d)e, f", "a,, b", ",", "a (b(c), d) e", "a 1q, b -1x, c 1.5.x", "\ta\n1x\f,\rb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got []string
		for c := range candidates([]byte(s)) {
			if len(c) == 0 || bytes.ContainsAny(c, markup.WhiteSpace) {
				t.Errorf("%q: candidate %q", s, c)
			}
			got = append(got, string(c))
		}
		if want := candidatesByStates(s); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	})
}

// refreshBySteps is the standard's algorithm, with step numbers as of 2026.
func refreshBySteps(in string) (target string, ok bool) {
	at := 0
	skip := func(set string) {
		for at < len(in) && strings.IndexByte(set, in[at]) >= 0 {
			at++
		}
	}
	skip(markup.WhiteSpace) // 3
	from := at
	skip("0123456789") // 5
	if from == at && (at == len(in) || in[at] != '.') {
		return "", false // 6
	}
	skip("0123456789.") // 8
	if at == len(in) {
		return "", true
	}
	if c := in[at]; c != ';' && c != ',' && strings.IndexByte(markup.WhiteSpace, c) < 0 {
		return "", false // 10.1
	}
	skip(markup.WhiteSpace)                               // 10.2
	if at < len(in) && (in[at] == ';' || in[at] == ',') { // 10.3
		at++
	}
	skip(markup.WhiteSpace) // 10.4
	if at == len(in) {
		return "", true
	}
	url := in[at:] // 11.1
	for i, c := range "url" {
		if at == len(in) || in[at]|0x20 != byte(c) {
			if i == 0 {
				break // to 11.9, with what is there
			}
			return url, true
		}
		at++
		if i < 2 {
			continue
		}
		skip(markup.WhiteSpace) // 11.5
		if at == len(in) || in[at] != '=' {
			return url, true
		}
		at++
		skip(markup.WhiteSpace) // 11.8
	}
	url = in[at:]
	if at < len(in) && (in[at] == '\'' || in[at] == '"') {
		url, _, _ = strings.Cut(in[at+1:], in[at:at+1])
	}
	return url, true
}

// FuzzRefresh: a meta refresh is read as by the steps of the standard.
func FuzzRefresh(f *testing.F) {
	for _, s := range []string{
		"", "5", "0;url=a", " 3 , Url = \"b\"c ", "1.5 d", ";e", "0; url f", ".;g", "0;'h'i", "x;url=i", "0 ; u", "0;ur=a", "0;URL", "0;url=", "0;url='", "0;\"a", "1,url=a;b", "0url=a", "9..9;a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := refresh([]byte(s))
		if want, wantOK := refreshBySteps(s); string(got) != want || ok != wantOK {
			t.Errorf("%q: got %q %v, want %q %v", s, got, ok, want, wantOK)
		}
	})
}

// cssURLs returns the URLs of a style sheet, as "kind url".
func cssURLs(text string) (urls []string) {
	s := cssScanner{text: []byte(text)}
	for {
		url, kind, ok := s.next()
		if !ok {
			return urls
		}
		urls = append(urls, kind.String()+" "+string(url))
	}
}

// cssQuoted writes text as a string of CSS (CSSOM, section 2.1).
func cssQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\%x ", r)
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TestImageSet: the strings that name images of image-set() are links; those that say their type,
// and those elsewhere, are not.
func TestImageSet(t *testing.T) {
	for css, want := range map[string]string{
		`a{b:image-set("c" 1x, 'd' type("image/avif") 2x , url(e) 3x)}`: "image c,image d,image e",
		`a{b:-WebKit-Image-Set("c"1x/**/,/**/"d");content:"e"}`:         "image c,image d",
		`a{b:image-set(linear-gradient(red, calc("x")) 1x, "c") "d"}`:   "image c",
		`a{b:f(image-set("c"), "d")}`:                                   "image c",
		`a{b:image-set("" 1x, "c" "d", e "f")}`:                         "image c",
		`a{b:image-set("c";d:"e", "f"}`:                                 "image c",
		`a{b:image-set ("c")} a{b:my-image-set("c")}`:                   "",
		`a{b:image-set(url("c"), "d")}`:                                 "image c,image d",
		`))) a{b:image-set("c")}`:                                       "image c",
	} {
		if got := strings.Join(cssURLs(css), ","); got != want {
			t.Errorf("%s: %s, want %s", css, got, want)
		}
	}
}

// FuzzCSS: any text is read to its end; a text written as a string in url() or @import
// is read as written, whatever comment comes before it; and a comment has none.
func FuzzCSS(f *testing.F) {
	for _, s := range []string{
		"", "a.png", "url(a)", "a) b", `"\`, "@import 'a'", "/*", "*/", "\\26 a", "@font-face{src:url(a)", "url( 'a", "@namespace url(a);url(b)", "image-set('a','b'", "é\x00\n", "url(a\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := len(cssURLs(s)); n > len(s)/4 {
			t.Errorf("%q: %d URLs", s, n)
		}
		comment := "/*" + strings.ReplaceAll(s, "*", "") + "*/"
		if got := cssURLs(comment); len(got) > 0 {
			t.Errorf("%q: in a comment: %q", s, got)
		}
		if s == "" || !utf8.ValidString(s) || strings.ContainsRune(s, 0) { // an escaped NUL is U+FFFD
			return
		}
		want := []string{"image " + s, "style " + s}
		if got := cssURLs(comment + "a{b:url(" + cssQuoted(s) + ")}@import " + cssQuoted(s)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q", s, got)
		}
	})
}

// linksOf returns the links of a document, after general checks.
func linksOf(t *testing.T, contentType string, body []byte) (found []Link) {
	t.Helper()
	original := bytes.Clone(body)
	Extract(mustParse(t, pageURL), contentType, body, func(l Link) bool {
		if !l.URL.IsHTTP() || l.Kind >= numKinds || l.Tag == "" || l.Attr == "" {
			t.Fatalf("%+v", l)
		}
		found = append(found, l)
		return true
	})
	if !bytes.Equal(body, original) {
		t.Fatal("the body was changed")
	}
	return found
}

// FuzzFeed: any bytes are read without a panic, and have no more links than tags and
// texts; a URL in a feed's link is the same escaped and in a CDATA section.
func FuzzFeed(f *testing.F) {
	for _, s := range []string{
		"http://a.test/?a&b", "<rss><link>a</link>", "<feed><link href=a rel=next>", "]]>", "<![CDATA[a", "<guid isPermaLink='false'>a</guid>", "&amp;&#38;", "<item><enclosure url='a'/></item>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, contentType := range []string{"application/rss+xml", "text/xml"} {
			if n := len(linksOf(t, contentType, body)); n > 2*bytes.Count(body, []byte("<")) {
				t.Fatalf("%d links", n)
			}
		}
		s := string(body)
		if !utf8.Valid(body) || strings.ContainsAny(s, "\x00\r") || strings.Contains(s, "]]>") {
			return
		}
		escaped := linksOf(t, "application/rss+xml", []byte("<rss><link>"+html.EscapeString(s)+"</link>"))
		section := linksOf(t, "application/rss+xml", []byte("<rss><link><![CDATA["+s+"]]></link>"))
		if !slices.Equal(escaped, section) {
			t.Errorf("%q: escaped %+v, in a CDATA section %+v", s, escaped, section)
		}
	})
}

// jsonURLs returns the strings that jsonLD should yield, by the tree of the document.
func jsonURLs(value any, key string) (urls []string) {
	switch value := value.(type) {
	case string:
		if jsonKeys[key] && isWrittenURL(value) {
			urls = append(urls, value)
		}
	case []any:
		for _, v := range value {
			urls = append(urls, jsonURLs(v, key)...)
		}
	case map[string]any:
		for k, v := range value {
			urls = append(urls, jsonURLs(v, k)...)
		}
	}
	return urls
}

// FuzzJSONLD: any bytes are read without a panic; in valid JSON of moderate depth all URLs of its
// tree are found.
func FuzzJSONLD(f *testing.F) {
	for _, s := range []string{
		`{"@id":"/a","image":[{"url":"http://a/"},"/b"]}`, `["/a"]`, `{"url":{"url":"/a"}}`, `{"url":"/a","url":"/b"}`, `{"sameAs":[["/a"]]}`, `{`, `"/a"`, `{"url":"\u002fa"}`, `{"a":1,"url":"/b"}`, `[{"url"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var found []string
		x := NewExtractor(Options{})
		x.Mentions("application/ld+json", body, func(m Mention) bool {
			found = append(found, string(m.Value))
			return true
		})
		var tree any
		if bytes.Count(body, []byte("["))+bytes.Count(body, []byte("{")) > maxNested || json.Unmarshal(body, &tree) != nil {
			return
		}
		for _, url := range jsonURLs(tree, "") { // of a member that is there twice, the tree has the last
			if !slices.Contains(found, url) {
				t.Errorf("%s: %q is not among %q", body, url, found)
			}
		}
	})
}

// addTokens seeds a fuzz target with the inputs of html5lib's tokenizer tests, and pages
// that have links in them.
func addTokens(f *testing.F) {
	for _, page := range pages {
		f.Add([]byte(page))
	}
	for _, script := range scripts {
		f.Add([]byte(script))
	}
	for i, c := range conformance.Cases[tokenCase](f, "html-tokens.jsonl") {
		if c.Initial == "Data state" && i%16 == 0 { // each of them is a test of TestHTML5Lib
			f.Add([]byte(c.Input))
		}
	}
}

// FuzzScan: the scanner finds the tags and attributes that the tokenizer of x/net finds,
// and Extract the links, both with the same view of SVG and MathML; and scripts end where the
// standard's states end them.
func FuzzScan(f *testing.F) {
	addTokens(f)
	base := mustParse(f, pageURL)
	f.Fuzz(func(t *testing.T, body []byte) {
		compareWithNet(t, body)
		if !hasEscapedScript(body) {
			compareLinks(t, base, body)
		}
		if got, want := markup.ScriptEnd(body, 0), scriptEndByStates(body); got != want {
			t.Errorf("%q as a script: ends at %d, want %d", body, got, want)
		}
	})
}

// TestForeign: around SVG and MathML, the links are those of the tree that the parser of x/net
// builds.
func TestForeign(t *testing.T) {
	for _, page := range []string{
		"<svg><a href=1>x</a></svg><a href=2>y</a>",
		"<svg><title><a href=1>x</a></title><a href=2>y</a></svg>",
		"<svg><style><a href=1>x</a></style></svg><style><a href=no></style>",
		"<svg><script/><a href=1>x</a></svg>",
		"<svg><![CDATA[ > <a href=no> ]]><a href=1>x</a></svg>",
		"<svg><desc><![CDATA[ > <a href=no> ]]></desc></svg><a href=1>x</a>",
		"<svg><foreignObject><p><![CDATA[ > <a href=1>x</a> ]]></p></foreignObject></svg>",
		"<svg><foreignObject><svg><![CDATA[ > <a href=no> ]]></svg></foreignObject><a href=1>x</a></svg>",
		"<svg><foreignObject><textarea><a href=no></textarea></foreignObject><textarea><a href=1>x</a></textarea></svg>",
		"<svg><g><p><textarea><a href=no></textarea><a href=1>x</a>",
		"<svg/><textarea><a href=no></textarea><a href=1>x</a>",
		"<math><mi><textarea><a href=no></textarea></mi><mi/><textarea><a href=1>x</a></textarea></math>",
		"<math><![CDATA[ > <a href=no> ]]></math><a href=1>x</a>",
		"<SVG><Title><![CDATA[ > <a href=no> ]]></TITLE></SVG><title><a href=no></title><a href=1>x</a>",
		"<div><svg><g></div><textarea><a href=no></textarea><a href=1>x</a>",
		"<noscript><svg></noscript>",
	} {
		doc, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for n := range doc.Descendants() {
			if i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "href" }); n.Type == html.ElementNode && n.Data == "a" && i >= 0 {
				want = append(want, n.Attr[i].Val)
			}
		}
		NewExtractor(Options{Kinds: KindsOf(KindPage)}).Mentions("text/html", []byte(page), func(m Mention) bool {
			got = append(got, string(m.Value))
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", page, got, want)
		}
	}
}

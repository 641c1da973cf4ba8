package links

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// positions returns "line:column attr" for each link.
func positions(t testing.TB, contentType, body string) (found []string) {
	t.Helper()
	x := NewExtractor(Options{Positions: true, Scripts: true})
	x.Extract(Document{Base: mustParse(t, pageURL), ContentType: contentType, Body: []byte(body)}, func(l Link) bool {
		found = append(found, fmt.Sprintf("%d:%d %s", l.Line, l.Column, l.Attr))
		return true
	})
	return found
}

func TestPositions(t *testing.T) {
	for name, c := range map[string]struct {
		contentType, body string
		want              []string
	}{
		"attributes":               {"text/html", "<a href=x>\n<a class=b\n  href=\" y\">a</a>", []string{"1:9 href", "3:10 href"}},
		"characters":               {"text/html", "äöü<a title=\"日本\" href='x'>", []string{"1:24 href"}},
		"after Windows' line ends": {"text/html", "a\r\nb\r\n<img src=x>", []string{"3:10 src"}},
		"attributes in another order": {"text/html", "<video\nposter=p\nsrc=s><img src=i>",
			[]string{"3:5 src", "2:8 poster", "3:16 src"}},
		"anchors end late":   {"text/html", "<a href=x><img src=y></a>", []string{"1:20 src", "1:9 href"}},
		"candidates":         {"text/html", "<img srcset='a 1x, b 2x,\nc 3x' src=d>", []string{"2:11 src", "1:14 srcset", "1:20 srcset", "2:1 srcset"}},
		"with references":    {"text/html", "<a href='x?a&amp;b'></a><img srcset='a?b&amp;c 1x, d 2x'>", []string{"1:10 href", "1:38 srcset", "1:38 srcset"}},
		"refresh":            {"text/html", "<meta http-equiv=refresh content='1; url=x'>", []string{"1:42 content"}},
		"empty":              {"text/html", "\n<a href=''></a>", []string{"2:2 href"}},
		"style":              {"text/html", "<style>\n@import 'a';\n b { background: url(x\\20y) }</style><p style='a: url(z)'>", []string{"2:10 import", "3:22 url", "3:55 style"}},
		"style, references":  {"text/html", "<p style='a: url(&quot;z&quot;)'>", []string{"1:11 style"}},
		"background":         {"text/html", "<table background=x>", []string{"1:19 background"}},
		"srcdoc":             {"text/html", "<iframe srcdoc='<a href=x></a>\n<a href=y></a>'></iframe><a href=z></a>", []string{"1:25 href", "2:9 href", "2:34 href"}},
		"srcdoc, references": {"text/html", "<iframe\nsrcdoc='<a href=&quot;x&quot;></a>\n<a href=y></a>'></iframe><a href=z></a>", []string{"2:9 href", "2:9 href", "3:34 href"}},
		"scripts":            {"text/html", "<script>a = '/x';\nb = \"\\/y\"</script>", []string{"1:14 text", "2:6 text"}},
		"SVG":                {"image/svg+xml", "<svg>\n<image xlink:href='x'/>", []string{"2:20 xlink:href"}},
		"JSON-LD, hidden":    {"text/html", "<script type=application/ld+json><!-- data [1]\n{\"image\": \"/x\"}\n--></script>", []string{"2:12 image"}},
		"JSON-LD, CDATA":     {"text/html", "<script type=application/ld+json>//<![CDATA[\n{\"image\": \"/x\"}\n//]]></script>", []string{"2:12 image"}},
		"JSON-LD":            {"application/ld+json", "{\n\"url\": \"\\/x\", \"image\": [\"/y\", \"/z\"]}", []string{"2:9 url", "2:26 image", "2:32 image"}},
		"feed":               {"application/rss+xml", "<rss><item>\n<link> http://a.test/</link>\n<enclosure url='x'/><enclosure url='x?&amp;'/>", []string{"2:8 text", "3:17 url", "3:22 url"}},
		"style sheet":        {"text/css", "a { b: url(x)\n }\n c { d: url( 'y' ) }", []string{"1:12 url", "3:15 url"}},
	} {
		if got := positions(t, c.contentType, c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzPositions: every position is one of the body, and that of a URL which the body has as it is
// leads to this URL.
func FuzzPositions(f *testing.F) {
	for _, s := range []string{"<a href=x>\n<img srcset='a, b' src=c>", "<iframe srcdoc='<a href=x\n>'>", "<p style='a: url(x\\20)'>", "<a href=&#120>", "<video\nposter=é src=y>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		lines := strings.Split(body, "\n")
		x := NewExtractor(Options{Positions: true, Scripts: true})
		x.Extract(Document{Base: mustParse(t, pageURL), ContentType: "text/html", Body: []byte(body)}, func(l Link) bool {
			if l.Line < 1 || l.Line > len(lines) || l.Column < 1 || l.Column > utf8.RuneCountInString(lines[l.Line-1])+1 {
				t.Errorf("%d:%d is not in %q", l.Line, l.Column, body)
				return false
			}
			rest := strings.Join(lines[l.Line-1:], "\n")
			for range l.Column - 1 {
				_, n := utf8.DecodeRuneInString(rest)
				rest = rest[n:]
			}
			raw := strings.Trim(l.Raw, " \t\n\f\r")
			if !strings.HasPrefix(rest, raw) && !strings.ContainsAny(body, "&\\\r\x00") && utf8.ValidString(body) && l.Tag != "meta" {
				t.Errorf("%d:%d of %q is not %q", l.Line, l.Column, body, raw)
			}
			return true
		})
	})
}

// TestTags: a page's start tags come with their attributes, each before its links; those of a
// srcdoc are no tags of the page.
func TestTags(t *testing.T) {
	var found []string
	body := "<p ID=a&amp;b>\n<a href=x name=n><b title='id'>x</b></a><script>'<i>'</script><iframe srcdoc='<u>'><img alt src=y>"
	NewExtractor(Options{Positions: true}).Extract(Document{
		Base: mustParse(t, pageURL), ContentType: "text/html", Body: []byte(body),
		Tag: func(tag *Tag) {
			line, column := tag.Position()
			id, _ := tag.Attr("id")
			_, alt := tag.Attr("alt")
			found = append(found, fmt.Sprintf("%d:%d %s %s %t", line, column, tag.Name, id, alt))
		},
	}, func(l Link) bool {
		found = append(found, l.Raw)
		return true
	})
	want := []string{"1:1 p a&b false", "2:1 a  false", "2:18 b  false", "x", "2:41 script  false", "2:63 iframe  false", "2:84 img  true", "y"}
	if !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// TestEvery: other schemes and what is no URL are links on request.
func TestEvery(t *testing.T) {
	var found []string
	body := `<a href="mailto:a@b.test"><a href="http://[x"><img src="data:,x"><a href="JavaScript:x"><a href=y>`
	NewExtractor(Options{Every: true}).Extract(Document{Base: mustParse(t, pageURL), ContentType: "text/html", Body: []byte(body)}, func(l Link) bool {
		found = append(found, l.URL.String())
		return true
	})
	want := []string{"mailto:a@b.test", "data:,x", "", "javascript:x", "http://example.org/dir/y"}
	if !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

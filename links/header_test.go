package links

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/weburl"
)

// headerLinks returns the links of Header, as "URL rel".
func headerLinks(t *testing.T, values ...string) (found []string) {
	t.Helper()
	Header(mustParse(t, pageURL), values, func(l Link) bool {
		if l.Tag != "header" || l.Attr != "link" || l.Text != "" {
			t.Errorf("%q: %+v", values, l)
		}
		found = append(found, strings.TrimSpace(l.URL.String()+" "+l.Rel))
		return true
	})
	return found
}

func TestHeader(t *testing.T) {
	const dir = "http://example.org/dir/"
	for name, c := range map[string]struct {
		values []string
		want   []string
	}{
		"none":                   {nil, nil},
		"empty":                  {[]string{"", " ", ",", ",,; ,"}, nil},
		"one":                    {[]string{`<next>; rel="next"`}, []string{dir + "next next"}},
		"a token":                {[]string{`</a>;rel=prev`}, []string{"http://example.org/a prev"}},
		"several relations":      {[]string{`<a>; rel=" prev  Up "`}, []string{dir + "a prev  Up"}},
		"several links":          {[]string{`<a>; rel=x, <b>;rel=y ,<c>`, `<d>`}, []string{dir + "a x", dir + "b y", dir + "c", dir + "d"}},
		"absolute":               {[]string{`<https://example.net/?a,b;c>; rel=canonical`}, []string{"https://example.net/?a,b;c canonical"}},
		"space everywhere":       {[]string{"\t< a > ; \t rel \t=\t \"x\" \t, <b>"}, []string{dir + "a x", dir + "b"}},
		"name in capitals":       {[]string{`<a>; REL=x`}, []string{dir + "a x"}},
		"the first rel counts":   {[]string{`<a>; rel=x; rel=y`, `<b>; rel; rel=z`}, []string{dir + "a x", dir + "b"}},
		"other parameters":       {[]string{`<a>; type=text/html; title="rel=no"; rel=x; foo; bar=; ;`}, []string{dir + "a x"}},
		"starred":                {[]string{`<a>; title*=UTF-8'de'n%c3%a4chstes; rel=x`}, []string{dir + "a x"}},
		"comma in quotes":        {[]string{`<a>; title="b, <c>; rel=no"; rel=x, <d>`}, []string{dir + "a x", dir + "d"}},
		"escape in quotes":       {[]string{`<a>; title="\", <b>\\"; rel="\x\"", <c>`}, []string{dir + `a x"`, dir + "c"}},
		"quote not closed":       {[]string{`<a>; rel="x, <b>`, `<c>; rel="\`}, []string{dir + "a x, <b>", dir + `c \`}},
		"target not closed":      {[]string{`<a>, <b; rel=x`, `<`}, []string{dir + "a"}},
		"no target":              {[]string{`a; rel=x, <b>`, `x=", <c>", <d>`, `rel=y`}, []string{dir + "b", dir + "d"}},
		"rubbish behind":         {[]string{`<a> rel=x, <b>; rel="y" z; rel=w, <c>`}, []string{dir + "a", dir + "b y", dir + "c"}},
		"nothing in it":          {[]string{`<>; rel=x, < >`}, nil},
		"other schemes":          {[]string{`<mailto:me@example.org>, <data:,a>, <javascript:a()>, <ftp://a/>`}, nil},
		"no URL":                 {[]string{`<http://a b/>; rel=x, <b>`}, []string{dir + "b"}},
		"of elsewhere":           {[]string{`<a>; anchor="/other"; rel=x, <b>; anchor=http://[, <c>`}, []string{dir + "c"}},
		"of the page itself":     {[]string{`<a>; anchor=""; rel=x, <b>; anchor="#top", <c>; anchor="HTTP://EXAMPLE.org:80/dir/page.html"`}, []string{dir + "a x", dir + "b", dir + "c"}},
		"the first anchor":       {[]string{`<a>; anchor="/other"; anchor="", <b>; anchor=""; anchor="/other"`}, []string{dir + "b"}},
		"an endless target":      {[]string{"<" + strings.Repeat("a", maxValue+1) + ">, <b>"}, []string{dir + "b"}},
		"bytes that are no text": {[]string{"<\xff>; rel=\"\xff\x00\""}, []string{dir + "%FF %FF\x00"}},
	} {
		if got := headerLinks(t, c.values...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: got %q, want %q", name, c.values, got, c.want)
		}
	}
}

func TestHeaderStops(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var got []string
		Header(mustParse(t, pageURL), []string{"<1>, <2>", "<3>, <4>"}, func(l Link) bool {
			got = append(got, l.Raw)
			return len(got) < n
		})
		if want := []string{"1", "2", "3", "4"}[:n]; !slices.Equal(got, want) {
			t.Errorf("stopped after %d: got %q", n, got)
		}
	}
}

// FuzzHeader: any value is read without a panic; links found are http, valid text
// and in the value; and two fields yield the links of each in order.
func FuzzHeader(f *testing.F) {
	f.Add(`<a>; rel="next"; title="\"," , <b>;rel=x`, "<c>")
	f.Add(`<a>; anchor="#b", <`, `"`)
	f.Add(`<a>;;=;rel="\`, ",,\xff<")
	f.Fuzz(func(t *testing.T, a, b string) {
		both := headerLinks(t, a, b)
		if alone := append(headerLinks(t, a), headerLinks(t, b)...); !slices.Equal(both, alone) {
			t.Errorf("got %q, one by one %q", both, alone)
		}
		n := 0
		Header(mustParse(t, pageURL), []string{a}, func(l Link) bool {
			n++
			if !l.URL.IsHTTP() || l.Raw == "" || !utf8.ValidString(l.Raw+l.Rel) || !strings.Contains(weburl.EscapeInvalid(a), l.Raw) {
				t.Errorf("%+v", l)
			}
			return true
		})
		if n > strings.Count(a, "<") {
			t.Errorf("%d links", n)
		}
	})
}

func BenchmarkHeader(b *testing.B) {
	var value strings.Builder
	for i := range 20 {
		fmt.Fprintf(&value, `</static/style-%d.css>; rel="preload"; as=style, `, i)
	}
	base := mustParse(b, pageURL)
	b.SetBytes(int64(value.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Header(base, []string{value.String()}, func(Link) bool { return true })
	}
}

func TestRefreshHeader(t *testing.T) {
	base := mustParse(t, "http://a.test/b/")
	for value, want := range map[string]string{
		"0; url=c":                       "http://a.test/b/c",
		"5;URL='http://d.test/' ignored": "http://d.test/",
		"5":                              "",
		"soon; url=c":                    "",
		"5; url=mailto:c":                "",
		"":                               "",
	} {
		got := ""
		RefreshHeader(base, []string{value}, func(l Link) bool {
			if l.Kind != KindRedirect || l.Tag != "header" || l.Attr != "refresh" {
				t.Errorf("%s: %+v", value, l)
			}
			got += l.URL.String()
			return true
		})
		if got != want {
			t.Errorf("%q leads to %q, expected %q", value, got, want)
		}
	}
}

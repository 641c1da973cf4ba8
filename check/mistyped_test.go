package check

import (
	"slices"
	"strings"
	"testing"
)

// TestMistyped: links whose scheme is mistyped are told from those that only look so, and the
// message has the URL that was meant.
func TestMistyped(t *testing.T) {
	for link, want := range map[string]string{
		"htp://x.test/a": "http://x.test/a", "htttps://x.test/": "https://x.test/", "ttps://x.test/": "https://x.test/", "HTPP://x.test/": "http://x.test/",
		"htpps://x.test/": "https://x.test/", "hptt://x.test/": "http://x.test/",
		"https:/x.test/a": "https://x.test/a", "http:/x.test/a": "http://x.test/a", `http:\\x.test\a`: "http://x.test/a", "http:///x.test/a": "http://x.test/a",
		"http:x.test/a": "http://x.test/a", "http:://x.test/a": "http://x.test/a", "http://http://x.test/a": "http://x.test/a", "http://https//x.test/a": "https://x.test/a",
		" htp://x.test/a ": "http://x.test/a",
	} {
		r, err := Job(t.Context(), makeJob(t, htmlPage("http://a.test/", "<a href='"+link+"'>x</a>")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for f := range r.Findings() {
			if f.Message != "no valid URL: did you mean "+want+"?" || f.URL != strings.TrimSpace(link) {
				t.Errorf("%s: %+v", link, f)
			}
		}
		if got := found(t, r, nil); len(got) != 1 || !strings.Contains(got[0], "http://a.test/:1:10 "+InvalidURL) && !strings.Contains(got[0], "http://a.test/:1:11 "+InvalidURL) {
			t.Errorf("%s: %q", link, got)
		}
	}
	for link, want := range map[string]string{ // to a path
		"http//x.test/a": "http://x.test/a", "https;//x.test/a": "https://x.test/a", "www.x.test/a": "https://www.x.test/a", "www.x.test": "https://www.x.test",
		"other//x": "", "www.html": "",
	} {
		for status, want := range map[int]string{200: "", 404: "404 Not Found" + didYouMean(want)} {
			r, err := Job(t.Context(), makeJob(t, htmlPage("http://a.test/", "<a href='"+link+"'>x</a>"), answer("http://a.test/"+link, status, "")), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for f := range r.Findings() {
				got = append(got, f.Message)
			}
			r.Close()
			if strings.Join(got, " ") != want {
				t.Errorf("%s, %d: %q, want %q", link, status, got, want)
			}
		}
	}
	for _, link := range []string{
		"http://x.test//a", "HTTPS://x.test/", "//x.test/", "ftp://x.test/", "shttp://x.test/", "mailto:a@b.test", "http://https.test/", "http://web.test/http://x.test/",
		"tel:+1", "data:,http://x", "javascript:'http:/x'", "tcp://x", "a/b//c", "?u=http:/x", "git://x.test/", "http:", "htp:x",
	} {
		r, err := Job(t.Context(), makeJob(t, htmlPage("http://a.test/", `<a href="`+link+`">x</a>`)), Options{})
		if got := found(t, r, err); len(got) > 0 {
			t.Errorf("%s: %q", link, got)
		}
	}
	write(t, map[string]string{"a.md": "[x](http//x.test/a) [y](https:/y.test)"})
	r, err := files(t.Context(), []string{"a.md"}, "", Options{})
	if got, want := found(t, r, err), []string{"a.md:1:5 broken-link http/x.test/a", "a.md:1:25 invalid-url https:/y.test"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

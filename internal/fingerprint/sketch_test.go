package fingerprint_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

func TestSketch(t *testing.T) {
	x := links.NewExtractor(links.Options{Kinds: links.KindsOf(links.KindImage), Bare: true})
	var r fingerprint.Reader
	sketch := func(path, body string) uint64 {
		u, err := weburl.Parse("http://h.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		return r.Sketch(x, links.Document{Base: u, ContentType: "text/html", Body: []byte(body)})
	}
	for _, c := range []struct {
		name         string
		path1, body1 string
		path2, body2 string
		same         bool
	}{
		{"nothing", "/1", "", "/2", "<p></p>", true},
		{"numbers of the URL", "/cal/2026/11", "day 2026.11", "/cal/2026/12", "day 2026.12", true},
		{"numbers next to them, and years", "/cal/26/01", "2025 <a>26</a> 2", "/cal/26/02", "2029 <a>26</a> 3", true},
		{"other numbers", "/cal/26/01", "17.5 mm", "/cal/26/02", "18.5 mm", false},
		{"numbers of five digits", "/p/1", "12345", "/p/2", "23456", false},
		{"tokens of the URL", "/s/x7k2/t", "sid=x7k2 text", "/s/b8f9/t", "sid=b8f9 text", true},
		{"other words", "/s/x7k2/t", "one text", "/s/b8f9/t", "another text", false},
		{"order and repetition", "/1", "a b b a", "/1", "b a", true},
		{"titles", "/1", "<title>one</title>", "/2", "<title>two</title>", false},
		{"links", "/1", `<a href="/x">x</a>`, "/2", `<a href="/y">x</a>`, true},
		{"pictures", "/1", `<img src="1.jpg">`, "/2", `<img src="2.jpg">`, false},
		{"the same picture", "/1", `<img src="/a.jpg">`, "/2", `<img src="/a.jpg">`, true},
	} {
		a, b := sketch(c.path1, c.body1), sketch(c.path2, c.body2)
		if a == 0 || b == 0 || (a == b) != c.same {
			t.Errorf("%s: %x and %x, expected the same: %t", c.name, a, b, c.same)
		}
	}
	// The reader still reads texts.
	if f := r.Read("text/html", []byte("<p>some text")); f.Words != 2 || f.Hash == 0 {
		t.Errorf("after a sketch: %+v", f)
	}
}

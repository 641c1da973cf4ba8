package filename_test

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/filename"
)

// TestPicture: a picture has the name of its page, and no two pages have one name, nor a page that
// of a folder of another.
func TestPicture(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.test/":                     "a.test/index.png",
		"https://a.test/docs/intro":           "a.test/docs/intro.png",
		"https://a.test/docs/a.html":          "a.test/docs/a.html.png",
		"https://a.test/list?page=2":          "a.test/list@page=2.png",
		"https://a.test/caf%C3%A9":            "a.test/café.png",
		"http://a.test/":                      "a.test_80/index.png",
		"http://127.0.0.1:8080/x":             "127.0.0.1_8080/x.png",
		"http://[::1]/x":                      "[__1]_80/x.png",
		"https://a.test/index":                "a.test/index~",
		"https://a.test/a%2Fb":                "a.test/a%2Fb~",
		"https://a.test/a.png":                "a.test/a~",
		"https://a.test/a.png/b":              "a.test/~",
		"https://a.test/" + "x/../../../x%00": "a.test/",
	} {
		got := filename.Picture(url, "image/png")
		if got != want && (!strings.HasSuffix(want, "~") && !strings.HasSuffix(want, "/") || !strings.HasPrefix(got, want)) || path.Ext(got) != ".png" || path.Clean("/"+got) != "/"+got {
			t.Errorf("%s: %s, expected %s", url, got, want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "/", "/", ".png", ".html", "index", "@", "?", "%41", "%C3%A9", "%c3%a9", "~", "=", ".", "#", "%2F", "//"}
	of, folders := make(map[string]string), make(map[string]string)
	for range 100_000 {
		url := []string{"https://a.test", "http://a.test", "https://a.test:80"}[random.IntN(3)] + "/"
		for range random.IntN(6) {
			url += pieces[random.IntN(len(pieces))]
		}
		name := filename.Picture(url, "image/png")
		if other, had := of[name]; had && other != url {
			t.Fatalf("%s has %s and %s", name, other, url)
		}
		of[name] = url
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = url
		}
	}
	for name, url := range of {
		if folders[name] != "" {
			t.Errorf("%s of %s is a folder of %s", name, url, folders[name])
		}
	}
}

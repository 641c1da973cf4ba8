package fingerprint_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/cost"
	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// sites are documentation sites from Debian packages. The lists of their pages are in the folder
// $WEFT_BENCH (default: ../shared/bench next to the module).
var sites = []struct{ name, list, root string }{
	{"small", "urls-small.txt", "/usr/share/doc/python3.11/html"},
	{"medium", "urls-medium.txt", "/usr/share/doc/libboost1.81-doc/doc/html"},
}

// pagesOf reads all pages of a site; the test is skipped if it is not installed.
func pagesOf(t testing.TB, list, root string) (pages [][]byte, size int) {
	t.Helper()
	dir := os.Getenv("WEFT_BENCH")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "bench")
	}
	urls, err := os.ReadFile(filepath.Join(dir, list))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("list of pages: %v (set WEFT_BENCH)", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("site: %v (its Debian package is not installed)", err)
	}
	for line := range strings.FieldsSeq(string(urls)) {
		u, err := url.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.FromSlash(u.Path))
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "index.html")
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, body)
		size += len(body)
	}
	return pages, size
}

// TestSites: on every tenth page of both sites the text, furniture included, is that of the
// tokenizer of x/net, word for word, and one pass finds the links and the text that two find.
func TestSites(t *testing.T) {
	for _, s := range sites {
		t.Run(s.name, func(t *testing.T) {
			pages, size := pagesOf(t, s.list, s.root)
			words := 0
			for i := 0; i < len(pages); i += 10 {
				p := pages[i]
				whole := tokens(p)
				got, want := fingerprint.Whole(p), new(fingerprint.Reader).Read("text/plain", whole)
				if got != want {
					t.Errorf("page %d: %+v, expected %+v of %.100q…", i, got, want, whole)
				}
				words += want.Words
				page, found, f := both(new(fingerprint.Reader), links.Options{}, "text/html", string(p), 100)
				alone, those, _ := both(nil, links.Options{}, "text/html", string(p), 100)
				if !reflect.DeepEqual(page, alone) || !slices.Equal(found, those) || f != new(fingerprint.Reader).Read("text/html", p) {
					t.Errorf("page %d: %+v %+v, expected %+v %+v", i, page, f, alone, new(fingerprint.Reader).Read("text/html", p))
				}
			}
			t.Logf("a tenth of %d pages, %d bytes, %d words", len(pages), size, words)
		})
	}
}

// tokens returns the text of a page by the tokenizer of x/net, with a space for each tag. It sees
// none in noscript, like a browser with scripts.
func tokens(body []byte) (words []byte) {
	z := html.NewTokenizer(bytes.NewReader(bytes.ReplaceAll(body, []byte("noscript>"), []byte("p>"))))
	passed := ""
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch token := z.Token(); {
		case passed != "":
			if kind == html.EndTagToken && token.Data == passed {
				passed = ""
			}
		case kind == html.StartTagToken && slices.Contains([]string{"script", "style", "svg", "template", "textarea", "iframe", "noembed", "noframes"}, token.Data):
			passed = token.Data
		case kind == html.TextToken:
			words = append(append(words, token.Data...), ' ')
		}
	}
	return words
}

// BenchmarkSites reads the text of both sites, compared with extracting the links that a crawl
// follows, with both, and with the tokenizer of x/net counting words.
func BenchmarkSites(b *testing.B) {
	for _, s := range sites {
		pages, size := pagesOf(b, s.list, s.root)
		run := func(name string, read func(body []byte) int) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				n, m := 0, cost.Start(b)
				for b.Loop() {
					n = 0
					for _, p := range pages {
						n += read(p)
					}
				}
				b.ReportMetric(float64(n)/float64(len(pages)), "words/page")
				m.ReportBytes(b.N * size)
				m.Report(b.N*len(pages), "page")
			})
		}
		r := new(fingerprint.Reader)
		run("weft", func(body []byte) int { return r.Read("text/html", body).Words })
		hash := &fingerprint.Reader{HashOnly: true}
		run("hash", func(body []byte) int { return hash.Read("text/html", body).Words })
		base, err := weburl.Parse("http://site.example/")
		if err != nil {
			b.Fatal(err)
		}
		followed := links.KindsOf(links.KindPage, links.KindFrame, links.KindRedirect, links.KindCanonical, links.KindAlternate, links.KindFeed,
			links.KindNext, links.KindPrev, links.KindRelated, links.KindStyle)
		extractor := links.NewExtractor(links.Options{Kinds: followed, Bare: true})
		yield := func(links.Link) bool { return true }
		run("links", func(body []byte) int {
			extractor.Extract(links.Document{Base: base, ContentType: "text/html", Body: body}, yield)
			return 0
		})
		run("both", func(body []byte) int {
			_, f := hash.Extract(extractor, links.Document{Base: base, ContentType: "text/html", Body: body}, yield)
			return f.Words
		})
		run("tokenizer", func(body []byte) int {
			n := 0
			z := html.NewTokenizer(bytes.NewReader(body))
			for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
				if kind == html.TextToken {
					n += len(bytes.Fields(z.Text()))
				}
			}
			return n
		})
	}
}

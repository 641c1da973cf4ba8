package links

import (
	"bytes"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/cost"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// A site is a documentation site from a Debian package. The list of its pages is in the folder
// $WEFT_BENCH (default: ../shared/bench next to the module).
type site struct{ name, list, root string }

var sites = []site{
	{"small", "urls-small.txt", "/usr/share/doc/python3.11/html"},
	{"medium", "urls-medium.txt", "/usr/share/doc/libboost1.81-doc/doc/html"},
}

// A sitePage is a page of one.
type sitePage struct {
	url  string
	body []byte
}

// read returns every nth page of the site; the test is skipped if it is not installed.
func (s site) read(t testing.TB, n int) (pages []sitePage, size int64) {
	t.Helper()
	dir := os.Getenv("WEFT_BENCH")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "bench")
	}
	list, err := os.ReadFile(filepath.Join(dir, s.list))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("list of pages: %v (set WEFT_BENCH)", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.root); err != nil {
		t.Skipf("site %s: %v (its Debian package is not installed)", s.name, err)
	}
	for i, line := range strings.Fields(string(list)) {
		if i%n != 0 {
			continue
		}
		u, err := url.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.root, filepath.FromSlash(u.Path))
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "index.html")
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, sitePage{line, body})
		size += int64(len(body))
	}
	return pages, size
}

// tokenPlaces are the attributes that hold one URL.
var tokenPlaces = map[string][]string{
	"a": {"href"}, "area": {"href"}, "audio": {"src"}, "base": {"href"}, "button": {"formaction"}, "embed": {"src"}, "form": {"action"},
	"frame": {"src"}, "iframe": {"src"}, "img": {"src"}, "link": {"href"}, "object": {"data"}, "script": {"src"}, "source": {"src"},
	"track": {"src"}, "video": {"src", "poster"},
}

// tokenLinks returns the links of a page by the tokenizer of x/net: those of an attribute with one
// URL, as "tag attribute value". It is the oracle: it shares with this package only the tracking
// of SVG and MathML.
func tokenLinks(body []byte) (found []string) {
	z := html.NewTokenizer(bytes.NewReader(body))
	var f foreign
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			values := map[string]string{}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if _, dup := values[string(key)]; !dup {
					values[string(key)] = string(value)
				}
			}
			for _, attr := range tokenPlaces[tag] {
				if value, ok := values[attr]; ok {
					found = append(found, tag+" "+attr+" "+value)
				}
			}
			if f.start([]byte(tag), kind == html.SelfClosingTagToken) || tag == "noscript" || tag == "iframe" || tag == "noframes" {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			f.end(name)
		}
		z.AllowCDATA(f.sections())
	}
}

// resolved returns those of tokenLinks that are links, with their URLs, sorted: the first base
// counts, and empty values lead nowhere except on a and area.
func resolved(base weburl.URL, found []string) (links []string) {
	hasBase := false
	for _, l := range found {
		tag, rest, _ := strings.Cut(l, " ")
		attr, value, _ := strings.Cut(rest, " ")
		u, err := base.Resolve(value)
		switch {
		case tag == "base" && hasBase:
		case tag == "base":
			if hasBase = true; err == nil && u.Scheme() != "data" && u.Scheme() != "javascript" {
				base = u
			}
		case strings.Trim(value, markup.WhiteSpace) == "" && tag != "a" && tag != "area":
		case err == nil && u.IsHTTP():
			links = append(links, tag+" "+attr+" "+value+" "+u.String())
		}
	}
	slices.Sort(links)
	return links
}

// compareLinks compares the links of Extract that are alone in an attribute of HTML with those of
// the tokenizer, and returns their number.
func compareLinks(t testing.TB, base weburl.URL, body []byte) int {
	t.Helper()
	var got []string
	Extract(base, "text/html", body, func(l Link) bool {
		if slices.Contains(tokenPlaces[l.Tag], l.Attr) {
			got = append(got, l.Tag+" "+l.Attr+" "+l.Raw+" "+l.URL.String())
		}
		return true
	})
	slices.Sort(got)
	if want := resolved(base, tokenLinks(body)); !slices.Equal(got, want) {
		t.Errorf("%s: %.200q: got %.1000q\nwant %.1000q", base, body, got, want)
	}
	return len(got)
}

// TestSites: on the pages of both sites, every fortieth in a short run, the scanner finds the tags
// and attributes that the tokenizer of x/net finds, and Extract the links.
func TestSites(t *testing.T) {
	for _, s := range sites {
		t.Run(s.name, func(t *testing.T) {
			pages, size := s.read(t, long.Or(40, 1))
			n := 0
			for _, p := range pages {
				compareWithNet(t, p.body)
				n += compareLinks(t, mustParse(t, p.url), p.body)
			}
			t.Logf("%d pages, %d bytes, %d links", len(pages), size, n)
		})
	}
}

// BenchmarkSites reads the pages of both sites: the scanner and the elements that
// matter (mentions), whole extraction as a plain crawl has it and as hooks have it, and
// the tokenizer of x/net, collecting the same raw links.
func BenchmarkSites(b *testing.B) {
	for _, s := range sites {
		pages, size := s.read(b, 1)
		bases := make([]weburl.URL, len(pages))
		for i, p := range pages {
			bases[i] = mustParse(b, p.url)
		}
		run := func(name string, read func(base weburl.URL, body []byte) int) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				b.SetBytes(size)
				n, m := 0, cost.Start(b)
				for b.Loop() {
					n = 0
					for i := range pages {
						n += read(bases[i], pages[i].body)
					}
				}
				b.ReportMetric(float64(n), "links")
				m.ReportBytes(b.N * int(size))
				m.Report(b.N*len(pages), "page")
				m.Report(b.N*n, "link")
			})
		}
		run("tokenizer", func(_ weburl.URL, body []byte) int { return countTokenLinks(body) })
		count := 0
		scan := NewExtractor(Options{})
		run("mentions", func(_ weburl.URL, body []byte) int {
			count = 0
			scan.Mentions("text/html", body, func(Mention) bool { count++; return true })
			return count
		})
		yield := func(Link) bool { count++; return true }
		followed := KindsOf(KindPage, KindFrame, KindRedirect, KindCanonical, KindAlternate, KindFeed, KindNext, KindPrev, KindRelated)
		for _, o := range []Options{{Bare: true, Kinds: followed}, {}} {
			x := NewExtractor(o)
			name := "everything"
			if o.Bare {
				name = "crawl"
			}
			run(name, func(base weburl.URL, body []byte) int {
				count = 0
				x.Extract(Document{Base: base, ContentType: "text/html", Body: body}, yield)
				return count
			})
		}
	}
}

// countTokenLinks counts the links of tokenLinks, without copies.
func countTokenLinks(body []byte) (n int) {
	z := html.NewTokenizer(bytes.NewReader(body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, more := z.TagName()
		attrs := tokenPlaces[string(name)]
		if attrs == nil {
			continue
		}
		for more {
			var key []byte
			key, _, more = z.TagAttr()
			if slices.Contains(attrs, string(key)) {
				n++
			}
		}
	}
	return n
}

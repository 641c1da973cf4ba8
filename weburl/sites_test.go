package weburl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
	"golang.org/x/net/html"
)

// sitePage is a page of a documentation site with the values of its href and src attributes,
// concatenated as in a page: otherwise a benchmark would mostly wait for memory, and collect
// garbage among 350,000 strings.
type sitePage struct {
	base URL
	text string
	ends []int32
}

func (p sitePage) refs(yield func(string) bool) {
	begin := int32(0)
	for _, end := range p.ends {
		if !yield(p.text[begin:end]) {
			return
		}
		begin = end
	}
}

// siteLinks reads the pages of the two documentation sites that whole-crawl benchmarks use:
// Debian's python3.11-doc and libboost1.81-doc. $WEFT_BENCH has the lists of their URLs, by
// default ../shared/bench beside the module. Of every so many pages it reads one.
func siteLinks(tb testing.TB, every int) []sitePage {
	tb.Helper()
	bench := os.Getenv("WEFT_BENCH")
	if bench == "" {
		bench = "../../shared/bench" // tests run in the folder of their package
	}
	var pages []sitePage
	n := 0
	for _, site := range [][2]string{
		{"small", "/usr/share/doc/python3.11/html"},
		{"medium", "/usr/share/doc/libboost1.81-doc/doc/html"},
	} {
		name, root := site[0], site[1]
		if _, err := os.Stat(root); err != nil {
			tb.Skipf("missing: the pages of the %s site: %v", name, err)
		}
		list, err := os.ReadFile(filepath.Join(bench, "urls-"+name+".txt"))
		if err != nil {
			tb.Skipf("missing: the list of the %s site's pages (set WEFT_BENCH): %v", name, err)
		}
		for line := range strings.Lines(string(list)) {
			if n++; n%every > 0 {
				continue
			}
			base := mustParse(tb, strings.TrimSpace(line))
			path := decode(base.Path())
			if strings.HasSuffix(path, "/") {
				path += "index.html"
			}
			body, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				tb.Fatal(err)
			}
			page := sitePage{base: base}
			var text []byte
			for _, ref := range refsOf(body) {
				text = append(text, ref...)
				page.ends = append(page.ends, int32(len(text)))
			}
			page.text = string(text)
			pages = append(pages, page)
		}
	}
	return pages
}

func refsOf(page []byte) []string {
	var refs []string
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return refs
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range tokens.Token().Attr {
				if a.Key == "href" || a.Key == "src" {
					refs = append(refs, a.Val)
				}
			}
		}
	}
}

// TestSites checks that on two real sites, on every tenth page in a short run, the fast path makes
// of every link what the parser of the standard makes of it, takes nearly all of them, and does not
// allocate for each.
func TestSites(t *testing.T) {
	var r Resolver
	links, fell := 0, 0
	pages := siteLinks(t, long.Or(10, 1))
	for _, page := range pages {
		r.Reset(page.base)
		base := basePageOf(page.base)
		for ref := range page.refs {
			links++
			if _, ok := appendPlain(nil, new(URL), &base, ref); !ok {
				fell++
			}
			want, wantErr := parse(ref, page.base, "")
			got, err := r.ResolveString(ref)
			if got != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("%q on %q: got %q, %v; want %q, %v", ref, page.base, got, err, want, wantErr)
			}
		}
	}
	t.Logf("%d links, %d not by the fast path", links, fell)
	if fell > links/20 {
		t.Errorf("%d of %d links not by the fast path, expected 5 %% at most", fell, links)
	}
	memo := NewMemo(1<<12, 0)
	allocs := testing.AllocsPerRun(1, func() {
		for _, page := range pages {
			r.Reset(page.base)
			for ref := range page.refs {
				if u, err := r.ResolveString(ref); err == nil {
					memo.Add(u, 0)
				}
			}
		}
	}) / float64(links)
	t.Logf("%.3f allocations a link, resolved, canonical and with its fingerprint", allocs)
	if allocs > 0.2 {
		t.Errorf("%.3f allocations a link, expected 0.2 at most", allocs)
	}
}

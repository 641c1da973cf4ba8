// Command text measures which pages the fingerprints of package text take for duplicates.
//
//	CGO_ENABLED=0 go -C bench run ./text LIST ROOT
//
// LIST holds the URLs of a site's pages, one per line; ROOT is the folder of the site.
package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/fingerprint"
	"golang.org/x/net/html"
)

// page is a page of a site.
type page struct {
	name string
	body []byte
	fingerprint.Fingerprint
	shingles map[string]bool // of three words, by the tokenizer of x/net
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: text LIST ROOT")
		os.Exit(2)
	}
	pages, err := read(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	compare(pages)
	change(pages)
}

// read reads the distinct pages of a site.
func read(list, root string) (pages []*page, err error) {
	urls, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	r := new(fingerprint.Reader)
	known := make(map[string]bool)
	all := 0
	for line := range strings.FieldsSeq(string(urls)) {
		u, err := url.Parse(line)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(root, filepath.FromSlash(u.Path))
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "index.html")
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if all++; known[string(body)] {
			continue
		}
		known[string(body)] = true
		pages = append(pages, &page{name: u.Path, body: body, Fingerprint: r.Read("text/html", body)})
	}
	fmt.Printf("%d pages, %d of them distinct.\n\n", all, len(pages))
	return pages, nil
}

// words returns the words of a page's text, navigation included.
func (p *page) words() (words []string) {
	z := html.NewTokenizer(bytes.NewReader(p.body))
	passed := ""
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch token := z.Token(); {
		case kind == html.StartTagToken && (token.Data == "script" || token.Data == "style"):
			passed = token.Data
		case kind == html.EndTagToken && token.Data == passed:
			passed = ""
		case kind == html.TextToken && passed == "":
			words = append(words, strings.Fields(token.Data)...)
		}
	}
	return words
}

// alike is the similarity of two pages: the share of common shingles (Jaccard), 0 to 1.
func alike(a, b *page) float64 {
	for _, p := range []*page{a, b} {
		if p.shingles == nil {
			p.shingles = make(map[string]bool)
			words := p.words()
			for i := range max(0, len(words)-2) {
				p.shingles[strings.Join(words[i:i+3], " ")] = true
			}
		}
	}
	both := 0
	for s := range a.shingles {
		if b.shingles[s] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a.shingles)+len(b.shingles)-both))
}

// compare prints, for all pairs of pages by simhash distance, how similar they are by shingles.
func compare(pages []*page) {
	const far = 12
	type pairs struct {
		n      int
		alike  [5]int // ≥ 0.95, ≥ 0.9, ≥ 0.8, ≥ 0.5, less
		sample string
		least  float64
	}
	var at [far + 1]pairs
	bounds := []float64{0.95, 0.9, 0.8, 0.5, 0}
	none, sameHash := 0, 0
	for i, p := range pages {
		if p.Simhash == 0 {
			none++
		}
		for _, q := range pages[:i] {
			if p.Hash == q.Hash && p.Hash != 0 {
				sameHash++
			}
			if p.Simhash == 0 || q.Simhash == 0 {
				continue
			}
			d := fingerprint.Distance(p.Simhash, q.Simhash)
			if d > far {
				continue
			}
			share := alike(p, q)
			x := &at[d]
			if x.n++; x.n == 1 || share < x.least {
				x.least, x.sample = share, p.name+" "+q.name
			}
			x.alike[slices.IndexFunc(bounds, func(b float64) bool { return share >= b })]++
		}
	}
	fmt.Printf("%d of these have no simhash; %d pairs share a text hash.\n\n", none, sameHash)
	fmt.Println("| distance | pairs | shared ≥ 95 % | ≥ 90 % | ≥ 80 % | ≥ 50 % | less | least alike |\n|---|---|---|---|---|---|---|---|")
	for d, x := range at {
		if x.n > 0 {
			fmt.Printf("| %d | %d | %d | %d | %d | %d | %d | %.0f %%: %s |\n", d, x.n, x.alike[0], x.alike[1], x.alike[2], x.alike[3], x.alike[4], 100*x.least, x.sample)
		}
	}
	fmt.Println()
}

// changes are edits of a page.
var changes = []struct {
	name string
	make func(random *rand.Rand, body []byte) []byte
}{
	{"another nav", func(_ *rand.Rand, b []byte) []byte {
		return inBody(b, "<nav><ul><li><a href=/>Home</a><li><a href=/news>News and events</a></ul></nav>")
	}},
	{"a date", func(_ *rand.Rand, b []byte) []byte { return inBody(b, "<p>Saturday, November 21, 2026, 22:15 UTC</p>") }},
	{"3 words of an advertisement", func(_ *rand.Rand, b []byte) []byte { return inBody(b, "<div class=ad>Buy now cheap!</div>") }},
	{"12 words of an advertisement", func(_ *rand.Rand, b []byte) []byte {
		return inBody(b, "<div class=ad>The best socks in town at half the price only until Sunday</div>")
	}},
	{"one word", func(random *rand.Rand, b []byte) []byte { return replace(random, b, "weft") }},
	{"a sentence more", func(random *rand.Rand, b []byte) []byte {
		return replace(random, b, "and here a sentence of fifteen words was put in by somebody who edits this page.")
	}},
}

// inBody inserts markup at the start of a page's body.
func inBody(b []byte, markup string) []byte {
	at := max(0, bytes.Index(b, []byte("<body")))
	at += bytes.IndexByte(b[at:], '>') + 1
	return slices.Concat(b[:at], []byte(markup), b[at:])
}

// replace replaces a word of the main text, between two spaces.
func replace(random *rand.Rand, b []byte, by string) []byte {
	r := new(fingerprint.Reader)
	was := r.Read("text/html", b)
	for range 1000 {
		from := random.IntN(len(b))
		from += bytes.IndexByte(b[from:], ' ') + 1
		n := bytes.IndexByte(b[from:], ' ')
		if n < 1 || bytes.ContainsAny(b[from:from+n], "<>&\"='") {
			continue
		}
		if changed := slices.Concat(b[:from], []byte(by), b[from+n:]); r.Read("text/html", changed).Hash != was.Hash {
			return changed
		}
	}
	return b
}

// change prints how often changed pages keep their fingerprints.
func change(pages []*page) {
	sizes := []int{64, 128, 256, 512, 1024, 1 << 30}
	fmt.Print("| change | same text hash |")
	for i, n := range sizes[:len(sizes)-1] {
		next := fmt.Sprintf(" to %d", sizes[i+1]-1)
		if i == len(sizes)-2 {
			next = " words and more"
		}
		fmt.Printf(" near, of %d%s |", n, next)
	}
	fmt.Println("\n|---|---|" + strings.Repeat("---|", len(sizes)-1))
	r := new(fingerprint.Reader)
	for _, c := range changes {
		random := rand.New(rand.NewPCG(1, 2))
		var same, all int
		near, of := make([]int, len(sizes)), make([]int, len(sizes))
		for _, p := range pages {
			if p.Simhash == 0 {
				continue
			}
			f := r.Read("text/html", c.make(random, p.body))
			if all++; f.Hash == p.Hash {
				same++
			}
			i := 0
			for p.Words >= sizes[i+1] {
				i++
			}
			if of[i]++; f.Simhash != 0 && fingerprint.Distance(f.Simhash, p.Simhash) <= fingerprint.Near {
				near[i]++
			}
		}
		fmt.Printf("| %s | %.1f %% |", c.name, 100*float64(same)/float64(max(1, all)))
		for i := range sizes[:len(sizes)-1] {
			fmt.Printf(" %.1f %% of %d |", 100*float64(near[i])/float64(max(1, of[i])), of[i])
		}
		fmt.Println()
	}
}

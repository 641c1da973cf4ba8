package refs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/weftcrawl/weft/weburl"
)

func target(n int) weburl.URL {
	u, err := weburl.Parse(fmt.Sprintf("http://example.org/%d", n))
	if err != nil {
		panic(err)
	}
	return u
}

func targets(numbers ...int) (t Targets) {
	for _, n := range numbers {
		t.Add(target(n).Fingerprint())
	}
	return t
}

// found returns which pages lead to which of the targets, in order: "3: /a, /b (redirect)".
func found(t *testing.T, file []byte, most int, numbers ...int) (text string, cut bool) {
	t.Helper()
	keys := make([]Key, len(numbers))
	for i, n := range numbers {
		keys[i] = KeyOf(target(n))
	}
	pages := make([][]string, len(numbers))
	cut, err := each(bytes.NewReader(file), keys, most, func(i int, p Page) {
		line := p.URL
		if p.By != "" {
			line += " (" + string(p.By) + ")"
		}
		pages[i] = append(pages[i], line)
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, n := range numbers {
		slices.Sort(pages[i])
		fmt.Fprintf(&b, "%d: %s\n", n, strings.Join(pages[i], ", "))
	}
	return b.String(), cut
}

// TestReferrers checks what is found of the entries of two visits, read in one pass or in several.
func TestReferrers(t *testing.T) {
	w := NewWriter(0, MaxSize)
	first := Append(nil, "/a", Links, false, targets(1, 2, 1))
	first = Append(first, "/b", Redirect, false, targets(2))
	first = Append(first, "/map", Sitemap, false, targets(1, 2, 3))
	file := w.Pack(first)
	file = append(file, w.Pack(Append(nil, "/c", Links, false, targets(2)))...)
	second := Append(nil, "/a", Links, true, targets(3))
	second = Append(second, "/c", Links, true, nil)
	second = Append(second, "/d", Links, true, targets(3))
	file = append(file, w.Pack(second)...)
	want := "1: /map (sitemap)\n2: /b (redirect), /map (sitemap)\n3: /a, /d, /map (sitemap)\n4: \n2: /b (redirect), /map (sitemap)\n"
	for _, most := range []int{mostAgain, 2, 1} {
		if got, cut := found(t, file, most, 1, 2, 3, 4, 2); got != want || cut {
			t.Errorf("at most %d pages a pass: got\n%s\nexpected\n%s", most, got, want)
		}
	}
	for n := range file { // as a crawl that writes it leaves it
		found(t, file[:n], mostAgain, 1)
	}
}

// TestBound checks that a file ends at its bound and says so, in later runs, too.
func TestBound(t *testing.T) {
	const most = 100
	var file []byte
	for range 3 { // runs
		w := NewWriter(int64(len(file)), most)
		for i := range 10 {
			file = append(file, w.Pack(Append(nil, fmt.Sprintf("/%d", i), Links, false, targets(1)))...)
		}
	}
	got, cut := found(t, file, mostAgain, 1)
	if !cut || len(file) > 2*most || !strings.HasPrefix(got, "1: /0, /1, /2") {
		t.Errorf("%d bytes, cut %t: %s", len(file), cut, got)
	}
}

// TestSharedLinks checks that pages which share most of their links take little more than the
// others.
func TestSharedLinks(t *testing.T) {
	var numbers []int
	for i := range 100 {
		numbers = append(numbers, i)
	}
	const pages = 2000
	var all []byte
	for i := range pages {
		all = Append(all, fmt.Sprintf("http://example.org/manual/page-%d.html", i), Links, false, targets(append(numbers, 1000+i)...))
	}
	file := NewWriter(0, MaxSize).Pack(all)
	if per := len(file) / pages; per > 60 {
		t.Errorf("%d bytes a page", per)
	}
	n := 0
	if _, err := Each(bytes.NewReader(file), []Key{KeyOf(target(7))}, func(int, Page) { n++ }); err != nil || n != pages {
		t.Errorf("%d pages found, %v", n, err)
	}
}

// FuzzEach checks that no file makes a search panic, nor take more passes than its entries need.
func FuzzEach(f *testing.F) {
	w := NewWriter(0, MaxSize)
	file := w.Pack(Append(Append(nil, "/a", Links, false, targets(1, 2)), "/a", Redirect, true, targets(1)))
	f.Add(file)
	f.Add(append(slices.Clone(file), 0))
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{1, 200, 1, 0})
	f.Fuzz(func(_ *testing.T, file []byte) {
		_, _ = Each(bytes.NewReader(file), []Key{KeyOf(target(1)), 0}, func(int, Page) {})
	})
}

// TestDamaged: what stands in blocks that are not damaged is found, and the damage is reported.
func TestDamaged(t *testing.T) {
	w := NewWriter(0, MaxSize)
	var blocks [][]byte
	for _, page := range []string{"/a", "/b", "/c"} {
		entries := Append(nil, page, Links, false, targets(1))
		blocks = append(blocks, w.Pack(Append(entries, page+"again", Links, true, targets(1))))
	}
	for name, c := range map[string]struct {
		damaged []byte
		want    string
	}{
		"compressed text": {slices.Concat(blocks[1][:4], bytes.Repeat([]byte{0xff}, len(blocks[1])-4)), "/a /aagain /c /cagain"},
		"entry":           {append(binary.AppendUvarint(nil, uint64(len(s2.Encode(nil, []byte{0xff})))), append([]byte{0}, s2.Encode(nil, []byte{0xff})...)...), "/a /aagain /c /cagain"},
		"again":           {append([]byte{blocks[1][0], 9}, blocks[1][2:]...), "/a /aagain /b /bagain /c /cagain"},
		"length":          {bytes.Repeat([]byte{0xff}, 12), "/a /aagain"},
	} {
		var pages []string
		_, err := Each(bytes.NewReader(slices.Concat(blocks[0], c.damaged, blocks[2])), []Key{KeyOf(target(1))}, func(_ int, p Page) { pages = append(pages, p.URL) })
		if got := strings.Join(pages, " "); got != c.want || err == nil {
			t.Errorf("%s: %q, %v, expected %q", name, got, err, c.want)
		}
	}
}

// TestPipe: a job from elsewhere may have a pipe in the place of the file. Nobody writes to it.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, File), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(dir, nil, 1); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Error(err)
	}
}

package duplicates_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/fingerprint"
)

// page returns a page with a URL of its own.
func page(content, simhash uint64) duplicates.Page {
	return duplicates.Page{Content: content, Simhash: simhash, URL: fmt.Sprintf("http://h/%x", content)}
}

func TestJudge(t *testing.T) {
	x := duplicates.New(100)
	const sim = 0x0123_4567_89ab_cdef
	for _, c := range []struct {
		name       string
		page       duplicates.Page
		same, near string
	}{
		{"the first", page(1, sim), "", ""},
		{"the same", duplicates.Page{Content: 1, Simhash: sim, URL: "http://h/other"}, "http://h/1", ""},
		{"one bit", page(2, sim^1), "", "http://h/1"},
		{"three bits, in three blocks", page(3, sim^(1|1<<20|1<<40)), "", "http://h/1"},
		{"three bits, in one block", page(4, sim^(7<<60)), "", "http://h/1"},
		{"four bits", page(5, sim^(1|1<<20|1<<40|1<<60)), "", ""},
		{"nearer to the second first", page(6, sim^(1<<20|1<<40|1<<60)), "", "http://h/5"},
		{"identical to a near page", page(2, sim^1), "http://h/2", ""},
		{"near to a near page", page(7, sim^(1|1<<20|1<<40|1<<41)), "", "http://h/5"},
		{"no simhash", page(8, 0), "", ""},
		{"no simhash either", page(9, 0), "", ""},
		{"few bits, of none", page(10, 1), "", ""},
	} {
		v := x.Judge(c.page)
		if v.Same != c.same || v.Near != c.near || (v.Seq != 0) != (c.same == "") {
			t.Errorf("%s: %+v, expected the same as %q, near %q", c.name, v, c.same, c.near)
		}
	}
}

// random returns a page with one of few contents and a simhash near one of few.
func random(r *rand.Rand) duplicates.Page {
	p := page(uint64(r.IntN(400)), 0)
	if r.IntN(4) > 0 {
		p.Simhash = uint64(1+r.IntN(20)) * 0x9e37_79b9_7f4a_7c15
		for range r.IntN(6) {
			p.Simhash ^= 1 << r.IntN(64)
		}
	}
	return p
}

// TestModel compares an index with a list that is searched from end to end.
func TestModel(t *testing.T) {
	const capacity = 50
	r := rand.New(rand.NewPCG(1, 2))
	x := duplicates.New(capacity)
	var list []duplicates.Page
	for i := range 20_000 {
		p := random(r)
		v := x.Judge(p)
		same, near, distance := "", "", fingerprint.Near+1
		for _, q := range list[max(0, len(list)-capacity):] {
			if q.Content == p.Content {
				same = q.URL
			}
			if d := fingerprint.Distance(q.Simhash, p.Simhash); q.Simhash != 0 && p.Simhash != 0 && d < distance {
				near, distance = q.URL, d
			}
		}
		if same == "" {
			if near != "" {
				p.Simhash = 0
			}
			list = append(list, p)
		} else {
			near = ""
		}
		if v.Same != same || v.Near != near {
			t.Fatalf("page %d, %+v: %+v, expected the same as %q, near %q", i, p, v, same, near)
		}
		if same == "" && (v.Seq != uint64(len(list)) || v.Left != uint64(max(0, len(list)-capacity)) || v.Taken != p) {
			t.Fatalf("page %d: %+v, expected Seq %d", i, v, len(list))
		}
	}
}

// TestRestore checks that an index with the additions of another, except for some lost ones,
// returns the same verdicts.
func TestRestore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := duplicates.New(50)
	kept := make(map[uint64]duplicates.Page)
	last := uint64(0)
	for range 5000 {
		v := x.Judge(random(r))
		if v.Seq != 0 {
			last = v.Seq
			kept[v.Seq] = v.Taken
			delete(kept, v.Left)
		}
	}
	if len(kept) != 50 {
		t.Fatalf("%d pages are kept, expected as many as there are in the index", len(kept))
	}
	again := duplicates.New(50)
	again.Restore(1, page(1, 1))
	for seq := range last {
		if p, ok := kept[seq+1]; ok {
			again.Restore(seq+1, p)
		}
	}
	again.Restore(last, page(1, 1)) // out of order
	for i := range 5000 {
		p := random(r)
		if v, want := again.Judge(p), x.Judge(p); v != want {
			t.Fatalf("page %d: %+v, expected %+v", i, v, want)
		}
	}

	lost := duplicates.New(50)
	lost.Restore(7, page(1, 0))
	lost.Restore(20, page(2, 0))
	lost.Restore(56, page(3, 0))
	for content, want := range map[uint64]string{1: "http://h/1", 2: "http://h/2", 3: "http://h/3"} {
		if v := lost.Judge(page(content, 0)); v.Same != want {
			t.Errorf("content %d: %+v, expected %s", content, v, want)
		}
	}
	if v := lost.Judge(page(4, 0)); v.Seq != 57 || v.Left != 7 {
		t.Errorf("%+v, expected Seq 57, and 7 to have left", v)
	}
}

// TestCrowd checks that of simhashes that all share a block the latest ones are found by it.
func TestCrowd(t *testing.T) {
	x := duplicates.New(100_000)
	r := rand.New(rand.NewPCG(5, 6))
	var last duplicates.Page
	for i := range 50_000 {
		p := page(uint64(i), r.Uint64()<<16|0xbeef)
		if x.Judge(p).Near == "" {
			last = p
		}
	}
	if v := x.Judge(page(1<<40, last.Simhash^1<<63)); v.Near != last.URL {
		t.Errorf("%+v, expected near %s", v, last.URL)
	}
}

// BenchmarkCrowd measures the cost of pages whose simhashes all share two blocks.
func BenchmarkCrowd(b *testing.B) {
	x := duplicates.New(1 << 17)
	url := strings.Repeat("u", 60)
	i := uint64(0)
	for b.Loop() {
		i++
		x.Judge(duplicates.Page{Content: i * 0x9e37_79b9_7f4a_7c15, Simhash: i*0x9e37_79b9_7f4a_7c15<<32 | 0xbeef_beef, URL: url})
	}
}

// TestMemory checks that an index takes what doc.go says, whether URLs are long or short.
func TestMemory(t *testing.T) {
	const capacity = 100_000
	for name, url := range map[string]string{"short URLs": strings.Repeat("u", 100), "long URLs": strings.Repeat("u", 10_000)} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := duplicates.New(capacity)
		for i := range uint64(2 * capacity) {
			x.Judge(duplicates.Page{Content: i, Simhash: i * 0x9e37_79b9_7f4a_7c15, URL: url})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := int(after.HeapAlloc) - int(before.HeapAlloc)
		if most := capacity*(64+128)*5/4 + 2<<20; used > most { // append takes up to a quarter more
			t.Errorf("%s: %d bytes, expected at most %d", name, used, most)
		}
		if x.Judge(duplicates.Page{Content: 2*capacity - 1}).Same != url {
			t.Errorf("%s: the last page is not there", name)
		}
		t.Logf("%s: %d bytes a page", name, used/capacity)
	}
}

// TestShared checks that loops that share an index agree on which page was first.
func TestShared(t *testing.T) {
	x := duplicates.New(10_000)
	var originals [4][]string
	var wait sync.WaitGroup
	for i := range originals {
		originals[i] = make([]string, 1000)
		wait.Go(func() {
			for c := range originals[i] {
				p := duplicates.Page{Content: uint64(c), URL: fmt.Sprint(i)}
				if originals[i][c] = p.URL; x.Judge(p).Seq == 0 {
					originals[i][c] = x.Judge(p).Same
				}
			}
		})
	}
	wait.Wait()
	for i := range originals[1:] {
		if !reflect.DeepEqual(originals[0], originals[i+1]) {
			t.Errorf("loops 0 and %d name different pages", i+1)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x := duplicates.New(1 << 17)
	url := strings.Repeat("u", 60)
	b.ReportAllocs()
	for b.Loop() {
		x.Judge(duplicates.Page{Content: r.Uint64(), Simhash: r.Uint64(), URL: url})
	}
}

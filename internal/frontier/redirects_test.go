package frontier

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

// TestHopsAreBounded checks that the hops of only so many URLs are kept, and that a chain of
// redirects through others ends as well.
func TestHopsAreBounded(t *testing.T) {
	const most = 2
	f := New(Config{MaxRedirects: most})
	for i := range maxReached {
		var fp fingerprint
		binary.BigEndian.PutUint64(fp[:], uint64(i))
		if f.agenda.redirects.reached(fp, 1) == nil {
			t.Fatalf("no room for the hops of the %dth URL", i+1)
		}
	}
	at := func(path string, hops int) URL {
		u, err := weburl.Parse("http://a.test/" + path)
		if err != nil {
			t.Fatal(err)
		}
		return URL{URL: u, Hops: hops}
	}
	if !f.Add(at("1", 1)) || len(f.agenda.redirects.hops) > maxReached {
		t.Errorf("the hops of %d URLs are kept, expected at most %d", len(f.agenda.redirects.hops), maxReached)
	}
	if !f.Redirect(at("1", 1), at("2", 0)) || f.Redirect(at("2", most), at("3", 0)) {
		t.Errorf("more than %d redirects in a row are followed, or fewer", most)
	}
}

// TestLinkedLater: a URL that another node has found over redirects, and that is linked before it
// redirects itself, counts as linked.
func TestLinkedLater(t *testing.T) {
	f := New(Config{MaxRedirects: 1, Partition: func(string) int { return 0 }, Ours: []int{0}})
	at := func(path string, hops int) URL {
		u, err := weburl.Parse("http://a.test/" + path)
		if err != nil {
			t.Fatal(err)
		}
		return URL{URL: u, From: "http://b.test/", Hops: hops}
	}
	f.Add(at("1", 1))
	f.Add(at("2", 1))
	f.Add(at("1", 0))
	if !f.Redirect(at("1", 1), at("3", 0)) || f.Redirect(at("2", 1), at("4", 0)) {
		t.Error("expected that only what is linked is followed")
	}
	if len(f.agenda.redirects.hops) != 2 { // of 2 and 3
		t.Errorf("the hops of %d URLs are kept", len(f.agenda.redirects.hops))
	}
}

// TestTargetsAreBounded checks that the middles of chains of redirects take only so much memory,
// however long their URLs are.
func TestTargetsAreBounded(t *testing.T) {
	const chains, hops = 300, 9
	long := strings.Repeat("x", 2000)
	f := New(Config{MaxRedirects: hops})
	for i := range chains * hops {
		at := func(i int) URL {
			u, err := weburl.Parse(fmt.Sprintf("http://a.test/%d/%s", i, long))
			if err != nil {
				t.Fatal(err)
			}
			return URL{URL: u, From: "http://a.test/" + long, Hops: i % hops}
		}
		f.Redirect(at(i), at(i+1))
		held := 0
		for _, h := range f.agenda.redirects.hops {
			if h.target != nil && i%100 == 0 {
				held += h.target.cost()
			}
		}
		if i%100 == 0 && held != f.agenda.redirects.bytes || f.agenda.redirects.bytes > maxTargets {
			t.Fatalf("%d: targets of %d bytes are kept, counted as %d", i, held, f.agenda.redirects.bytes)
		}
	}
	if f.agenda.redirects.bytes < maxTargets/2 {
		t.Errorf("%d bytes are kept, expected about %d", f.agenda.redirects.bytes, maxTargets)
	}
}

// TestHopsThatMoved checks that a frontier that starts again counts the redirects to a URL that
// came with its partition, which is all that it knows of the way there.
func TestHopsThatMoved(t *testing.T) {
	const most = 2
	f := Restore(Config{MaxRedirects: most, Partition: func(string) int { return 0 }, Ours: []int{0}}).Frontier()
	at := func(path string, hops int) URL {
		u, err := weburl.Parse("http://a.test/" + path)
		if err != nil {
			t.Fatal(err)
		}
		return URL{URL: u, From: "http://a.test/", Hops: hops}
	}
	if f.Redirect(at("1", most), at("2", 0)) || !f.Redirect(at("3", most-1), at("4", 0)) {
		t.Errorf("more than %d redirects in a row are followed, or fewer", most)
	}
}

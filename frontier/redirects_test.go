package frontier

import (
	"encoding/binary"
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
		if f.redirects.reached(fp, 1) == nil {
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
	if !f.Add(at("1", 1)) || len(f.redirects.hops) > maxReached {
		t.Errorf("the hops of %d URLs are kept, expected at most %d", len(f.redirects.hops), maxReached)
	}
	if !f.Redirect(at("1", 1), at("2", 0)) || f.Redirect(at("2", most), at("3", 0)) {
		t.Errorf("more than %d redirects in a row are followed, or fewer", most)
	}
}

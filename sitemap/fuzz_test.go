package sitemap

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/golden"
)

// FuzzRead: whatever the bytes, entries are as documented and within the limits, and a second
// reading yields the same. A body that is cut yields a prefix of the pages and sitemaps of the
// whole, if it is ASCII (or another encoding might be detected) and still of the same format.
func FuzzRead(f *testing.F) {
	for _, body := range golden.Inputs(f, "testdata/*.txt", golden.DoubleRule) {
		f.Add([]byte(body), "text/xml", uint16(len(body)/2))
	}
	f.Add(zip(f, two), "application/gzip", uint16(30))
	f.Add(inUTF16(two, true), "", uint16(30))
	o := Options{MaxSize: 1 << 16, MaxEntries: 100, MaxURL: 1000}
	f.Fuzz(func(t *testing.T, body []byte, contentType string, cut uint16) {
		read := func(body []byte) (entries []Entry, r Result) {
			d := Document{Base: parse(t, siteURL), ContentType: contentType, Body: body}
			r = Read(d, o, func(e Entry) bool { entries = append(entries, e); return true })
			return entries, r
		}
		all, r := read(body)
		if len(all) != r.Entries || len(all) > o.MaxEntries {
			t.Fatalf("%d entries, result %+v", len(all), r)
		}
		if r.Read < 0 || r.Read > 3*o.MaxSize {
			t.Fatalf("read %d bytes of text", r.Read)
		}
		for _, e := range all {
			if !e.URL.IsHTTP() || !(e.Priority >= 0 && e.Priority <= 1) || len(e.LastMod) > maxLastMod || e.Kind > Sitemap {
				t.Fatalf("entry %+v", e)
			}
		}
		if again, s := read(body); !reflect.DeepEqual(all, again) || s.Read != r.Read {
			t.Fatalf("not the same again: %v, %v", all, again)
		}
		ascii := strings.IndexFunc(string(body), func(c rune) bool { return c >= 0x80 || c == 0 || c == 0x1b }) < 0
		if !ascii || len(body) == 0 || strings.Contains(contentType, ";") {
			return
		}
		part, s := read(body[:int(cut)%len(body)])
		if s.Type != r.Type || r.Type == Text { // whose last line may be half a URL
			return
		}
		// Alternates come before the page that is cut.
		isAlternate := func(e Entry) bool { return e.Kind == Alternate }
		all, part = slices.DeleteFunc(all, isAlternate), slices.DeleteFunc(part, isAlternate)
		for i, e := range part {
			if i >= len(all) || e.URL != all[i].URL || e.Kind != all[i].Kind {
				t.Fatalf("cut off, entry %d is %v, of the whole %v", i, part, all)
			}
		}
	})
}

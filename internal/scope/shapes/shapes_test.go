package shapes_test

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/weburl"
)

func parse(t *testing.T, href string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(href)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"/":                            "/",
		"/cal/2026/11/":                "/cal/#/#/",
		"/cal/2026-11-22":              "/cal/#",
		"/cal/2026/nov":                "/cal/#/#",
		"/Calendar/November/2026":      "/Calendar/#/#",
		"/events/2026-11-22_12:30/":    "/events/#/",
		"/p/12345.html?color=7":        "/p/#.html",
		"/p12345":                      "/@",
		"/s/8f3k20qz/topic/7":          "/s/@/topic/#",
		"/(S(lit3py55t21z5v55vlm2))/a": "/(S(@))/a",
		"/x;jsessionid=0A1B2C":         "/x",
		"/u/550e8400-e29b-41d4-a716-446655440000/":              "/u/@/",
		"/u/aaaaaaaa-bbbb-cccc-dddd-446655440000":               "/u/@",
		"/s/getElementById/QmFzZTY0/abcdefghijklmnopqrstuvwxyz": "/s/@/@/@",
		"/news/12345-blue-widget":                               "/news/#-blue-widget",
		"/wiki/Plain_words,_and-others~":                        "/wiki/Plain_words,_and-others~",
		"/a//b/./c":                                             "/a//b/c",
	} {
		if got := shapes.Name(parse(t, "http://h.test:8080"+path)); got != "http://h.test:8080"+want {
			t.Errorf("%s: %s, expected %s", path, got, want)
		}
	}
	u := parse(t, "https://h.test/cal/2026/11/")
	name := shapes.Name(u)
	if shapes.Of(u) != shapes.Named(name) || shapes.Origin(name) != "https://h.test" {
		t.Errorf("%s: another shape by its name, or of %s", name, shapes.Origin(name))
	}
	if shapes.Of(u) == shapes.Of(parse(t, "http://h.test/cal/2026/11/")) {
		t.Error("two origins share a shape")
	}
}

// crawl fetches n pages of a shape, each of which leads to as many of the same, until it is a trap;
// it returns how many that took. say returns what page i says.
func crawl(t *shapes.Table, s shapes.Shape, n, leads int, say func(i int) uint64) int {
	for i := range n {
		if t.Watch(s) {
			if t.Judge(s, say(i)) {
				return i + 1
			}
			if t.Stale(s) {
				for range leads {
					t.Found(s)
				}
			}
		}
	}
	return n
}

// newEach returns pages of which one in n says something new.
func newEach(n int) func(i int) uint64 {
	return func(i int) uint64 { return uint64(i / n * (i % n / (n - 1))) }
}

func TestTable(t *testing.T) {
	const pages = 20_000
	for _, c := range []struct {
		name        string
		leads       int
		say         func(i int) uint64
		least, most int
	}{
		{"the same", 1, func(int) uint64 { return 1 }, 500, 600},
		{"one of twelve", 1, func(i int) uint64 { return uint64(i % 12) }, 500, 700},
		{"all new", 1, func(i int) uint64 { return uint64(i) }, pages, pages},
		{"one in four new", 1, newEach(4), pages, pages},
		{"one in six new", 1, newEach(6), 6000, 13_000},
		{"one in twelve new", 1, newEach(12), 5500, 6500},
		{"one in twenty-four new", 1, newEach(24), 1200, 2000},
		{"one in forty new", 1, newEach(40), 600, 1200},
		{"an archive of 15 years with 500 articles", 1, func(i int) uint64 { return newEach(11)(min(i, 5500)) }, 5500, 7000},
		{"two empty years behind five full ones", 1, func(i int) uint64 {
			if i >= 1826 && i < 1826+730 {
				return 1
			}
			return uint64(i)
		}, pages, pages},
		{"the same from the 5,000th on", 3, func(i int) uint64 { return uint64(min(i, 5000)) }, 5500, 9200},
		{"the same, without growth", 0, func(int) uint64 { return 1 }, pages, pages},
	} {
		s := shapes.Named(c.name)
		table := shapes.NewTable(1<<20, 500)
		if n := crawl(table, s, pages, c.leads, c.say); n < c.least || n > c.most || table.IsTrap(s) != (n < pages) {
			t.Errorf("%s: a trap after %d pages, expected %d to %d", c.name, n, c.least, c.most)
		}
	}
}

// TestForgets: others push a shape out of a full table, and one in use stays.
func TestForgets(t *testing.T) {
	table := shapes.NewTable(1<<12, 500)
	s := shapes.Named("used")
	for i := range 40_000 {
		if table.Watch(s) {
			table.Judge(s, 1)
			table.Found(s)
		}
		if i == 500 && !table.Stale(s) {
			t.Fatal("the shape in use was forgotten")
		}
		if i < 500 || table.IsTrap(s) {
			table.Watch(shapes.Named(fmt.Sprint(i)))
		}
	}
	if !table.IsTrap(s) || table.Stale(s) && table.Traps() != 1 {
		t.Error("expected one trap")
	}
}

// TestCost: pages of a big site are sketched now and then.
func TestCost(t *testing.T) {
	table := shapes.NewTable(1<<20, 500)
	s, n := shapes.Named("big"), 0
	for i := range 10_000 {
		if table.Watch(s) {
			n++
			table.Judge(s, uint64(i))
		}
	}
	if n > 400 {
		t.Errorf("%d of 10,000 pages are sketched", n)
	}
}

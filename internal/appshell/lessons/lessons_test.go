package lessons_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/appshell"
	"github.com/weftcrawl/weft/internal/appshell/lessons"
	"github.com/weftcrawl/weft/weburl"
)

var (
	none  = lessons.Gain{}
	some  = lessons.Gain{Links: 1, Own: 1}
	much  = lessons.Gain{Links: 9, Own: 9}
	empty = shapeOf("a.test", appshell.Mount, "div#root")
	thin  = lessons.ShapeOf("a.test", appshell.Look{Thin: true, Skeleton: []byte("main#m")})
	full  = shapeOf("a.test", "", "main#m")
)

func shapeOf(host string, reason appshell.Reason, skeleton string) lessons.Shape {
	return lessons.ShapeOf(host, appshell.Look{Reason: reason, Skeleton: []byte(skeleton)})
}

func runs() bool { return true }

// crawl asks about n pages of a shape, and returns the numbers, from 1, of those that are rendered.
// gain returns what that adds, and whether nothing failed.
func crawl(table *lessons.Table, s lessons.Shape, n int, gain func(page int) (lessons.Gain, bool)) (rendered []int) {
	for page := 1; page <= n; page++ {
		if answer := table.Ask(s, runs); answer != lessons.Sample && (answer == lessons.Usual) != s.Doubtful() {
			continue
		}
		rendered = append(rendered, page)
		if gain != nil {
			g, clean := gain(page)
			table.Learn(s, g, clean)
		}
	}
	return rendered
}

func always(g lessons.Gain, clean bool) func(int) (lessons.Gain, bool) {
	return func(int) (lessons.Gain, bool) { return g, clean }
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape lessons.Shape
		n     int
		gain  func(int) (lessons.Gain, bool) // nil: rendering fails
		want  string                         // the first pages that are rendered
		total int
	}{
		{"it looks empty, and nothing comes", empty, 1000, always(none, true), "[1 2 3 11 27 59 123", 20},
		{"it looks empty, and a little comes", empty, 1000, always(some, true), "[1 2 3 4 5", 1000},
		{"it looks empty, and requests fail", empty, 1000, always(none, false), "[1 2 3 4 5", 1000},
		{"it looks empty, and rendering fails", empty, 1000, nil, "[1 2 3 4 5", 1000},
		{"one of its pages in ten is full", empty, 1000, func(page int) (lessons.Gain, bool) {
			if page%10 == 0 {
				return some, true
			}
			return none, true
		}, "[1 2 3 11 27 59 123 ", 20},
		{"one full page ends it for good", empty, 1000, func(page int) (lessons.Gain, bool) {
			if page == 3 || page == 500 {
				return some, true
			}
			return none, true
		}, "[1 2 3 4 5", 1000},
		{"a site that is whole", thin, 10_000, always(none, true), "[8 72 584 4680 8776]", 5},
		{"a widget adds a link", thin, 10_000, always(some, true), "[8 72 584 4680 8776]", 5},
		{"scripts add most links", thin, 1000, always(much, true), "[8 9 10 11", 993},
		{"scripts add most links, and requests fail", thin, 1000, always(much, false), "[8 9 10 11", 993},
		{"samples that fail", thin, 10_000, nil, "[8 72 584 4680 8776]", 5},
		{"a site that is whole, of long pages", full, 10_000, always(none, true), "[512 1024 1536 5632 9728]", 5},
		{"scripts add most links to long pages", full, 1000, always(much, true), "[512 513 514", 489},
		{"scripts add to one page alone", thin, 1000, func(page int) (lessons.Gain, bool) {
			if page == 8 {
				return much, true
			}
			return none, true
		}, "[8 9 10 11 12 13 14 15 16 80 592]", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := crawl(lessons.New(), c.shape, c.n, c.gain)
			if got := fmt.Sprint(all); !strings.HasPrefix(got, c.want) || len(all) != c.total {
				t.Errorf("%d pages are rendered: %.120s, expected %d: %s", len(all), got, c.total, c.want)
			}
		})
	}
}

// TestSamples: of all pages that look whole, whatever their shapes, few are rendered to see; none
// of those without scripts.
func TestSamples(t *testing.T) {
	table, asked := lessons.New(), 0
	for i := range 100_000 {
		s := lessons.ShapeOf(fmt.Sprint("h", i/8), appshell.Look{Thin: true})
		if table.Ask(s, runs) == lessons.Sample {
			asked++
		}
	}
	if asked < 100_000/256 || asked > 100_000/256+5 {
		t.Errorf("%d samples of 100,000 pages", asked)
	}
	table = lessons.New()
	for range 10_000 {
		if table.Ask(thin, func() bool { return false }) != lessons.Usual {
			t.Fatal("a page without scripts is rendered")
		}
	}
}

// TestKept: another table goes on with what was saved, in any order, and forgets what it has no
// room for.
func TestKept(t *testing.T) {
	table, saved := lessons.New(), make(map[uint16]lessons.Known)
	shapes := make(map[int]lessons.Shape)
	for i := range 20_000 {
		s := shapeOf(fmt.Sprint("h", i), appshell.Mount, "")
		shapes[i] = s
		for range 3 {
			table.Ask(s, runs)
			k := table.Learn(s, none, true)
			saved[k.Slot] = k
		}
	}
	if len(saved) > 4096 {
		t.Fatalf("%d are saved", len(saved))
	}
	later := lessons.New()
	for _, k := range saved {
		later.Restore(k)
	}
	kept := 0
	for i := 19_999; i >= 0; i-- { // the latest are kept
		was, is := table.Ask(shapes[i], runs), later.Ask(shapes[i], runs)
		if was != is {
			t.Fatalf("shape %d: %v, and %v when restored", i, was, is)
		}
		if was == lessons.Learned {
			kept++
		}
	}
	if kept < 4000 {
		t.Errorf("%d shapes of 4,096 are kept", kept)
	}
	k := table.Learn(empty, none, true)
	k.Slot++
	k.Slot += 4096
	later.Restore(k) // of no table
}

func TestShapeOf(t *testing.T) {
	all := make(map[lessons.Shape]bool)
	for _, host := range []string{"a.test", "b.test"} {
		for _, reason := range []appshell.Reason{"", appshell.Mount, appshell.Hollow} {
			for _, text := range []string{"", "x", "x\ny"} {
				all[shapeOf(host, reason, text)] = true
			}
		}
	}
	if len(all) != 18 {
		t.Errorf("%d shapes, expected 18", len(all))
	}
}

func TestCompare(t *testing.T) {
	page, err := weburl.Parse("http://www.a.test/x/")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Repeat("many words ", 10) + "that tell a story"
	for _, c := range []struct {
		name, received, rendered string
		any, much                bool
	}{
		{"the same", "<a href=/a>a</a> text", "<html><head></head><body><a href=\"/a\">a</a> text</body></html>", false, false},
		{"styles and scripts", "<div id=root></div>", "<style>" + words + "</style><script>" + words + "</script><title></title><div id=root></div>", false, false},
		{"a title", "<title>App</title>", "<title>The title of the page</title>", true, false},
		{"a word, where there was none", "<div id=root></div>", "<div id=root>8</div>", true, false},
		{"a description", "", "<meta name=description content='" + words + "'>", true, false},
		{"a product", "", "<script type=application/ld+json>{\"name\": \"" + words + "\"}</script>", true, false},
		{"pictures", "<img src=spinner>", "<img src=a><img src=b>", true, false},
		{"a picture in place of another", "<img src=spinner>", "<img src=a>", false, false},
		{"a request to enable scripts", "<noscript>" + words + "</noscript>", "<noscript>" + words + "</noscript>", false, false},
		{"less", words + "<a href=/a>", "", false, false},
		{"a clock", "<p>now</p>", "<p>12:30:55</p>", false, false},
		{"a link", "", "<a href=/a>x</a>", true, false},
		{"a link of the page itself", "<p>text", "<p>text<a href='#top'>x</a>", false, false},
		{"no link of the Web", "<p>text", "<p>text<a href='javascript:x()'>x</a><a href=mailto:a@b>x</a>", false, false},
		{"a text", "", words, true, false},
		{"another text of the same length", "<h1>{{title}}</h1><p>{{text}}</p>", "<h1>A title</h1><p>of something</p>", true, false},
		{"a shadow root", "<x-a></x-a>", "<x-a><template shadowrootmode=open><a href=/a>x</a></template></x-a>", true, false},
		{"a template", "", "<template><a href=/a>x</a></template>", false, false},
		{"a frame that scripts write", "", "<iframe srcdoc='" + strings.Repeat("x", 300) + "'></iframe>", true, false},
		{"links to others", "text", "text" + links("http://b.test/", 9), true, false},
		{"links to the site", "text" + links("/", 9), "text" + links("/", 9) + links("http://shop.a.test/", 3), true, true},
		{"a few links of many", "text" + links("/", 99), "text" + links("/", 99) + links("/new", 5), true, false},
		{"much text", "text", "text" + unlike(300), true, true},
		{"a widget's text", unlike(3000), unlike(3300), true, false},
	} {
		gain := lessons.Compare(page, []byte(c.received), []byte(c.rendered), nil)
		if gain.Any() != c.any || gain.Much() != c.much {
			t.Errorf("%s: %+v: any %v, much %v", c.name, gain, gain.Any(), gain.Much())
		}
	}
}

// TestCompareTargets: where scripts lead is a gain, but for where links have led before.
func TestCompareTargets(t *testing.T) {
	page, err := weburl.Parse("http://a.test/x")
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]bool{"http://a.test/en/": true, "http://b.test/": true, "/known": false, "about:blank": false} {
		if gain := lessons.Compare(page, []byte("<a href=/known>"), nil, []string{to}); gain.Any() != want {
			t.Errorf("%s: %+v", to, gain)
		}
	}
}

func links(to string, n int) (all string) {
	for i := range n {
		all += fmt.Sprintf("<a href=%s%d>x</a>", to, i)
	}
	return all
}

func unlike(n int) (all string) {
	for i := range n {
		all += fmt.Sprint(" w", i)
	}
	return all
}

func BenchmarkAsk(b *testing.B) {
	table, skeleton := lessons.New(), strings.Repeat("div#x.y\n", 60)
	b.ReportAllocs()
	for b.Loop() {
		table.Ask(shapeOf("www.example.org", "", skeleton), runs)
	}
}

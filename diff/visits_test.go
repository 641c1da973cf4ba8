package diff_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/diff"
	"github.com/weftcrawl/weft/internal/process"
)

// served is a site whose pages a function makes, by path and visit. Its home page lists paths.
type served struct {
	*httptest.Server
	visit atomic.Int32
}

func serve(t testing.TB, page func(w http.ResponseWriter, path string, visit int), paths ...string) *served {
	s := &served{}
	s.visit.Store(1)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			fmt.Fprint(w, "<title>Home</title>")
			for _, path := range paths {
				fmt.Fprintf(w, "<li><a href='%s'>%[1]s</a>", path)
			}
			return
		}
		page(w, r.URL.Path, int(s.visit.Load()))
	}))
	t.Cleanup(s.Close)
	return s
}

// crawl makes the next visit of a job, which keeps the given files.
func (s *served) crawl(t testing.TB, job string, keep weft.Keep) {
	t.Helper()
	o := weft.Options{Job: job, Keep: keep, Pace: weft.Pace{Retries: -1}}
	if _, err := os.Stat(filepath.Join(job, "pages.jsonl")); err == nil {
		o.Rerun.Update, o.Keep = true, weft.Keep{}
		s.visit.Add(1)
	} else {
		o.Seeds = []string{s.URL + "/"}
	}
	for range weft.Crawl(context.Background(), o) {
	}
}

func (s *served) compare(t *testing.T, old, new diff.Source) (*diff.Report, string) {
	t.Helper()
	r, err := diff.Compare(context.Background(), old, new, diff.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, strings.Join(lines(t, r, s.URL), "\n")
}

// TestEarlierVisit: a counter on one page alone is known by the visit before, if there is one.
func TestEarlierVisit(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		fmt.Fprintf(w, "<p>This page was asked for %d times.</p><p>It has %d rooms.</p>", 1000+7*visit, 4+visit/3)
	}, "/house")
	job := t.TempDir()
	for range 3 {
		s.crawl(t, job, weft.Keep{KeepBodies: true})
	}
	if _, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job, Visit: 2}); got != "changed /house text [1007][1014]" {
		t.Errorf("visits 1 and 2: %s", got)
	}
	r, got := s.compare(t, diff.Source{Path: job, Visit: 2}, diff.Source{Path: job, Visit: 3})
	if got != "changed /house text [4][5]" {
		t.Errorf("visits 2 and 3: %s", got)
	}
	if len(r.Summary.Churn) != 1 || r.Summary.Churn[0].New != "This page was asked for 1021 times." {
		t.Errorf("churn %+v", r.Summary.Churn)
	}
}

// TestFigureOfFew: a figure that differs on three of many pages is a change there, since the pages
// that are the same have it, too.
func TestFigureOfFew(t *testing.T) {
	t.Parallel()
	var paths, want []string
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("/boat/%d", i))
		if i%4 == 0 {
			want = append(want, fmt.Sprintf("changed /boat/%d text [%d][%d]", i, i+4, i+5))
		}
	}
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		var n int
		fmt.Sscanf(path, "/boat/%d", &n)
		seats := n + 4
		if n%4 == 0 && visit == 2 {
			seats++
		}
		fmt.Fprintf(w, "<h1>Boat</h1><p>It has %d seats.</p>", seats)
	}, paths...)
	job := t.TempDir()
	s.crawl(t, job, weft.Keep{Archive: true})
	s.crawl(t, job, weft.Keep{})
	slices.Sort(want)
	if _, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job}); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nexpected\n%s", got, strings.Join(want, "\n"))
	}
}

// TestTextOfMany: a page has moved if one new page has its text, and no other page had it.
func TestTextOfMany(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("A text of more than twenty words, which is known again wherever it stands. ", 3)
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		old := path == "/one" || path == "/first" || path == "/second"
		if old == (visit == 2) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.HasPrefix(path, "/one") {
			fmt.Fprint(w, "<p>Another text. ")
		}
		fmt.Fprint(w, text)
	}, "/first", "/second", "/third", "/one", "/one-more")
	job := t.TempDir()
	s.crawl(t, job, weft.Keep{Archive: true})
	s.crawl(t, job, weft.Keep{})
	if _, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job}); got != "gone /first 404 Not Found\ngone /second 404 Not Found\nmoved /one /one-more same text\nnew /third was 404" {
		t.Errorf("got %s", got)
	}
}

// TestMoney: prices that differ on all pages are changes, though other numbers would be churn.
func TestMoney(t *testing.T) {
	t.Parallel()
	var paths, want []string
	for i := range 6 {
		paths = append(paths, fmt.Sprintf("/item/%d", i))
		want = append(want, fmt.Sprintf("changed /item/%d data Offer.price [1%d]2%d", i, i, i), fmt.Sprintf("changed /item/%d text [$1%d][$2%d]", i, i, i))
	}
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		price := fmt.Sprint(visit) + path[len(path)-1:]
		fmt.Fprintf(w, `<script type="application/ld+json">{"@type":"Offer","price":"%s"}</script><p>Only $%[1]s today.<p>Asked for %d times.`, price, visit*100+len(price)*7)
	}, paths...)
	job := t.TempDir()
	s.crawl(t, job, weft.Keep{KeepBodies: true})
	s.crawl(t, job, weft.Keep{})
	slices.Sort(want)
	_, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job})
	got = strings.Join(slices.DeleteFunc(strings.Split(got, "\n"), func(line string) bool { return strings.HasPrefix(line, "shared") }), "\n")
	if got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nexpected\n%s", got, strings.Join(want, "\n"))
	}
}

// TestHeadAlone: a header field that differs is a change, though the body is the same.
func TestHeadAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		if visit == 2 {
			w.Header().Set("X-Robots-Tag", "noindex")
		}
		w.Header().Set("X-Request-Id", fmt.Sprint(visit))
		fmt.Fprint(w, "<p>A page that stays as it is.")
	}, "/a")
	job := t.TempDir()
	s.crawl(t, job, weft.Keep{Archive: true})
	s.crawl(t, job, weft.Keep{})
	if _, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job}); got != "changed /a header x-robots-tag []noindex" {
		t.Errorf("got %s", got)
	}
	s.crawl(t, job, weft.Keep{})
	if _, got := s.compare(t, diff.Source{Path: job, Visit: 2}, diff.Source{Path: job, Visit: 3}); got != "changed /a header x-robots-tag [noindex]" {
		t.Errorf("back: %s", got)
	}
}

// TestRecords: without bodies the records are compared, and the report says so.
func TestRecords(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		if visit == 1 {
			fmt.Fprint(w, "<title>One</title><p>A text of a few words that stays.</p>")
			return
		}
		fmt.Fprint(w, "<title>Two</title><meta name=robots content=noindex><p>A text of several words that has changed since.</p>")
	}, "/a")
	job, other := t.TempDir(), t.TempDir()
	s.crawl(t, job, weft.Keep{})
	s.crawl(t, job, weft.Keep{})
	r, got := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job})
	for _, want := range []string{"changed /a title [One][Two]", "changed /a robots []noindex", "changed /a body "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if !r.Summary.Old.Brief || !strings.Contains(written(t, "text", r, diff.Style{}), "Without bodies") {
		t.Errorf("summary %+v", r.Summary)
	}
	// Beside a job with bodies, too.
	s.crawl(t, other, weft.Keep{KeepBodies: true})
	if _, got := s.compare(t, diff.Source{Path: job}, diff.Source{Path: other}); got != "" {
		t.Errorf("the same pages, one side with bodies: %s", got)
	}
}

// TestNotComplete: what a crawl has not come to is not gone.
func TestNotComplete(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, path string, visit int) { fmt.Fprint(w, "<p>Page ", path) }, "/a", "/b", "/c", "/d")
	whole, part := t.TempDir(), t.TempDir()
	s.crawl(t, whole, weft.Keep{Archive: true})
	for range weft.Crawl(context.Background(), weft.Options{Seeds: []string{s.URL + "/"}, Job: part, Keep: weft.Keep{Archive: true}, Limits: weft.Limits{Limit: 2}}) {
	}
	r, got := s.compare(t, diff.Source{Path: whole}, diff.Source{Path: part})
	if strings.Contains(got, "gone") || strings.Count(got, "not-compared") != 3 || !strings.Contains(got, "has not come to it") {
		t.Errorf("%s\n%+v", got, r.Summary)
	}
	// A file that breaks off is as incomplete.
	files, _ := filepath.Glob(filepath.Join(whole, "archive", "*.warc.gz"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.warc.gz")
	if err := os.WriteFile(broken, text[:len(text)*2/3], 0o666); err != nil {
		t.Fatal(err)
	}
	r, got = s.compare(t, diff.Source{Path: files[0]}, diff.Source{Path: broken})
	if strings.Contains(got, "gone") || !strings.Contains(got, "damaged") || r.Summary.New.Damage == 0 {
		t.Errorf("%s\n%+v", got, r.Summary)
	}
	if _, err := diff.Compare(context.Background(), diff.Source{Path: files[0]}, diff.Source{Path: "nowhere.warc"}, diff.Options{}); err == nil || !strings.Contains(err.Error(), "nowhere.warc: ") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestHostilePages: pages that are made to take time, memory or the parser apart.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	pages := map[string]func(visit int) string{
		"/deep":   func(v int) string { return strings.Repeat("<div><b>", 50_000) + fmt.Sprint("depth ", v) },
		"/blocks": func(v int) string { return strings.Repeat(fmt.Sprintf("<p>word %c word", 'a'+v), 60_000) },
		"/many": func(v int) string {
			var b strings.Builder
			for i := range 20_000 {
				fmt.Fprintf(&b, "<p>%c%d x%d y%d", 'a'+v, i*v, i, v)
			}
			return b.String()
		},
		"/words": func(v int) string {
			var b strings.Builder
			for i := range 200_000 {
				fmt.Fprintf(&b, "%c%x ", 'g'+(i*v)%17, i*i*v)
			}
			return "<p>" + b.String()
		},
		"/binary": func(v int) string { return strings.Repeat("\x00\xff\xfe<\x80a href=\xf0>", 5000*v) },
		"/json":   func(v int) string { return `<script type="application/ld+json">` + strings.Repeat(`{"a":[`, 5000*v) },
		"/links": func(v int) string {
			return strings.Repeat(fmt.Sprintf("<a href=/l/%d?%s>x</a>", v, strings.Repeat("a=b&", 300)), 2000)
		},
		"/empty": func(int) string { return "" },
	}
	var paths []string
	for path := range pages {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	s := serve(t, func(w http.ResponseWriter, path string, visit int) {
		if page := pages[path]; page != nil {
			fmt.Fprint(w, page(visit))
		}
	}, paths...)
	job := t.TempDir()
	s.crawl(t, job, weft.Keep{KeepBodies: true})
	s.crawl(t, job, weft.Keep{})
	r, _ := s.compare(t, diff.Source{Path: job, Visit: 1}, diff.Source{Path: job})
	found := make(map[string]bool)
	for c, err := range r.Changes() {
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(c.URL, s.URL)] = true
		size := 0
		for _, d := range c.Details {
			size += len(d.Old) + len(d.New)
			for _, w := range d.Words {
				size += len(w.Text)
			}
		}
		if len(c.Details) > diff.MaxDetails || size > 3*diff.MaxText*len(c.Details) {
			t.Errorf("%s: %d details of %d bytes", c.URL, len(c.Details), size)
		}
	}
	for _, path := range []string{"/deep", "/blocks", "/many", "/words"} {
		if !found[path] {
			t.Errorf("%s: no change", path)
		}
	}
	for _, f := range diff.Formats() {
		if text := written(t, f.Name, r, diff.Style{}); text == "" {
			t.Errorf("%s: nothing", f.Name)
		}
	}
}

// BenchmarkUnchanged compares two visits of a site of 2,000 pages that have not changed: once where
// the server said so, and once where it sent the same bodies, whose header fields are read.
func BenchmarkUnchanged(b *testing.B) {
	for _, how := range []string{"304", "body"} {
		b.Run(how, func(b *testing.B) {
			const pages = 2000
			var paths []string
			for i := range pages {
				paths = append(paths, fmt.Sprintf("/page/%d", i))
			}
			s := serve(b, func(w http.ResponseWriter, path string, visit int) {
				if how == "304" {
					w.Header().Set("ETag", `"1"`)
					if visit > 1 {
						w.WriteHeader(http.StatusNotModified)
						return
					}
				}
				fmt.Fprintf(w, "<title>%s</title>%s", path, strings.Repeat("<p>A page of some words that stays as it is. "+path, 300))
			}, paths...)
			job := b.TempDir()
			s.crawl(b, job, weft.Keep{Archive: true})
			s.crawl(b, job, weft.Keep{})
			before := process.CPU()
			for b.Loop() {
				r, err := diff.Compare(context.Background(), diff.Source{Path: job, Visit: 1}, diff.Source{Path: job, Visit: 2}, diff.Options{Temp: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				if r.Summary.Unchanged < pages || r.Summary.Differs() {
					b.Fatalf("%+v", r.Summary)
				}
				r.Close()
			}
			b.ReportMetric(float64((process.CPU()-before).Microseconds())/float64(b.N)/pages, "CPU-µs/page")
		})
	}
}

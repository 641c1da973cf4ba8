package weft_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// product is a rule for the pages of a shop.
var product = extract.Rule{Name: "product", URLs: "^/p/", Fields: []extract.Field{
	{Name: "name", Select: "h1"}, {Name: "price", Select: ".price", Type: extract.Number, Required: true},
}}

// TestItems checks the items of a crawl, of a visit after it, and what a job keeps to.
func TestItems(t *testing.T) {
	var visit atomic.Int32
	site, _ := crawltest.ServePages(t, func(path string) string {
		switch path {
		case "/":
			return `<h1>Shop</h1><a href=/p/1>1</a><a href=/p/2>2</a><a href=/p/3>3</a>`
		case "/p/1":
			return `<h1>One</h1><b class=price>1,50 €</b>`
		case "/p/2":
			return fmt.Sprintf(`<h1>Two</h1><b class=price>%d</b>`, 20+visit.Load())
		case "/p/3":
			return `<h1>Three</h1>`
		}
		return ""
	})
	job := filepath.Join(t.TempDir(), "job")
	o := weft.Options{Seeds: []string{site}, Job: job, Keep: weft.Keep{Extract: []extract.Rule{product}}}
	o.Hooks.OnItem = func(_ context.Context, i *weft.Item) error {
		i.Fields[0].Value = strings.ToUpper(i.Fields.Text("name"))
		return nil
	}
	run := func() weft.Summary {
		t.Helper()
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	lines := func() (all []string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(job, "items.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(text), site, "")) {
			all = append(all, strings.TrimSpace(line))
		}
		slices.Sort(all)
		return all
	}
	sum := run()
	want := []string{
		`{"url":"/p/1","type":"product","fields":{"name":"ONE","price":1.50}}`,
		`{"url":"/p/2","type":"product","fields":{"name":"TWO","price":20}}`,
		`{"url":"/p/3","type":"product","fields":{"name":"THREE"},"missing":["price"]}`,
	}
	if got := lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if sum.Items != 3 || len(sum.Missing) != 1 || sum.Missing["product.price"] != 1 {
		t.Errorf("%d items, missing %v", sum.Items, sum.Missing)
	}

	other := o
	other.Keep.Extract = []extract.Rule{{Fields: product.Fields}}
	var wrong *weft.OptionError
	if _, err := weft.New(other); !errors.As(err, &wrong) || wrong.Option != "Extract" || !errors.Is(err, weft.ErrPlan) {
		t.Errorf("other rules: %v", err)
	}

	visit.Store(1)
	o.Keep.Extract, o.Seeds, o.Rerun.Update = nil, nil, true // the job knows its rules and seeds
	run()
	want = slices.Insert(want, 2, `{"url":"/p/2","type":"product","fields":{"name":"TWO","price":21},"visit":2}`)
	if got := lines(); !slices.Equal(got, want) {
		t.Errorf("visit 2: got\n%s", strings.Join(got, "\n"))
	}
}

// TestItemsWithoutJob checks that pages have their items, and that a hook's error ends a crawl.
func TestItemsWithoutJob(t *testing.T) {
	site, _ := crawltest.ServePages(t, func(string) string { return `<title>A</title><meta property="og:type" content=book>` })
	o := weft.Options{Seeds: []string{site}, Keep: weft.Keep{Structured: true}}
	pages := 0
	o.Hooks.OnPage = func(_ context.Context, p *weft.Page) error {
		if pages++; len(p.Items) != 1 || p.Items[0].Structured.OpenGraph["og:type"][0] != "book" {
			t.Errorf("%+v", p.Items)
		}
		return nil
	}
	run := func() error {
		c, err := weft.New(o)
		if err == nil {
			_, err = c.Run(t.Context())
		}
		return err
	}
	if err := run(); err != nil || pages != 1 {
		t.Errorf("%d pages, %v", pages, err)
	}
	o.Hooks.OnItem = func(context.Context, *weft.Item) error { return errors.New("full") }
	if err := run(); err == nil || err.Error() != "OnItem of "+site+"/: full" {
		t.Errorf("error of OnItem: %v", err)
	}
	o.Hooks.OnItem = func(_ context.Context, i *weft.Item) error {
		i.Fields = append(i.Fields, weft.Fields{{Name: "c", Value: make(chan int)}}...)
		return nil
	}
	o.Job = filepath.Join(t.TempDir(), "job")
	if err := run(); err == nil || !strings.Contains(err.Error(), "item of "+site+"/: json: ") {
		t.Errorf("a value that JSON does not have: %v", err)
	}
	o.Keep.Extract = []extract.Rule{{Fields: []extract.Field{{Name: "n", Select: "h1["}}}}
	if err := run(); err == nil || err.Error() != "option Extract: n: column 4: the end, expected the name of an attribute" {
		t.Errorf("wrong rules: %v", err)
	}
}

// TestOnHTML checks that elements are found before OnPage is called, and that pages which they add
// have the data that they were given, also in a later run and behind a redirect.
func TestOnHTML(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/end", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<h1>List</h1><a href=/a>a</a><p data-to=/a>A</p><p data-to=/moved>B</p>`)
	}))
	t.Cleanup(s.Close)
	var got []string
	o := weft.Options{Seeds: []string{s.URL}, Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: 1}, Pace: weft.Pace{Concurrency: 1}}
	o.Hooks.OnHTML("p[data-to]", func(page *weft.Page, p *goquery.Selection) error {
		return page.AddWith(p.AttrOr("data-to", ""), page.Data+p.Text())
	})
	o.Hooks.OnHTML("//h1", func(page *weft.Page, h *goquery.Selection) error {
		got = append(got, strings.TrimPrefix(page.URL, s.URL)+" "+h.Text()+" "+page.Data)
		return nil
	})
	for range 3 {
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.Limits.Limit = 0
	}
	slices.Sort(got)
	if want := []string{"/ List ", "/a List A", "/end List B"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	o.Job = ""
	o.Hooks.OnHTML("p[", func(*weft.Page, *goquery.Selection) error { return nil })
	if _, err := weft.New(o); err == nil || err.Error() != `option Hooks: OnHTML "p[": column 3: the end, expected the name of an attribute` {
		t.Errorf("wrong selector: %v", err)
	}
	long := weft.Options{Seeds: []string{s.URL}}
	long.Hooks.OnHTML("h1", func(page *weft.Page, _ *goquery.Selection) error {
		return page.AddWith("/x", strings.Repeat("x", weft.MaxData+1))
	})
	c, err := weft.New(long)
	if err == nil {
		_, err = c.Run(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), `"/x": data of 4097 bytes, expected at most 4096`) {
		t.Errorf("long data: %v", err)
	}
}

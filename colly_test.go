package weft_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft"
)

// TestColly checks that what Colly's first examples do is done, in no more lines: docs/library.md
// shows the functions' bodies.
func TestColly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<title>Shoes</title><a class=product href=/red>Red</a> <a class=product href=blue>Blue</a>`)
		}
	}))
	t.Cleanup(s.Close)
	for _, test := range []struct {
		name string
		run  func(ctx context.Context, site string, print func(...any))
		want []string
	}{
		{"README", visit, []string{"Visiting SITE/", "Visiting SITE/blue", "Visiting SITE/red"}},
		{"basic", list, []string{"Visiting SITE/", "Visiting SITE/blue", "Visiting SITE/red", `link "Blue" blue`, `link "Red" /red`}},
		{"request_context", hand, []string{"SITE/ ", "SITE/blue Shoes", "SITE/red Shoes"}},
	} {
		var got []string
		test.run(t.Context(), s.URL+"/", func(args ...any) {
			got = append(got, strings.TrimSuffix(strings.ReplaceAll(fmt.Sprintln(args...), s.URL, "SITE"), "\n"))
		})
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
}

func visit(ctx context.Context, site string, print func(...any)) {
	options := weft.Options{Seeds: []string{site}, Loops: 1}
	options.Hooks.OnRequest = func(r *weft.Request) error {
		print("Visiting", r.URL)
		return nil
	}
	for range weft.Crawl(ctx, options) {
	}
}

func list(ctx context.Context, site string, print func(...any)) {
	options := weft.Options{Seeds: []string{site}, Loops: 1}
	options.Hooks.OnHTML("a[href]", func(_ *weft.Page, a *goquery.Selection) error {
		print("link", fmt.Sprintf("%q", a.Text()), a.AttrOr("href", ""))
		return nil
	})
	options.Hooks.OnRequest = func(r *weft.Request) error {
		print("Visiting", r.URL)
		return nil
	}
	for range weft.Crawl(ctx, options) {
	}
}

func hand(ctx context.Context, site string, print func(...any)) {
	options := weft.Options{Seeds: []string{site}}
	options.Hooks.OnHTML("a.product", func(page *weft.Page, a *goquery.Selection) error {
		return page.AddWith(a.AttrOr("href", ""), page.Title)
	})
	for page := range weft.Crawl(ctx, options) {
		print(page.URL, page.Data)
	}
}

package weft_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
)

// TestColly checks that what Colly's first examples do is done, in no more lines: docs/library.md
// shows the functions' bodies.
func TestColly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<title>Shoes</title><a class=product href=/red>Red</a> <a class=product href=blue>Blue</a>`)
		}
		switch in, err := r.Cookie("in"); {
		case r.URL.Path == "/login" && r.Method == "GET":
			fmt.Fprint(w, `<form id=login action=login method=post><input name=username><input type=hidden name=token value=t1></form>`)
		case r.URL.Path == "/login" && r.FormValue("username") == "admin" && (r.FormValue("password") == "admin" || r.FormValue("token") == "t1"):
			http.SetCookie(w, &http.Cookie{Name: "in", Value: "yes"})
		case r.URL.Path == "/login" || r.URL.Path == "/mine" && (err != nil || in.Value != "yes"):
			w.WriteHeader(http.StatusForbidden)
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
		{"login", login, []string{"response received 200", "response received 200"}},
		{"a form of a page", fill, []string{"GET SITE/login 200", "GET SITE/mine 200", "POST SITE/login 200"}},
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

func login(ctx context.Context, site string, print func(...any)) {
	form := url.Values{"username": {"admin"}, "password": {"admin"}}
	options := weft.Options{Posts: []weft.Post{weft.PostForm(site+"login", form)}, HTTP: weft.HTTP{Cookies: cookies.New()}}
	for page, err := range weft.Crawl(ctx, options) {
		if err != nil {
			log.Fatal(err)
		}
		print("response received", page.Status)
		_ = page.Add("/mine")
	}
}

func fill(ctx context.Context, site string, print func(...any)) {
	options := weft.Options{Seeds: []string{site + "login"}, HTTP: weft.HTTP{Cookies: cookies.New()}}
	options.Hooks.OnHTML("form#login", func(page *weft.Page, form *goquery.Selection) error {
		token := form.Find("[name=token]").AttrOr("value", "")
		fields := url.Values{"username": {"admin"}, "token": {token}}
		return page.Post(weft.PostForm(form.AttrOr("action", ""), fields))
	})
	for page := range weft.Crawl(ctx, options) {
		to, _, _ := strings.Cut(page.URL, "#")
		print(cmp.Or(page.Method, "GET"), to, page.Status)
		if page.Method == "POST" {
			_ = page.Add("/mine")
		}
	}
}

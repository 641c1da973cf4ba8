package weft_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

func TestOnRequest(t *testing.T) {
	w := crawltest.Web{"http://a.test/": crawltest.Links("/yes", "/no"), "http://a.test/yes": "a page", "http://a.test/no": "a page"}
	got, _, seen := w.Crawl(t, weft.Options{
		Seeds: []string{"http://a.test/"},
		HTTP:  weft.HTTP{Header: httpclient.Header{{Name: "X-All", Value: "1"}}},
		Hooks: weft.Hooks{OnRequest: func(r *weft.Request) error {
			if strings.HasSuffix(r.URL.String(), "/no") {
				return errors.New("not this one")
			}
			r.Header = httpclient.Header{{Name: "X-Depth", Value: strings.Repeat("I", r.Depth)}}
			return nil
		}},
	})
	if r := got["http://a.test/no"]; r.ErrorKind != weft.KindRefused || r.Error != "not this one" || r.Tries != 0 || r.Status != 0 {
		t.Errorf("record of the refused URL: %+v", r)
	}
	for _, v := range seen {
		switch {
		case strings.HasSuffix(v.URL, "/no"):
			t.Error("the refused URL was requested")
		case strings.HasSuffix(v.URL, "/yes") && v.Header.Get("X-Depth") != "I":
			t.Errorf("header %v, expected the field of OnRequest", v.Header)
		}
		if v.Header.Get("X-All") != "1" {
			t.Errorf("%s: header %v, expected the field of Options", v.URL, v.Header)
		}
	}
}

func TestOnLink(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/":     crawltest.Links("/last", "/drop", "/first", "http://b.test/") + `<img src="/picture.png"><link rel="prefetch" href="/soon">`,
		"http://a.test/last": "a page", "http://a.test/first": "a page", "http://a.test/drop": "a page",
		"http://b.test/": "a page", "http://a.test/picture.png": "a picture", "http://a.test/soon": "a page",
	}
	_, sum, seen := w.Crawl(t, weft.Options{
		Seeds: []string{"http://a.test/"}, Pace: weft.Pace{PerHost: 1}, Reach: weft.Reach{NoRobots: true},
		Hooks: weft.Hooks{OnLink: func(from weburl.URL, l links.Link) weft.Verdict {
			if from.String() != "http://a.test/" {
				t.Errorf("OnLink was called with a link of %s", from)
			}
			switch {
			case strings.HasSuffix(l.Raw, "drop"):
				return weft.Verdict{Decision: weft.Drop, Reason: "it is a trap"}
			case strings.HasSuffix(l.Raw, "first"):
				return weft.Verdict{Priority: 5}
			case l.Tag == "img" || l.Kind == links.KindHint || strings.HasPrefix(l.Raw, "http://b.test"):
				return weft.Verdict{Decision: weft.Follow, Priority: -1}
			}
			return weft.Verdict{}
		}},
	})
	if sum.NotFollowed["it is a trap"] != 1 {
		t.Errorf("not followed: %v", sum.NotFollowed)
	}
	urls := seen.URLs()
	if i := slices.Index(urls, "http://b.test/"); i < 0 {
		t.Errorf("requested %q, without the other host", urls)
	} else {
		urls = slices.Delete(urls, i, i+1)
	}
	want := []string{"http://a.test/", "http://a.test/first", "http://a.test/last", "http://a.test/picture.png", "http://a.test/soon"}
	if !slices.Equal(urls, want) {
		t.Errorf("requested %q, expected %q", urls, want)
	}
}

// TestOnPage checks that OnPage runs off the fetch loops, concurrently but never more than
// Concurrency times at once, and that the crawl waits for it.
func TestOnPage(t *testing.T) {
	aiotest.CheckLeaks(t)
	s := crawltest.Leafy(t, 40)
	var now, most, all atomic.Int32
	both := make(chan struct{}) // closed when two calls of OnPage overlap
	var once sync.Once
	c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Pace: weft.Pace{Concurrency: 4}, Hooks: weft.Hooks{
		OnPage: func(_ context.Context, p *weft.Page) error {
			n := now.Add(1)
			defer now.Add(-1)
			for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
			}
			if n == 2 {
				once.Do(func() { close(both) })
			}
			if p.Depth == 1 {
				<-both
				doc, err := p.Document()
				if err != nil || doc.Find("title").Text() != "café" || p.Charset != "windows-1252" || string(p.Body) != "<title>caf\xe9</title>" {
					t.Errorf("page %+v, document %v", p, err)
				}
			} else if len(p.Links) != 40 || p.Header.Get("Content-Type") == "" {
				t.Errorf("%d links, header %v", len(p.Links), p.Header)
			}
			all.Add(1)
			return nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all.Load() != 41 || most.Load() > 4 {
		t.Errorf("%d pages, %d calls at once with a concurrency of 4", all.Load(), most.Load())
	}
}

func TestOnPageError(t *testing.T) {
	aiotest.CheckLeaks(t)
	broken := errors.New("the index is full")
	c, err := weft.New(weft.Options{Seeds: []string{crawltest.Leafy(t, 40).URL}, Hooks: weft.Hooks{
		OnPage: func(_ context.Context, p *weft.Page) error {
			if p.Depth == 1 {
				return broken
			}
			return nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Run(t.Context())
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "OnPage of http://127.0.0.1:") || !strings.HasSuffix(err.Error(), "x: the index is full") {
		t.Errorf("error %v, expected the error of OnPage, prefixed with the page's URL", err)
	}
}

// TestCrawlLoop checks that leaving a loop over Crawl, by break or by canceling, leaks nothing, and
// that failures are yielded.
func TestCrawlLoop(t *testing.T) {
	t.Run("break", func(t *testing.T) {
		aiotest.CheckLeaks(t)
		n := 0
		for page, err := range weft.Crawl(t.Context(), weft.Options{Seeds: []string{crawltest.Leafy(t, 40).URL}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _ = page.Title; n == 3 {
				break
			}
			n++
		}
	})
	t.Run("cancel", func(t *testing.T) {
		aiotest.CheckLeaks(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range weft.Crawl(ctx, weft.Options{Seeds: []string{crawltest.Leafy(t, 40).URL}}) {
			cancel()
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("last error %v, expected context.Canceled", last)
		}
	})
	t.Run("errors", func(t *testing.T) {
		aiotest.CheckLeaks(t)
		s := crawltest.Leafy(t, 1)
		s.Close()
		var failed *weft.FetchError
		for page, err := range weft.Crawl(t.Context(), weft.Options{Seeds: []string{s.URL}, Pace: weft.Pace{Retries: -1}}) {
			if !errors.As(err, &failed) || page.URL != s.URL+"/" {
				t.Errorf("page %v, error %v", page, err)
			}
		}
		if failed == nil || failed.Record.ErrorKind != "connect" {
			t.Errorf("error %v, expected one of kind connect", failed)
		}
	})
	t.Run("bad options", func(t *testing.T) {
		n := 0
		for page, err := range weft.Crawl(t.Context(), weft.Options{Seeds: []string{"ftp://a.test/"}}) {
			if n++; page != nil || err == nil {
				t.Errorf("page %v, error %v", page, err)
			}
		}
		if n != 1 {
			t.Errorf("%d iterations, expected one", n)
		}
	})
}

// TestPageAdd: a URL that OnPage adds is one link further from the seed, is judged as a link, by
// OnLink too, and outlives the process together with its page.
func TestPageAdd(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/":      "<meta name=robots content=nofollow>" + crawltest.Links("/linked"),
		"http://a.test/added": crawltest.Links("/deep", "/lost"), "http://a.test/deep": "", "http://a.test/deeper": "",
		"http://a.test/after-lost": "", "http://b.test/no": "", "http://b.test/yes": "",
	}
	add := map[string][]string{
		"http://a.test/":      {"added#here", "/added", "http://a.test/added", "http://b.test/no", "http://b.test/yes"},
		"http://a.test/deep":  {"/deeper"},
		"http://a.test/lost":  {"/after-lost"},
		"http://a.test/added": nil,
	}
	dir := filepath.Join(t.TempDir(), "job")
	o := weft.Options{
		Seeds: []string{"http://a.test/"}, Job: dir, Keep: weft.Keep{KeepLinks: true}, Reach: weft.Reach{Depth: 2}, Limits: weft.Limits{Limit: 1},
		Hooks: weft.Hooks{
			OnPage: func(_ context.Context, p *weft.Page) error {
				for _, ref := range []string{"mailto:me@a.test", "http://a b/"} {
					if p.Add(ref) == nil {
						t.Errorf("%s: %q was added", p.URL, ref)
					}
				}
				for _, ref := range add[p.URL] {
					if err := p.Add(ref); err != nil {
						t.Error(err)
					}
				}
				return nil
			},
			OnLink: func(_ weburl.URL, l links.Link) weft.Verdict {
				if l.Tag == "hook" && l.Attr == "add" && strings.HasSuffix(l.Raw, "/yes") {
					return weft.Verdict{Decision: weft.Follow}
				}
				return weft.Verdict{}
			},
		},
	}
	if got, sum, _ := w.Crawl(t, o); len(got) != 1 || sum.NotFollowed["scope"] != 1 || sum.Pending != 2 {
		t.Errorf("%v, %+v", slices.Sorted(maps.Keys(got)), sum)
	}
	o.Limits.Limit = 0
	got, sum, _ := w.Crawl(t, o)
	for url, want := range map[string][2]any{
		"http://a.test/added":      {1, "http://a.test/"},
		"http://b.test/yes":        {1, "http://a.test/"},
		"http://a.test/deep":       {2, "http://a.test/added"},
		"http://a.test/after-lost": {nil, nil},
		"http://a.test/deeper":     {nil, nil},
		"http://a.test/linked":     {nil, nil},
		"http://b.test/no":         {nil, nil},
	} {
		r, ok := got[url]
		if want[0] == nil {
			if ok {
				t.Errorf("%s was fetched", url)
			}
		} else if !ok || r.Depth != want[0] || !strings.HasPrefix(r.From, fmt.Sprint(want[1])) {
			t.Errorf("%s: %+v, expected %v", url, r, want)
		}
	}
	if sum.NotFollowed["depth"] != 2 || sum.NotFollowed["scope"] != 1 {
		t.Errorf("not followed: %v", sum.NotFollowed)
	}
	b, err := os.ReadFile(filepath.Join(dir, "links.jsonl"))
	if want := `{"from":"http://a.test/","to":"http://b.test/no","tag":"hook","attr":"add","kind":"page"}`; err != nil || strings.Count(string(b), want) != 1 {
		t.Errorf("%v, %s", err, b)
	}
}

// TestPageAddInLoop: the body of a loop over Crawl may add URLs, but not to a page that failed.
func TestPageAddInLoop(t *testing.T) {
	aiotest.CheckLeaks(t)
	s := crawltest.Leafy(t, 0)
	var got []string
	for page, err := range weft.Crawl(t.Context(), weft.Options{Seeds: []string{s.URL, "http://127.0.0.1:1/"}, Pace: weft.Pace{Retries: -1}}) {
		if err != nil {
			if page.Add("/x") == nil || page.Text() != nil {
				t.Errorf("%s: a page that failed took a URL", page.URL)
			}
			continue
		}
		got = append(got, strings.TrimPrefix(page.URL, s.URL))
		if len(got) == 1 {
			for i := range 1000 {
				if err := page.Add(fmt.Sprintf("/%d", i)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if len(got) != 1001 {
		t.Errorf("%d pages, expected 1001", len(got))
	}
}

package mirror_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/mirror"
)

// TestSite: a site becomes files; the next call goes on where a limit or an interruption has
// stopped, and brings what is complete up to date.
func TestSite(t *testing.T) {
	t1, t2 := time.Unix(1e9, 0), time.Unix(2e9, 0) // of a file server: 304 while they stay
	files := fstest.MapFS{
		"index.html": {Data: []byte("<a href=/a.html>a</a> <a href=/b.html>b</a>"), ModTime: t1},
		"a.html":     {Data: []byte("<p>a"), ModTime: t1},
		"b.html":     {Data: []byte("<p>b"), ModTime: t1},
	}
	s := httptest.NewServer(http.FileServerFS(files))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "copy")
	o := mirror.SiteOptions{Crawl: weft.Options{Seeds: []string{s.URL}, Limits: weft.Limits{Limit: 1}}}
	site := func() *mirror.Report {
		t.Helper()
		r, err := mirror.Site(t.Context(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := site(); r.Written != 1 || r.Crawl.Stopped != "limit" {
		t.Errorf("stopped: %+v", r)
	}
	o.Crawl.Limits.Limit = 0
	if r := site(); r.Files != 3 || r.Crawl.Visit != 1 || !r.Crawl.Finished {
		t.Errorf("the rest: %+v", r)
	}
	files["a.html"] = &fstest.MapFile{Data: []byte("<p>changed"), ModTime: t2}
	o.Crawl.Seeds = nil // the folder knows them
	if r := site(); r.Files != 3 || r.Written != 1 || r.Crawl.Visit != 2 || r.Crawl.Unchanged != 2 {
		t.Errorf("up to date: %+v", r)
	}
	o.Run = func(_ context.Context, c weft.Options) (weft.Summary, error) {
		if !c.Rerun.Update || c.Job != filepath.Join(dir, mirror.Hidden, "job") {
			t.Errorf("the crawl has %t, %q", c.Rerun.Update, c.Job)
		}
		return weft.Summary{Interrupted: true}, nil
	}
	if r, err := mirror.Site(t.Context(), dir, o); !errors.Is(err, mirror.ErrInterrupted) {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
}

// TestSiteNothing: a folder without a crawl needs seeds, and stays as it is without; a site that
// cannot be fetched has no mirror.
func TestSiteNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	if r, err := mirror.Site(t.Context(), dir, mirror.SiteOptions{}); !errors.Is(err, mirror.ErrNoJob) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made")
	}
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	o := mirror.SiteOptions{Crawl: weft.Options{Seeds: []string{s.URL}}}
	if r, err := mirror.Site(t.Context(), dir, o); err == nil || !strings.HasPrefix(err.Error(), "no seed could be fetched: ") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSiteAssets: what pages need comes from wherever it is, unless the options say otherwise.
func TestSiteAssets(t *testing.T) {
	for assets, o := range map[weft.Assets]mirror.SiteOptions{
		weft.AssetsAny: {}, weft.AssetsScope: {Crawl: weft.Options{Reach: weft.Reach{Assets: weft.AssetsScope}}}, weft.AssetsNone: {NoAssets: true},
	} {
		stop := errors.New("seen")
		o.Crawl.Seeds = []string{"http://a.test/"}
		o.Run = func(_ context.Context, c weft.Options) (weft.Summary, error) {
			if c.Reach.Assets != assets || !c.Keep.Archive || c.Traps.MaxURLLength != mirror.LongestURL {
				t.Errorf("%q: %q, archive %t, %d", assets, c.Reach.Assets, c.Keep.Archive, c.Traps.MaxURLLength)
			}
			return weft.Summary{}, stop
		}
		if _, err := mirror.Site(t.Context(), t.TempDir(), o); err != stop {
			t.Error(err)
		}
	}
}

package engine_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// TestFigures: a crawl without a job has figures, as one whose fetch loop is stuck: of that loop,
// for how long it has not answered.
func TestFigures(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, crawltest.Links("/page"))
	}))
	defer s.Close()
	stuck, freed := make(chan bool), make(chan bool)
	var o weft.Options
	o.Seeds, o.Loops = []string{s.URL}, 1
	o.Hooks.OnLink = func(weburl.URL, links.Link) weft.Verdict {
		select {
		case stuck <- true:
		case <-freed:
		}
		<-freed
		return weft.Verdict{}
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Figures(t.Context()); !errors.Is(err, weft.ErrNotRunning) {
		t.Errorf("before the crawl: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context())
		ended <- err
	}()
	<-stuck
	f, err := c.Figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Loops, func(l record.Loop) bool { return l.Name == "fetch 1" })
	if i < 0 || f.Loops[i].Turns != 0 || f.Loops[i].Answer < 0.2 {
		t.Errorf("loops %+v", f.Loops)
	}
	if f.State != weft.JobRunning || f.InFlight != 1 || f.Work.Robots != 1 || f.Commits != nil || f.Disk != nil || len(f.Shares) == 0 || f.Process.CPU == 0 {
		t.Errorf("%+v", f)
	}
	close(freed)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := c.Figures(t.Context()); !errors.Is(err, weft.ErrNotRunning) {
		t.Errorf("after the crawl: %v", err)
	}
}

// TestSharesOfMemory: the figures say what each part of a crawl takes of its memory.
func TestSharesOfMemory(t *testing.T) {
	held := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			io.WriteString(w, "User-agent: *\nDisallow: /private\n")
			return
		case "/held":
			<-held
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, r.URL.Path+strings.Repeat(" words of the page "+r.URL.Path, 200)+crawltest.Links("/page/1", "/page/2", "/page/3", "/held"))
	}))
	defer s.Close()
	defer close(held)
	r := crawltest.Start(t, weft.Options{Seeds: []string{s.URL}, Job: filepath.Join(t.TempDir(), "job"), Keep: weft.Keep{Archive: true}})
	r.Inspect()
	for want := []string{"rules", "shapes", "duplicates", "originals"}; len(want) > 0; {
		f, err := r.Job.Figures(t.Context())
		if err != nil {
			t.Fatalf("%v, expected %s", err, want)
		}
		want = slices.DeleteFunc(want, func(of string) bool {
			return slices.ContainsFunc(f.Shares, func(s record.Share) bool { return s.Of == of && s.Used > 0 && s.Used <= s.Most })
		})
	}
}

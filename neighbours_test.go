package weft_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/long"
)

// neighbour is a site that hurts others.
type neighbour struct {
	name    string
	origins int
	serve   http.HandlerFunc
}

// based is a site of short pages whose <base> makes megabytes of links.
func based(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	last := r.URL.Path[max(0, len(r.URL.Path)-10):]
	fmt.Fprintf(w, "<base href=/%s%s/>", strings.Repeat("x", 1800), strings.ReplaceAll(last, "/", "_"))
	for i := range 15_000 {
		fmt.Fprintf(w, "<a href=%d>", i)
	}
}

// mapped returns a site of many sitemaps, with the same entries or different ones.
func mapped(maps int, same bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			for i := range maps {
				fmt.Fprintf(w, "Sitemap: http://%s/map/%d.xml\n", r.Host, i)
			}
		case strings.HasPrefix(r.URL.Path, "/map/"):
			w.Header().Set("Content-Type", "application/xml")
			part := r.URL.Path
			if same {
				part = ""
			}
			io.WriteString(w, "<urlset>")
			for i := range 50_000 {
				fmt.Fprintf(w, "<url><loc>http://%s/a/page/of/the/site%s/%d</loc></url>\n", r.Host, part, i)
			}
			io.WriteString(w, "</urlset>")
		}
	}
}

// slow is a site of large bodies that take for ever.
func slow(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", "15000000")
	for _, err := io.WriteString(w, strings.Repeat("<p>", 2<<20)); err == nil; _, err = io.WriteString(w, strings.Repeat("x", 200<<10)) {
		w.(http.Flusher).Flush()
		<-time.After(time.Second)
	}
}

// crawlHealthy crawls a healthy site, one request at a time, beside the origins of a neighbour. It
// returns how long the site took, how many of its pages were fetched by then, and how long the
// crawl took to end after that.
func crawlHealthy(t *testing.T, pages int, beside neighbour) (took time.Duration, fetched int, drain time.Duration) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-time.After(20 * time.Millisecond)
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			for i := range pages - 1 {
				fmt.Fprintf(w, "<a href=/%d>", i)
			}
		}
	}))
	defer s.Close()
	o := weft.Options{Job: filepath.Join(t.TempDir(), "job"), PerHost: 1, Sitemaps: true, Memory: 64 << 20, Seeds: []string{s.URL + "/"}}
	for i := range beside.origins {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.3.%d:0", i+1))
		if err != nil {
			t.Skip("there is one loopback address only")
		}
		other := &httptest.Server{Listener: ln, Config: &http.Server{Handler: beside.serve}}
		other.Start()
		defer other.Close()
		o.Seeds = append(o.Seeds, other.URL+"/")
	}
	var c *weft.Crawler
	began := time.Now()
	o.Hooks.OnRecord = func(r *weft.Record) {
		if strings.HasPrefix(r.URL, s.URL+"/") && r.Status == 200 && !strings.HasSuffix(r.URL, "sitemap.xml") {
			if fetched++; fetched == pages {
				took = time.Since(began)
				go c.Drain()
			}
		}
	}
	o.MaxTime = time.Minute
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return took, fetched, time.Since(began) - took
}

// TestNeighbours checks that a healthy site is crawled as a whole, whatever its neighbours do, and
// that the crawl then ends. The long form, which has the machine to itself, also checks that the
// site takes at most three times as long as alone.
func TestNeighbours(t *testing.T) {
	pages := long.Or(100, 400)
	neighbours := []neighbour{{"pages that amplify by base", long.Or(3, 40), based}, {"the same sitemaps", 1, mapped(100, true)}}
	if long.Enabled() { // the end beside slow bodies takes ten seconds: see TestDrainIsBounded
		neighbours = append(neighbours, neighbour{"slow bodies", 60, slow},
			neighbour{"different sitemaps", 1, mapped(100, false)}, neighbour{"different sitemaps of many hosts", 100, mapped(1, false)})
	}
	alone, _, _ := crawlHealthy(t, pages, neighbour{})
	for _, n := range neighbours {
		t.Run(n.name, func(t *testing.T) {
			took, fetched, drain := crawlHealthy(t, pages, n)
			t.Logf("%d pages in %v, alone %v; the end took %v", fetched, took, alone, drain)
			if fetched != pages {
				t.Errorf("%d of %d pages, expected all", fetched, pages)
			}
			if long.Enabled() && took > 3*alone {
				t.Errorf("it took %v, expected at most three times %v", took, alone)
			}
			if drain > 30*time.Second {
				t.Errorf("the end took %v", drain)
			}
		})
	}
}

package rendered_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestShadowText: the text in shadow roots and frames of a rendered page is in its words and in
// what weft read prints, of the page and of its job.
func TestShadowText(t *testing.T) {
	const prose = "The harbour was built in 1870, when ships still came under sail, and the town had four streets."
	s := wefttest.Shows(t, map[string]string{
		"/":      "text/html\n<title>App</title><div id=root></div><script>let x=document.createElement('x-a');x.attachShadow({mode:'closed'}).innerHTML='<article><h1>In the shadow</h1><p>" + prose + "</p></article>';root.append(x);let f=document.createElement('iframe');f.src='/frame';root.append(f)</script>",
		"/frame": "text/html\n<h2>In a frame</h2><p>" + prose + " Ten years later there was a railway, a bank, and a newspaper.</p>",
	})
	crawled := wefttest.Crawl(t, wefttest.Done, "--render=always", "--bodies", "--delay", "0s", "--job", "job", s.URL)
	if words := s.Records(t, filepath.Join(crawled.Dir, "job"))["/"].Words; words != 55 {
		t.Errorf("%d words, expected 55 with those of shadow root and frame", words)
	}
	for _, args := range [][]string{{"read", "--render=always", s.URL}, {"read", "-o", "-", "job"}} {
		e := wefttest.In(t, crawled.Dir, args...)
		for _, want := range []string{"In the shadow", "ships still came under sail", "In a frame", "Ten years later"} {
			if !strings.Contains(e.Stdout, want) {
				t.Errorf("%q: %s%s, expected %q", args, e.Stdout, e.Stderr, want)
			}
		}
	}
}

package content_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
)

// TestCaptions: on request, a picture in the text has its caption; that of another article's has no
// picture here.
func TestCaptions(t *testing.T) {
	figure := `<figure><div><a href=/quay.jpg><img src=/quay.jpg></a></div><figcaption>The quay<span> Getty Images</span></figcaption></figure>`
	other := `<figure><a href=/f><img src=/f.jpg></a><figcaption>The town next to it</figcaption></figure>`
	code := `<figure><pre>ls quay</pre><figcaption>Listing by Getty Images</figcaption></figure>`
	text := strings.Replace(page(strings.Replace(prose, "<p>What", figure+"<p>What", 1)+code), "<footer>", other+"<footer>", 1)
	for captions, want := range map[bool]int{false: 0, true: 1} {
		_, got := extract(t, text, content.Options{Captions: captions})
		if n := strings.Count(got, "The quay Getty Images What remains"); n != want {
			t.Errorf("with Captions %t, the caption is there %d times, expected %d: %s", captions, n, want, got)
		}
		if strings.Contains(got, "next to it") || strings.Contains(got, "Listing by") {
			t.Errorf("with Captions %t: %s", captions, got)
		}
	}
}

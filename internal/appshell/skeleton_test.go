package appshell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/appshell"
)

// article is a page of a server, of so many paragraphs.
func article(n int) string {
	return fmt.Sprintf(`<!doctype html><html lang=en><head><meta charset=utf-8><meta name=description content="%d"><title>Article %d</title>
<link rel=canonical href=/a/%d><script src="/app.js?v=%d" defer></script><script>var page = %d</script></head>
<body class="single post-%d"><header class=top><nav><ul>%s</ul></nav></header>
<div id=page><main class=content><article id=post-%d><h1>Title %d, which is as long as titles are</h1><p>%s</p><div class="note n%d">%s</div></article></main></div></body></html>`,
		n, n, n, n, n, n, strings.Repeat("<li><a href=/x>x</a>", n%7), n, n, words(20*n), n, words(300))
}

func skeletonOf(body string) string {
	return string(appshell.LookAt([]byte(body), nil).Skeleton)
}

// TestSkeleton: pages of one template have one skeleton, whatever their text, numbers and menus;
// those of another template, or with other scripts, have others.
func TestSkeleton(t *testing.T) {
	want := "html#.\nhead#.\nscript /app.js\nscript \nbody#.single post-#\nheader#.top\ndiv#page.\nmain#.content\narticle#post-#.\nh1#.\n"
	for n := 1; n < 20; n++ {
		if got := skeletonOf(article(n)); got != want {
			t.Fatalf("article %d: %s", n, got)
		}
	}
	for name, other := range map[string]string{
		"another script":   strings.Replace(article(1), "/app.js", "/list.js", 1),
		"another template": strings.Replace(article(1), "<article id=post-1>", "<ul id=results></ul><article id=post-1>", 1),
	} {
		if skeletonOf(other) == want {
			t.Errorf("%s: the same skeleton", name)
		}
	}
	if got := skeletonOf(strings.Repeat("<div class=a><section class=b>", 9999)); len(got) > appshell.MaxSkeleton || len(got) < appshell.MaxSkeleton/2 {
		t.Errorf("a skeleton of %d bytes", len(got))
	}
	if got := skeletonOf(strings.Repeat("<div class=card></div>", 99)); got != "div#.card\n" {
		t.Errorf("a list: %s", got)
	}
}

func TestThin(t *testing.T) {
	for body, want := range map[string]bool{
		page(words(100)): true,
		page(words(400)): false,
		page("<p>x " + strings.Repeat("<a href=/x>x</a>", 9)):                   false,
		page("<nav>" + strings.Repeat("<a href=/x>x</a>", 9) + "</nav><p>text"): true,
	} {
		if got := appshell.LookAt([]byte(body), nil).Thin; got != want {
			t.Errorf("%.300s: %v", body, got)
		}
	}
}

func TestRuns(t *testing.T) {
	for body, want := range map[string]bool{
		"<p>x<script src=a.js></script>":                         true,
		"<SCRIPT TYPE=module>":                                   true,
		"<script type=application/ld+json>{}</script>":           false,
		"<script type=text/template><script></script>":           false,
		"<!-- <script>1</script> --><style><script></style><p>x": false,
	} {
		if got := appshell.Runs([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// BenchmarkLookAt is of a page that shows its text, as most do.
func BenchmarkLookAt(b *testing.B) {
	body, room := []byte(article(9)), make([]byte, 0, appshell.MaxSkeleton)
	b.ReportAllocs()
	for b.Loop() {
		appshell.LookAt(body, room)
	}
}

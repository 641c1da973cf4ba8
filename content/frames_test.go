package content

import (
	"strings"
	"testing"
)

// TestFrames: a page of frames says what it shows to readers without them, and where its frames
// are.
func TestFrames(t *testing.T) {
	const frames = "<title>Docs</title><frameset cols=20%,*><frame src=menu.html name=menu><frameset rows=1,*><frame src=start.html title='The start'><frame></frameset>"
	for name, c := range map[string]struct{ page, want string }{
		"frames":             {frames + "</frameset>", `<ul><li><a href="menu.html">menu</a></li><li><a href="start.html">The start</a></li></ul>`},
		"with noframes":      {frames + "<noframes><body><p>Read the <a href=text.html>text</a>.</noframes></frameset>", `<p>Read the <a href="text.html">text</a>.</p><ul>`},
		"noframes alone":     {"<frameset><noframes><p>Read this.", "<p>Read this.</p>"},
		"nothing":            {"<frameset></frameset>", "<body></body>"},
		"noframes in frames": {frames + "<noframes><frameset><frame src=a></frameset></noframes></frameset>", "The start"},
	} {
		for _, o := range []Options{{}, {Solid: true}, {Whole: true}} {
			if got := extracted(t, c.page, o); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, expected %s", name, got, c.want)
			}
		}
	}
}

package proof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/bench/proof"
)

// TestHTTP2 is the short form of make proof-http2: a small site over Go's server and nginx.
func TestHTTP2(t *testing.T) {
	root := t.TempDir()
	for dir := root; dir != filepath.Dir(os.TempDir()); dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755) // servers run as other users
		if dir == os.TempDir() {
			break
		}
	}
	var links strings.Builder
	for i := range 150 {
		name := fmt.Sprintf("%d.html", i)
		fmt.Fprintf(&links, "<a href=%s>%d</a> ", name, i)
		text := fmt.Sprintf("<title>%d</title><a href=/>home</a>%s", i, strings.Repeat(fmt.Sprint(" page ", i), i*i/4))
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "index.html"), []byte(links.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	command := weft(t)
	var pages map[string]string
	for _, c := range proof.HTTP2Cases() {
		short := c.Server.Name == "Go" || c.Server.Name == "nginx" && (c.What == "" || c.What == "reload in the middle" || c.Options.Requests > 0)
		if !short {
			continue
		}
		if !c.Server.Installed() {
			t.Skipf("missing: %s", c.Server.Name)
		}
		crossed, err := proof.Over{Command: command, Dir: root, Root: root, Case: c}.Run(t.Context(), pages)
		if err != nil {
			t.Fatalf("%s, %s: %v", c.Server.Name, c.What, err)
		}
		if pages == nil {
			pages = crossed.Pages
		}
		t.Logf("%s, %s: %v", c.Server.Name, c.What, crossed.Took)
		if len(pages) != 151 {
			t.Errorf("%d pages", len(pages))
		}
		for _, wrong := range crossed.Wrong {
			t.Errorf("%s, %s: %s", c.Server.Name, c.What, wrong)
		}
	}
}

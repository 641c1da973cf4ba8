package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/mcp"
)

// TestAgentsRender: an agent's crawl renders, with the operator's browser, if and only if the
// operator lets pages be rendered.
func TestAgentsRender(t *testing.T) {
	t.Parallel()
	for _, render := range []bool{true, false} {
		f, o := mcpFlags{render: render}, mcp.Options{}
		f.client.render.Browser = "/opt/browser"
		folder, err := f.jobs(t.TempDir(), &o)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		name, err := o.Crawls.Start(mcp.Operator(), mcp.Order{Seeds: []string{"https://a.test/"}, Options: map[string][]string{"render": {"auto"}}})
		text, _ := os.ReadFile(filepath.Join(folder.Dir(), name+".toml"))
		if has := strings.Contains(string(text), "browser = '/opt/browser'\n") && strings.Contains(string(text), "render = 'auto'\n"); has != render || (err == nil) != render {
			t.Errorf("render %t: %v, %s", render, err, text)
		}
	}
}

// TestUsualBody: a single page has the size that the operator's file sets.
func TestUsualBody(t *testing.T) {
	t.Parallel()
	for size, want := range map[string]int{"20KiB": 20 << 10, "": 16 << 20} {
		usual := make(map[string][]string)
		if size != "" {
			usual["max-body"] = []string{size}
		}
		if s, err := new(serveFlags).scraper(usual); err != nil || s.MaxBody != want {
			t.Errorf("%q: %v, %+v", size, err, s)
		}
	}
}

//go:build interop

package served

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// client is Firecrawl's for JavaScript. Later ones may say more.
const client = "@mendable/firecrawl-js@4.42.0"

// firecrawlClient returns a folder node_modules with the client, as npm has installed it once.
func firecrawlClient(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "weft-test", strings.ReplaceAll(client, "/", "-"))
	if _, err := os.Stat(dir); err == nil {
		return filepath.Join(dir, "node_modules")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	install := exec.CommandContext(t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", fresh, client)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v: %s", client, err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return filepath.Join(dir, "node_modules")
}

// TestFirecrawlClient: the unchanged client of Firecrawl works with weft serve.
func TestFirecrawlClient(t *testing.T) {
	t.Parallel()
	modules := firecrawlClient(t)
	dir, at := t.TempDir(), t.TempDir()
	key := strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "js", dir).Stdout)
	s := serve(t, dir, "--allow-private")
	script, err := os.ReadFile("testdata/firecrawl.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(at, "test.mjs"), script, 0o600)
	}
	if err == nil {
		err = os.Symlink(modules, filepath.Join(at, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(at, "test.mjs"), s.url, key, docs(t, 140)).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "done\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// docs is a site with a folder of n pages, one that robots.txt forbids and one that breaks off.
func docs(t *testing.T, n int) string {
	var web *httptest.Server
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/docs/"))
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprintf(w, "User-agent: *\nDisallow: /docs/private\nSitemap: %s/sitemap.xml\n", web.URL)
		case r.URL.Path == "/sitemap.xml":
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%s/docs/listed</loc></url></urlset>`, web.URL)
		case r.URL.Path == "/docs/broken":
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/docs/", r.URL.Path == "/docs/listed", err == nil && i <= n:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<title>Page %d</title><nav><a href=/other>Menu</a></nav><main><h1>Page %[1]d</h1><p>The text of page %[1]d.</p>", i)
			if i < n {
				fmt.Fprintf(w, "<a href=/docs/%d>next</a> <a href=/docs/%d>more</a>", i+1, i+2)
			}
			if i == 0 {
				fmt.Fprint(w, "<a href=/docs/private>x</a> <a href=/docs/broken>x</a>")
			}
			fmt.Fprint(w, "</main>")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	return web.URL
}

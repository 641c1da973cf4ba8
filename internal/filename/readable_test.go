package filename

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestReadable: a name says what the URL says, has the extension of its type, and no name is
// hidden, misleading or a device.
func TestReadable(t *testing.T) {
	for _, c := range []struct{ url, mime, want string }{
		{"https://a.test/", "text/html", "a.test/index.html"},
		{"https://u:p@a.test:8080/docs", "text/html", "a.test_8080/docs.html"},
		{"https://a.test/docs/", "application/json", "a.test/docs/index.json"},
		{"https://a.test/page.php?id=3&x=/y#z", "text/html", "a.test/page@id=3&x=%2Fy.php.html"},
		{"https://a.test/a.HTM", "text/html", "a.test/a.HTM"},
		{"https://a.test/s.css?v=1.2", "text/css", "a.test/s@v=1.2.css"},
		{"https://a.test/photo.jpg", "image/webp", "a.test/photo.jpg"},
		{"https://a.test/logo", "image/png", "a.test/logo.png"},
		{"https://a.test/LICENSE", "text/plain", "a.test/LICENSE.txt"},
		{"https://a.test/a.py", "text/x-python", "a.test/a.py"},
		{"https://a.test/trap.html", "text/plain", "a.test/trap.html.txt"},
		{"https://a.test/trap.svg", "application/octet-stream", "a.test/trap.svg.bin"},
		{"https://a.test/trap.svgz", "text/plain", "a.test/trap.svgz.txt"},
		{"https://a.test/trap.rss", "text/plain", "a.test/trap.rss.txt"},
		{"https://a.test/caf%C3%A9/%E6%97%A5%E6%9C%AC.html", "text/html", "a.test/café/日本.html"},
		{"https://a.test/my%20file.pdf", "application/pdf", "a.test/my file.pdf"},
		{"https://a.test/%e9%zz%", "text/html", "a.test/%E9%25zz%25.html"},
		{"https://a.test/%2e%2e/%2E%2E%2f%00x", "text/html", "a.test/%2E%2E/%2E.%2F%00x.html"},
		{"https://../x./y.", "text/html", "%2E%2E/x%2E/y..html"},
		{"https://a.test/.htaccess", "text/plain", "a.test/%2Ehtaccess"},
		{"https://a.test/%E2%80%AEgpj.exe%F0%9F%98%80", "", "a.test/%E2%80%AEgpj.exe😀"},
		{"https://a.test/NUL.txt", "text/plain", "a.test/NUL.txt"},
		{"", "", "index"},
	} {
		if got := (Style{}).Of(c.url, c.mime); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
	for url, want := range map[string]string{
		"https://a.test/NUL.txt": "a.test/_NUL.txt", "https://a.test/com1/lpt%C2%B9": "a.test/_com1/_lpt¹", "https://con/comet": "_con/comet",
	} {
		if got := (Style{Windows: true}).Of(url, ""); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if Fold("Stra\u00dfe/CAFE\u0301") != Fold("STRA\u00dfE/caf\u00e9") || Fold("a") == Fold("b") {
		t.Error("case and accents tell names apart")
	}
}

// FuzzReadable: whatever a URL holds, its path is within the folder, short, and not hidden.
func FuzzReadable(f *testing.F) {
	f.Add("https://example.org/../../etc/passwd?x", "text/html", false)
	f.Add("https://example.org/"+strings.Repeat("%E2%80%AE%E6%97%A5", 500)+".svg", "text/css", true)
	f.Add("https://example.org/"+strings.Repeat("d/", 600), "image/png", true)
	f.Fuzz(func(t *testing.T, url, mime string, windows bool) {
		name := (Style{windows}).Of(url, mime)
		if !filepath.IsLocal(name) || len(name) > mostPath || name != filepath.Clean(name) || !utf8.ValidString(name) {
			t.Errorf("%q", name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if part == "" || len(part) > 220 || part[0] == '.' || strings.HasSuffix(part, ".") || strings.ContainsAny(part, "\\:\x00\n\u202e") || windows && isDevice(part) {
				t.Errorf("%q", name)
			}
		}
	})
}

package replay

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

type captured struct {
	url, head, body string
	hours           int
}

// archived returns an archive of captures.
func archived(t *testing.T, captures ...captured) *archive.Archive {
	t.Helper()
	e := warc.NewEncoder(warc.Options{})
	var file []byte
	for _, c := range captures {
		file, _ = e.Exchange(file, &warc.Exchange{URL: c.url, Date: noon.Add(time.Duration(c.hours) * time.Hour),
			Response: []byte("HTTP/1.1 " + c.head + "\r\n\r\n" + c.body)})
	}
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// serving serves an archive of captures.
func serving(t *testing.T, captures ...captured) *httptest.Server {
	t.Helper()
	pages := New(archived(t, captures...), "a", func(err error) { t.Error(err) })
	s := httptest.NewServer(pages)
	s.URL += strings.TrimSuffix(pages.Root(), "/")
	t.Cleanup(s.Close)
	return s
}

const html = "200 OK\r\nContent-Type: text/html; charset=utf-8"

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// get requests a path below the root, which is left out of the response, and follows no redirect.
func get(t *testing.T, s *httptest.Server, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := r.URL.Path
	r.URL.Opaque = root + path
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else if header[i] == "Method" {
			r.Method = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Header.Set("Location", strings.TrimPrefix(resp.Header.Get("Location"), root))
	return resp, strings.ReplaceAll(string(body), root, "")
}

// TestServer: each view of captures, and what is not there.
func TestServer(t *testing.T) {
	s := serving(t,
		captured{"https://example.org/", html + "\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b\r\nX-Frame-Options: DENY", gzipped("<a href=/b>old</a>"), 0},
		captured{"https://example.org/", html, "<a href=/b>new</a>", 48},
		captured{"https://example.org/gone", "302 Found\r\nLocation: b?x", "", 0},
		captured{"https://example.org/b?x", "404 Not Found\r\nContent-Type: text/html; charset=windows-1252", "\xe9", 0},
		captured{"https://example.org/u16", "200 OK\r\nContent-Type: text/html", "\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00b\x00>\x00", 0},
		captured{"https://example.org/odd", "200 OK\r\nContent-Encoding: x-odd", "<a href=b>", 0},
		captured{"https://example.org/mixed", "200 OK\r\nContent-Type: Multipart/x-mixed-replace; boundary=a", "--a", 0},
		captured{"https://example.org/untyped", "200 OK", "<html><a href=b>", 0},
		captured{"https://example.org/a'(1).css", "200 OK\r\nContent-Type: text/css", "a{b:url(c)}", 0},
	)
	for _, c := range []struct {
		path   string
		status int
		want   string // in the body, or of a redirect the Location
		header string // Name: value
	}{
		{"/", 200, `href="/20261122120000/https://example.org/"`, "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
		{"/-/style.css", 200, "font", "Content-Type: text/css; charset=utf-8"},
		{"/-/open?url=+example.org%2Fb%3Fx", 302, "/https://example.org/b?x", ""},
		{"/-/open?url=%2F%2Fevil.example%2F", 400, "expected a URL", ""},
		{"/https://example.org/", 302, "/20261124120000/https://example.org/", ""},
		{"/2026/https://example.org/", 200, `src="/2026mp_/https://example.org/"`, ""},
		{"/20261122mp_/https://example.org/", 200, `</script><a href="/20261122mp_/https://example.org/b">old</a>`, "Content-Type: text/html; charset=utf-8"},
		{"/20261122mp_/https://example.org/", 200, `data-date="20261122120000"`, "Memento-Datetime: Sun, 22 Nov 2026 12:00:00 GMT"},
		{"/2027mp_/https:/example.org", 200, `new</a>`, "Set-Cookie: "},
		{"/mp_/https://example.org/", 200, `new</a>`, "X-Frame-Options: "},
		{"/20261122id_/https://example.org/", 200, `<a href=/b>old</a>`, ""},
		{"/*/https://example.org/", 200, `<a href="/20261124120000/https://example.org/">12:00:00</a>`, ""},
		{"/*/https://example.org/none", 404, "0 captures", ""},
		{"/1mp_/https://example.org/gone", 302, "/1mp_/https://example.org/b?x", ""},
		{"/1mp_/https://example.org/b?x", 404, "\xe9", "Content-Type: text/html; charset=windows-1252"},
		{"/1mp_/https://example.org/u16", 200, `<a href="/1mp_/https://example.org/b">`, "Content-Type: text/html; charset=utf-8"},
		{"/1mp_/https://example.org/odd", 200, `<a href=b>`, "Content-Encoding: x-odd"},
		{"/1id_/https://example.org/mixed", 200, `--a`, "Content-Type: application/octet-stream"},
		{"/1mp_/https://example.org/untyped", 200, `<a href="/1mp_/https://example.org/b">`, "Content-Type: "},
		{"/1mp_/https://example.org/a%27(1).css", 200, `url(/1mp_/https://example.org/c)`, ""},
		{"/1mp_/https://example.org/none", 404, `<a href="/20261122120000mp_/https://example.org/">`, ""},
		{"/1/https://example.org/none", 404, "not archived", ""},
		{"/1/https://example.org/%22%3E%3Cscript%3E", 404, `value="https://example.org/%22%3E%3Cscript%3E"`, ""},
		{"/favicon.ico", 404, "", ""},
		{"/99999999999999/https://example.org/", 404, "expected up to 14 digits", ""},
		{"/-/../server.go", 400, "", ""},
		{"/-/..%2fpages/start.html", 400, "", ""},
		{"/1mp_/ftp://example.org/", 404, "", ""},
		{"/1mp_/https://", 404, "", ""},
		{"/" + strings.Repeat("1", 5000), 404, "", ""},
	} {
		resp, body := get(t, s, c.path)
		if c.status/100 == 3 {
			body = resp.Header.Get("Location")
		}
		name, value, _ := strings.Cut(c.header, ": ")
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) || name != "" && resp.Header.Get(name) != value {
			t.Errorf("%.100s: %d %s\n%.500s, want %d %s, %s", c.path, resp.StatusCode, resp.Header, body, c.status, c.want, c.header)
		}
	}
}

// TestIsolation: an archived page is in a sandbox, another name of this server is refused, and a page
// elsewhere cannot read what is here.
func TestIsolation(t *testing.T) {
	s := serving(t, captured{"https://example.org/", html, "<p>", 0}, captured{"https://example.org/f.woff", "200 OK\r\nContent-Type: font/woff\r\nAccess-Control-Allow-Origin: *", "f", 0})
	host := s.Listener.Addr().String()
	for path, may := range map[string]string{
		"/1mp_/https://example.org/":     "allow-scripts allow-forms allow-downloads",
		"/1id_/https://example.org/":     "allow-downloads",
		"/1mp_/https://example.org/none": "allow-scripts allow-forms allow-downloads",
	} {
		resp, _ := get(t, s, path)
		policy := resp.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "sandbox "+may+"; default-src http://"+host+" ") || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, resp.Header)
		}
	}
	for _, path := range []string{"/", "/-/style.css", "/mp_/https://example.org/", "/AAAAAAAAAAAAAAAAAAAAAAAAAA/"} {
		resp, err := http.Get("http://" + host + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != 404 {
			t.Errorf("%s without the root: %s", path, resp.Status)
		}
	}
	for header, want := range map[string]string{
		"Host evil.example":           "421 ",
		"Host 127.0.0.1.evil.example": "421 ",
		"Host 192.0.2.1:80":           "421 ",
		"Host localhost:1;x":          "421 ",
		"Host localhost":              "200 ",
		"Host [::1]:80":               "200 ",
		"Method POST":                 "405 ",
		"Sec-Fetch-Dest document":     "302 ",
		"Sec-Fetch-Dest font":         "200 *",
		"Sec-Fetch-Dest empty":        "200 ",
	} {
		name, value, _ := strings.Cut(header, " ")
		resp, _ := get(t, s, "/1mp_/https://example.org/f.woff", name, value)
		if got := fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Access-Control-Allow-Origin")); got != want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
}

// TestRange: a browser that seeks gets the range that it asks for, if the archive says how long the
// body is.
func TestRange(t *testing.T) {
	const media = "200 OK\r\nContent-Type: audio/ogg"
	captures := []captured{
		{"https://example.org/a.ogg", media + "\r\nContent-Length: 10", "0123456789", 0},
		{"https://example.org/b.ogg", media + "\r\nContent-Length: 30\r\nContent-Encoding: gzip", gzipped("0123456789"), 0},
		{"https://example.org/c.ogg", "206 Partial Content\r\nContent-Type: audio/ogg\r\nContent-Length: 10\r\nContent-Range: bytes 0-9/99", "0123456789", 0},
		{"https://example.org/page", html + "\r\nContent-Length: 10", "<a href=x>", 0},
	}
	s := serving(t, captures...)
	client, _, _ := proxying(t, "", captures...)
	for _, c := range []struct{ name, header, want string }{
		{"a.ogg", "", "200  0123456789"},
		{"a.ogg", "bytes=0-", "206 bytes 0-9/10 0123456789"},
		{"a.ogg", "bytes=3-5", "206 bytes 3-5/10 345"},
		{"a.ogg", "bytes=8-99", "206 bytes 8-9/10 89"},
		{"a.ogg", "Bytes=-2", "206 bytes 8-9/10 89"},
		{"a.ogg", "bytes=-99", "206 bytes 0-9/10 0123456789"},
		{"a.ogg", "bytes=10-", "416 bytes */10 "},
		{"a.ogg", "bytes=-0", "416 bytes */10 "},
		{"a.ogg", "bytes=5-3", "200  0123456789"},
		{"a.ogg", "bytes=0-1,3-4", "200  0123456789"},
		{"a.ogg", "bytes=-", "200  0123456789"},
		{"a.ogg", "bytes=9223372036854775807-9223372036854775807", "416 bytes */10 "},
		{"a.ogg", "bytes=99999999999999999999-", "200  0123456789"},
		{"a.ogg", "lines=1-2", "200  0123456789"},
		{"b.ogg", "bytes=3-5", "200  0123456789"},
		{"c.ogg", "bytes=3-5", "206 bytes 3-5/10 345"},
	} {
		for _, get := range []func() (*http.Response, string){
			func() (*http.Response, string) {
				return get(t, s, "/1mp_/https://example.org/"+c.name, "Range", c.header)
			},
			func() (*http.Response, string) {
				return ask(t, client, "https://example.org/"+c.name, "Range", c.header)
			},
		} {
			resp, body := get()
			if got := fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Content-Range"), " ", body); got != c.want {
				t.Errorf("%s, %s: %s, want %s", c.name, c.header, got, c.want)
			}
		}
	}
	if resp, body := get(t, s, "/1mp_/https://example.org/page", "Range", "bytes=1-3"); resp.StatusCode != 200 || !strings.HasSuffix(body, `<a href="/1mp_/https://example.org/x">`) {
		t.Errorf("a page that is rewritten: %s %s", resp.Status, body)
	}
}

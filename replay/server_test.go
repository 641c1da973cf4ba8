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

// captured is a capture; behind the URL of a POST stand " POST ", its Content-Type and its body.
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
		url, sent, _ := strings.Cut(c.url, " POST ")
		x := &warc.Exchange{URL: url, Date: noon.Add(time.Duration(c.hours) * time.Hour),
			Response: []byte("HTTP/1.1 " + c.head + "\r\n\r\n" + c.body)}
		if contentType, body, ok := strings.Cut(sent, " "); ok {
			x.Request = fmt.Appendf(nil, "POST / HTTP/1.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, len(body), body)
		}
		file, _ = e.Exchange(file, x)
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
		captured{"https://example.org/stored", html + "\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\nContent-Length: 3", "<a href=/b>stored decoded</a>", 0},
		captured{"https://example.org/odd", "200 OK\r\nContent-Encoding: x-compress", "<a href=b>", 0},
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
		{"/1mp_/https://example.org/stored", 200, `</script><a href="/1mp_/https://example.org/b">stored decoded</a>`, "Content-Encoding: "},
		{"/1id_/https://example.org/stored", 200, `<a href=/b>stored decoded</a>`, "Content-Encoding: "},
		{"/1mp_/https://example.org/odd", 200, `<a href=b>`, "Content-Encoding: x-compress"},
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

// TestIsolation: an archived page is in a sandbox, another name of this server is refused, and a
// page elsewhere cannot read what is here.
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
		"Method POST":                 "404 ",
		"Method PUT":                  "405 ",
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

// sends are captures of what forms and scripts have sent.
var sends = []captured{
	{"https://example.org/search", html, "the form", 0},
	{"https://example.org/search POST application/x-www-form-urlencoded q=red+shoes", html, "<a href=/shoe>a shoe</a>", 0},
	{"https://example.org/search POST application/x-www-form-urlencoded q=red+shoes", html, "<a href=/shoe>two shoes</a>", 48},
	{"https://example.org/search POST application/x-www-form-urlencoded q=hats", "303 See Other\r\nLocation: /hats", "", 0},
	{"https://example.org/search POST multipart/form-data;boundary=xyz --xyz\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nbag\r\n--xyz--\r\n", html, "a bag", 0},
	{"https://example.org/api POST application/json {\"q\":[1]}", "200 OK\r\nContent-Type: application/json", "[]", 0},
}

// TestForms: what a form sends brings what was archived for the same body.
func TestForms(t *testing.T) {
	s := serving(t, sends...)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct{ path, contentType, body, want string }{
		{"/mp_/https://example.org/search", "application/x-www-form-urlencoded", "q=red%20shoes", `200 <a href="ROOT/mp_/https://example.org/shoe">two shoes</a>`},
		{"/20261122mp_/https://example.org/search", "application/x-www-form-urlencoded", "q=red+shoes", `200 <a href="ROOT/20261122mp_/https://example.org/shoe">a shoe</a>`},
		{"/mp_/http://www.example.org/search", "application/x-www-form-urlencoded", "q=hats", "303 to ROOT/mp_/https://example.org/hats"},
		{"/mp_/https://example.org/search", "multipart/form-data; boundary=another", "--another\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nbag\r\n--another--\r\n", "200 a bag"},
		{"/mp_/https://example.org/api", "application/json", "{ \"q\": [ 1 ] }", "200 []"},
		{"/mp_/https://example.org/search", "application/x-www-form-urlencoded", "q=blue+shoes", "404 What was sent to https://example.org/search is not in the archive"},
		{"/mp_/https://example.org/search", "application/x-www-form-urlencoded", "", "404 What was sent"},
		{"/https://example.org/search", "application/x-www-form-urlencoded", "q=hats", "404 only an archived page sends a form"},
		{"/", "application/x-www-form-urlencoded", "q=hats", "404 expected"},
	} {
		resp, err := client.Post(s.URL+c.path, c.contentType, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		root := strings.TrimPrefix(s.URL, "http://"+resp.Request.URL.Host)
		got := fmt.Sprintf("%d %s", resp.StatusCode, body)
		if to := resp.Header.Get("Location"); to != "" {
			got = fmt.Sprintf("%d to %s", resp.StatusCode, to)
		}
		status, want, _ := strings.Cut(strings.ReplaceAll(c.want, "ROOT", root), " ")
		if !strings.HasPrefix(got, status) || !strings.Contains(got, want) {
			t.Errorf("%s %s: %s, want %s", c.path, c.body, got, c.want)
		}
	}
}

// TestRange: a browser that seeks gets the range that it asks for, if the body has no coding.
func TestRange(t *testing.T) {
	const media = "200 OK\r\nContent-Type: audio/ogg"
	captures := []captured{
		{"https://example.org/a.ogg", media + "\r\nContent-Length: 10", "0123456789", 0},
		// The length is that of the compressed body.
		{"https://example.org/d.ogg", media + "\r\nContent-Length: 4", "0123456789", 0},
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
		{"d.ogg", "bytes=3-", "206 bytes 3-9/10 3456789"},
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

package replay

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// proxying serves captures as a proxy, and returns a client that uses it and trusts its authority.
func proxying(t *testing.T, date string, captures ...captured) (*http.Client, *httptest.Server, *Authority) {
	t.Helper()
	ca, err := OpenAuthority(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	at, err := ParseDate(date)
	if err != nil {
		t.Fatal(err)
	}
	p := NewProxy(New(archived(t, captures...), "a", func(err error) { t.Error(err) }), at, ca)
	s := httptest.NewServer(p)
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(ca.File)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("%s: %v", pem, err)
	}
	through, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(through), TLSClientConfig: &tls.Config{RootCAs: roots}, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Close()
		p.Close()
	})
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client, s, ca
}

// ask sends a request through a proxy.
func ask(t *testing.T, client *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Method" {
			r.Method = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestProxy: each URL, http and https, is what was archived at it.
func TestProxy(t *testing.T) {
	captures := []captured{
		{"https://example.org/", html + "\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b\r\nContent-Length: 3\r\nX-Frame-Options: DENY", gzipped("<a href=/b>old</a>"), 0},
		{"https://example.org/", html + "\r\nConnection: x-hop\r\nX-Hop: 1\r\nStrict-Transport-Security: max-age=1\r\nAlt-Svc: h3\r\n" +
			"Public-Key-Pins: a\r\nClear-Site-Data: *\r\nCache-Control: immutable\r\nETag: \"1\"", "<a href=/b>new</a>", 48},
		{"https://example.org:8443/a?b", "302 Found\r\nLocation: c?x", "", 0},
		{"http://example.org/gone", "404 Not Found\r\nContent-Type: text/html; charset=windows-1252", "\xe9", 0},
		{"http://192.0.2.1/", "206 Partial Content\r\nContent-Range: bytes 0-1/2", "ip", 0},
		{"https://[2001:db8::1]/", "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic", "six", 0},
		{"https://xn--bcher-kva.example/odd", "200 OK\r\nContent-Encoding: x-compress", "odd", 0},
	}
	latest, _, _ := proxying(t, "", captures...)
	dated, _, _ := proxying(t, "20261122", captures...)
	for _, c := range []struct {
		client *http.Client
		url    string
		status int
		want   string // in the body, or of a redirect the Location
		header string // Name: value
	}{
		{dated, "https://example.org/", 200, "<a href=/b>old</a>", "Content-Encoding: "},
		{dated, "https://example.org/", 200, "old", "Set-Cookie: a=b"},
		{dated, "https://example.org/", 200, "old", "X-Frame-Options: DENY"},
		{dated, "https://example.org/", 200, "old", "Memento-Datetime: Sun, 22 Nov 2026 12:00:00 GMT"},
		{latest, "https://example.org/", 200, "<a href=/b>new</a>", `Etag: "1"`},
		{latest, "https://example.org/", 200, "new", "X-Hop: "},
		{latest, "https://example.org/", 200, "new", "Strict-Transport-Security: "},
		{latest, "https://example.org/", 200, "new", "Alt-Svc: "},
		{latest, "https://example.org/", 200, "new", "Public-Key-Pins: "},
		{latest, "https://example.org/", 200, "new", "Clear-Site-Data: "},
		{latest, "https://example.org/", 200, "new", "Cache-Control: no-store"},
		{latest, "https://example.org:8443/a?b", 302, "c?x", ""},
		{latest, "http://example.org/gone", 404, "\xe9", "Content-Type: text/html; charset=windows-1252"},
		{latest, "http://192.0.2.1/", 200, "ip", "Content-Range: "},
		{latest, "https://[2001:db8::1]/", 200, "six", "Proxy-Authenticate: "},
		{latest, "https://xn--bcher-kva.example/odd", 200, "odd", "Content-Encoding: x-compress"},
		{latest, "http://example.org/none", 404, `<a href="https://example.org/">`, "Content-Type: text/html; charset=utf-8"},
		{latest, "https://example.org/none", 404, "<style>body {", "Cache-Control: no-store"},
		{latest, "https://never.example/", 404, "Nor is any page of this host", ""},
	} {
		resp, body := ask(t, c.client, c.url)
		if c.status/100 == 3 {
			body = resp.Header.Get("Location")
		}
		name, value, _ := strings.Cut(c.header, ": ")
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) || name != "" && resp.Header.Get(name) != value {
			t.Errorf("%s: %d %s\n%.300s, want %d %s, %s", c.url, resp.StatusCode, resp.Header, body, c.status, c.want, c.header)
		}
	}
	for header, want := range map[string]int{
		"Method POST": 404, "Method PUT": 405, "Method HEAD": 200, "Method OPTIONS": 405, "Service-Worker script": 404, "Sec-Fetch-Dest image": 200,
	} {
		name, value, _ := strings.Cut(header, " ")
		if resp, body := ask(t, latest, "https://example.org/", name, value); resp.StatusCode != want {
			t.Errorf("%s: %s %s", header, resp.Status, body)
		}
	}
}

// TestProxyForms: a form, and a script, find what was archived for the same body.
func TestProxyForms(t *testing.T) {
	client, _, _ := proxying(t, "", sends...)
	for _, c := range []struct{ url, contentType, body, want string }{
		{"https://example.org/search", "application/x-www-form-urlencoded", "q=red%20shoes", "two shoes"},
		{"https://example.org/api", "application/json", `{"q": [1]}`, "[]"},
		{"https://example.org/search", "application/x-www-form-urlencoded", "q=x", "What was sent to https://example.org/search is not in the archive"},
	} {
		resp, err := client.Post(c.url, c.contentType, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.Body.Close(); err != nil || !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s: %s %.300s, %v, want %s", c.url, c.body, resp.Status, body, err, c.want)
		}
	}
}

// TestProxyRefuses: what is no request to a proxy is answered by neither the archive nor the
// network.
func TestProxyRefuses(t *testing.T) {
	_, s, _ := proxying(t, "", captured{"https://example.org/", html, "<p>", 0})
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: " + s.Listener.Addr().String():                   "421",
		"GET /https://example.org/ HTTP/1.1\r\nHost: example.org":                 "421",
		"GET ftp://example.org/ HTTP/1.1\r\nHost: example.org":                    "400",
		"GET https://example.org/ HTTP/1.1\r\nHost: example.org":                  "200",
		"CONNECT " + strings.Repeat("a", 70) + ".example:443 HTTP/1.1\r\nHost: a": "200",
		"CONNECT exa mple:443 HTTP/1.1\r\nHost: a":                                "400",
		"CONNECT a<b>.example:443 HTTP/1.1\r\nHost: a":                            "400",
		"CONNECT example.org:99999 HTTP/1.1\r\nHost: a":                           "400",
		"CONNECT /x HTTP/1.1\r\nHost: a":                                          "421",
	} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, request+"\r\n\r\n")
		if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%.60s: %q, want %s", request, line, want)
		}
	}
}

// TestAuthority: an authority is made once, its key is for its owner only, and it is replaced
// before it expires. The certificate of a host is the same each time.
func TestAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	now := time.Now()
	open := func(at time.Time) *Authority {
		ca, err := OpenAuthority(dir, at)
		if err != nil {
			t.Fatal(err)
		}
		return ca
	}
	first, second := open(now), open(now.Add(28*24*time.Hour))
	if first.PublicKey() != second.PublicKey() {
		t.Error("a second key was made")
	}
	if third := open(now.Add(29*24*time.Hour + time.Minute)); third.PublicKey() == first.PublicKey() {
		t.Error("an authority about to expire is used")
	}
	key := filepath.Join(dir, keyFile)
	if info, err := os.Stat(key); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(first.File); err != nil || strings.Contains(string(text), "PRIVATE") {
		t.Errorf("%s %v", text, err)
	}
	one, err := first.certificate("example.org")
	two, err2 := first.certificate("example.org")
	other, err3 := first.certificate("example.com")
	if err != nil || err2 != nil || err3 != nil || string(one.Certificate[0]) != string(two.Certificate[0]) {
		t.Errorf("two certificates of a host: %v, %v, %v", err, err2, err3)
	}
	leaves := make([]*x509.Certificate, 2)
	for i, c := range []*tls.Certificate{one, other} {
		if leaves[i], err = x509.ParseCertificate(c.Certificate[0]); err != nil {
			t.Fatal(err)
		}
	}
	if leaves[0].SerialNumber.Cmp(leaves[1].SerialNumber) == 0 || leaves[0].NotAfter.Sub(now) > validity || leaves[0].IsCA {
		t.Errorf("%+v", leaves)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuthority(dir, now); err == nil || !strings.Contains(err.Error(), "mode -rw-r--r--, expected a file of mode 0600") {
		t.Error(err)
	}
	if err := errors.Join(os.Chmod(key, 0o600), os.WriteFile(key, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuthority(dir, now); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
		t.Error(err)
	}
}

// TestForeignAuthority: a key that Weft would not have made is not used, nor one that others may
// have put there.
func TestForeignAuthority(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		change func(*x509.Certificate)
		want   string // the error; "": it is used
	}{
		"as Weft makes it":         {func(*x509.Certificate) {}, ""},
		"good for years":           {func(c *x509.Certificate) { c.NotAfter = now.Add(10 * 365 * 24 * time.Hour) }, "good for more than 30 days"},
		"good since years":         {func(c *x509.Certificate) { c.NotBefore = now.Add(-10 * 365 * 24 * time.Hour) }, "good for more than 30 days"},
		"for all uses":             {func(c *x509.Certificate) { c.ExtKeyUsage = nil }, "not an authority for servers only"},
		"for code, too":            {func(c *x509.Certificate) { c.ExtKeyUsage = append(c.ExtKeyUsage, x509.ExtKeyUsageCodeSigning) }, "not an authority for servers only"},
		"with others below it":     {func(c *x509.Certificate) { c.MaxPathLenZero = false }, "not an authority for servers only"},
		"for no more certificates": {func(c *x509.Certificate) { c.IsCA, c.MaxPathLenZero = false, false }, "not an authority for servers only"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cert := authorityOf(now)
			c.change(cert)
			if err := writeCertificate(filepath.Join(dir, keyFile), cert); err != nil {
				t.Fatal(err)
			}
			_, err := OpenAuthority(dir, now)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
	elsewhere, dir := t.TempDir(), t.TempDir()
	if _, err := OpenAuthority(elsewhere, now); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, keyFile), filepath.Join(dir, keyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuthority(dir, now); err == nil {
		t.Error("a link to a key is used")
	}
	if err := os.Chmod(elsewhere, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuthority(elsewhere, now); err == nil || !strings.Contains(err.Error(), "that only you can write to") {
		t.Error(err)
	}
}

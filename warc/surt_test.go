package warc

import (
	"strings"
	"testing"
	"time"
)

// The expected keys are what the Internet Archive's surt returns, but for IPv6.
func TestSURT(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.archive.org/":                          "org,archive)/",
		"http://WWW34.Archive.org:80/Index.html#top":        "org,archive)/index.html",
		"https://archive.org:8443":                          "org,archive:8443)/",
		"http://archive.org/goo/?":                          "org,archive)/goo",
		"http://archive.org/goo/?a=2&b&a=1":                 "org,archive)/goo?a=1&a=2&b",
		"http://archive.org/?b=b&a=b&b=a&a=a&a":             "org,archive)/?a&a=a&a=b&b=a&b=b",
		"http://www2foo.com/":                               "com,www2foo)/",
		"http://user:secret@example.com/big/":               "com,example)/big",
		"http://host.com//two/./slashes/../x?m//s":          "com,host)/two/x?m//s",
		"http://host.com/%2525252525?%7Ea%20b%23":           "com,host)/%25?~a%20b%23",
		"http://example.com/caf%C3%A9":                      "com,example)/caf%c3%a9",
		"http://192.0.2.7:8000/a":                           "7,2,0,192:8000)/a",
		"http://example.com/%E9":                            "com,example)/%e9",
		"http://example.com/%e8/":                           "com,example)/%e8",
		"http://example.com/\xe9?\xc3=\xe9":                 "com,example)/%e9?%c3=%e9",
		"http://example.com/%C3%89":                         "com,example)/%c3%89",
		"http://example.com/\u00c9":                         "com,example)/%c3%89",
		"http://example.com:08080/":                         "com,example:8080)/",
		"http://example.com:0080/":                          "com,example)/",
		"https://example.com:0443/":                         "com,example)/",
		"http://example.com:/":                              "com,example)/",
		"http://example.com:0/":                             "com,example)/",
		"http://example.com/?b=%C3%A9&b=z&a=%20&a=!":        "com,example)/?a=!&a=%20&b=%c3%a9&b=z",
		"http://ex%41mple.com/":                             "com,example)/",
		"http://a..b.com./":                                 "com,b,a)/",
		"http://a.com/a\tb\nc d":                            "com,a)/abc%20d",
		"http://http://a.com/":                              "com,a)/",
		"http://https://a.com:443/x":                        "com,a)/x",
		"http:////a.com/x":                                  "com,a)/x",
		"http://a.com/%2f%2E%2e/x":                          "com,a)/x",
		"http://a.com/../x":                                 "com,a)/../x",
		"http://a.com//..//b/":                              "com,a)/b",
		"http://a.com/x/..":                                 "com,a)/",
		"http://www1.www2.com/":                             "com,www2)/",
		"foo://Host/Path/?B=a":                              "host)/path?b=a",
		"urn:Text:http://Example.com/":                      "urn:text:http://example.com",
		"urn:x y\u009b\u202e":                               "urn:x%20y%c2%9b%e2%80%ae",
		"file:///etc/x":                                     "file:/etc/x",
		"a.com/B":                                           "com,a)/b",
		"whois://whois.isoc.org.il/shaveh.co.il":            "il,org,isoc,whois)/shaveh.co.il",
		"dns:archive.org":                                   "dns:archive.org",
		"mailto:foo@example.com":                            "mailto:foo@example.com",
		"http://a.org/(S(4hqa0555fwsecu455xqckv45))/m.aspx": "org,a)/m.aspx",
		"http://a.org/index.php?PHPSESSID=0123456789abcdefghijklemopqrstuv&action=u;4": "org,a)/index.php?action=u;4",
		"http://a.org/?CFID=1169580&CFTOKEN=48630702&d=1":                              "org,a)/?d=1",
		"http://a.org/?jsessionid=0123456789abcdefghijklemopqrstuv0":                   "org,a)/?jsessionid=0123456789abcdefghijklemopqrstuv0",
		"http://[2001:DB8::1]:8080/":                                                   "[2001:db8::1]:8080)/",
	} {
		if got := SURT(url); got != want {
			t.Errorf("%s: %s, expected %s", url, got, want)
		}
	}
}

// A path that needs little has the key that the rules for all paths give.
func TestSURTOfPaths(t *testing.T) {
	for _, path := range []string{"", "a", "a/", "A/b.HTML", "a//", "/", "//", ".", "./a", "a/.", "a/../b", "a/.b", "(S(4hqa0555fwsecu455xqckv45))/m.aspx", "a(b)/", "a%2F", "a b", "é", "~a"} {
		if got, want := string(appendPath(nil, path)), keyOfPath(path); got != want {
			t.Errorf("%q: %q, expected %q", path, got, want)
		}
	}
}

// A line has the form that pywb and ReplayWeb.page read, and is read again.
func TestIndex(t *testing.T) {
	x := Index{SURT("https://www.example.org/a?b&c"), noon.Truncate(time.Second), "https://www.example.org/a?b&c", "text/html", 200, "sha256:00", "a.warc.gz", 1386, 500, "", ""}
	line := string(x.Append(nil))
	const want = `org,example)/a?b&c 20261122120000 {"url":"https://www.example.org/a?b&c","mime":"text/html","status":"200","digest":"sha256:00","length":"500","offset":"1386","filename":"a.warc.gz"}` + "\n"
	if line != want {
		t.Errorf("%s, expected %s", line, want)
	}
	for _, line := range []string{line, strings.NewReplacer(`"200"`, "200", `"1386"`, "1386", "20261122120000 ", "20261122120000123 ").Replace(line)} {
		if got, err := ParseIndex(line); err != nil || got != x {
			t.Errorf("%+v, %v, expected %+v", got, err, x)
		}
	}
	odd := Index{Key: "urn:x", Date: noon.Truncate(time.Second), URL: "urn:\"\\\u009b\u202e\n\U000e0041\u00e9\xff"}
	line = string(odd.Append(nil))
	if want := `urn:x 20261122120000 {"url":"urn:\"\\\u009b\u202e\u000a\udb40\udc41é\ufffd","length":"0","offset":"0","filename":""}` + "\n"; line != want {
		t.Errorf("%s, expected %s", line, want)
	}
	odd.URL = strings.Replace(odd.URL, "\xff", "\ufffd", 1)
	if got, err := ParseIndex(line); err != nil || got != odd {
		t.Errorf("%+v, %v, expected %+v", got, err, odd)
	}
	for _, line := range []string{"", "a", "a b {}", "a 20261122120000", "a 20261122120000 {"} {
		if _, err := ParseIndex(line); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}

// FuzzSURT: whatever a URL is, its key is printable ASCII without spaces, which would end it.
func FuzzSURT(f *testing.F) {
	for _, url := range []string{"http://www.example.org:080/a/../b?c=%E9#d", "urn:x y\xff", "http://https://[::1]:8/", "//a b/", "?"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		if key := SURT(url); strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q: %q", url, key)
		}
	})
}

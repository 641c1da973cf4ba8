package weburl

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func mustParse(t testing.TB, raw string) URL {
	t.Helper()
	u, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestAccessors(t *testing.T) {
	u := mustParse(t, "HTTPS://us%65r:p%40ss@Example.ORG:8080/a/./b/../c?q=1#top")
	for _, c := range []struct{ name, got, want string }{
		{"String", u.String(), "https://us%65r:p%40ss@example.org:8080/a/c?q=1#top"},
		{"Scheme", u.Scheme(), "https"},
		{"Username", u.Username(), "us%65r"},
		{"Password", u.Password(), "p%40ss"},
		{"Host", u.Host(), "example.org:8080"},
		{"Hostname", u.Hostname(), "example.org"},
		{"Port", u.Port(), "8080"},
		{"Path", u.Path(), "/a/c"},
		{"Query", u.Query(), "q=1"},
		{"Fragment", u.Fragment(), "top"},
		{"Origin", u.Origin(), "https://example.org:8080"},
		{"RequestTarget", u.RequestTarget(), "/a/c?q=1"},
	} {
		if c.got != c.want {
			t.Errorf("%s() = %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestEffectivePort(t *testing.T) {
	for raw, want := range map[string]int{
		"http://a":         80,
		"https://a":        443,
		"https://a:80":     80,
		"http://a:0080":    80,
		"http://a:0":       0,
		"ftp://a":          21,
		"gopher://a":       0,
		"gopher://a:70":    70,
		"mailto:a@b":       0,
		"web+x:/.//host:1": 0,
	} {
		if got := mustParse(t, raw).EffectivePort(); got != want {
			t.Errorf("EffectivePort of %q = %d, want %d", raw, got, want)
		}
	}
}

func TestZero(t *testing.T) {
	var u URL
	for name, got := range map[string]string{
		"String": u.String(), "Scheme": u.Scheme(), "Username": u.Username(), "Password": u.Password(),
		"Host": u.Host(), "Hostname": u.Hostname(), "Port": u.Port(), "Path": u.Path(), "Query": u.Query(),
		"Fragment": u.Fragment(), "RequestTarget": u.RequestTarget(), "Canonical": u.Canonical().String(),
	} {
		if got != "" {
			t.Errorf("%s of the zero URL = %q", name, got)
		}
	}
	if !u.IsZero() || u.IsHTTP() || u.EffectivePort() != 0 || u.Origin() != "null" {
		t.Errorf("the zero URL is not empty")
	}
	if got, err := u.Resolve("http://a/"); err != nil || got.String() != "http://a/" {
		t.Errorf("Resolve against the zero URL = %q, %v", got, err)
	}
}

func TestResolve(t *testing.T) {
	const page = "http://example.org/docs/guide/intro.html?lang=en#top"
	for _, c := range []struct{ name, base, ref, want string }{
		{"sibling", page, "next.html", "http://example.org/docs/guide/next.html"},
		{"parent", page, "../api/", "http://example.org/docs/api/"},
		{"beyond the root", page, "../../../../x", "http://example.org/x"},
		{"encoded dots", page, "%2E%2e/x", "http://example.org/docs/x"},
		{"absolute path", page, "/x?y#z", "http://example.org/x?y#z"},
		{"query only", page, "?page=2", "http://example.org/docs/guide/intro.html?page=2"},
		{"fragment only", page, "#end", "http://example.org/docs/guide/intro.html?lang=en#end"},
		{"empty", page, "", "http://example.org/docs/guide/intro.html?lang=en"},
		{"scheme relative", page, "//cdn.example.net/x", "http://cdn.example.net/x"},
		{"other scheme", page, "https:x", "https://x/"},
		{"same scheme, no slashes", page, "http:x", "http://example.org/docs/guide/x"},
		{"backslashes", page, `\\h\p`, "http://h/p"},
		{"colon in a segment", page, "./a:b", "http://example.org/docs/guide/a:b"},
		{"newlines within", page, " \t a\n\r/ b ", "http://example.org/docs/guide/a/%20b"},
		{"not UTF-8", page, "\xe9", "http://example.org/docs/guide/%EF%BF%BD"},
		{"credentials are kept", "http://u:p@h/a", "b", "http://u:p@h/b"},
		{"port is kept", "http://h:81/a", "/b", "http://h:81/b"},
		{"mail", page, "mailto:a@b", "mailto:a@b"},
		{"fragment on an opaque path", "mailto:a@b?c", "#d", "mailto:a@b?c#d"},
		{"no host, two slashes", "x:/a/b", "/.//c", "x:/.//c"},
		{"no host, two slashes, again", "x:/.//c", "d", "x:/.//d"},
		{"no host, two slashes, gone", "x:/.//c", "/d", "x:/d"},
		{"empty path", "x://h", "c", "x://h/c"},
		{"drive letter stays", "file:///C:/a", "..", "file:///C:/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mustParse(t, c.base).Resolve(c.ref)
			if err != nil || got.String() != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestEscapeInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"/caf\xe9": "/caf%E9", "/\u00e9\xc3?\xff\xfe\u00fc": "/\u00e9%C3?%FF%FE\u00fc", "/\ufffd": "/\ufffd", "/\xed\xa0\x80": "/%ED%A0%80", "": "", "/%E9": "/%E9",
	} {
		if got := EscapeInvalid(text); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}

// TestWritten: the spelling of a URL that is not canonical, if it is a valid one.
func TestWritten(t *testing.T) {
	for href, want := range map[string]string{
		"http://h/a%2fb": "/a%2fb", "http://h/%7Ea?b=%2f#%2f": "/%7Ea?b=%2f", "http://u:p@h/%41": "/%41", "http://h/é%2f": "/%C3%A9%2f",
		"http://h/a%2Fb": "", "http://h/~a": "", "http://h/": "", "http://h/%zz%2f": "", "http://h/%2f%": "", "http://h/%%34%31": "", "mailto:%2f": "", "http://h/#%2f": "",
	} {
		if got := mustParse(t, href).Written(); got != want {
			t.Errorf("%s: %q, expected %q", href, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"canonical already", "http://example.org/a?b", "http://example.org/a?b"},
		{"fragment", "http://example.org/a#b", "http://example.org/a"},
		{"empty fragment", "http://example.org/a#", "http://example.org/a"},
		{"empty query is kept", "http://example.org/a?", "http://example.org/a?"},
		{"empty path", "http://example.org", "http://example.org/"},
		{"empty path, query", "http://example.org?q", "http://example.org/?q"},
		{"case of scheme and host", "HTTP://EXAMPLE.org/A", "http://example.org/A"},
		{"default port", "https://example.org:443/", "https://example.org/"},
		{"other port", "https://example.org:80/", "https://example.org:80/"},
		{"dot segments", "http://example.org/a/%2e/./b/../c", "http://example.org/a/c"},
		{"hex digits", "http://example.org/%c3%a9?%e2%98%83", "http://example.org/%C3%A9?%E2%98%83"},
		{"unreserved", "http://example.org/%7euser/%41%2d%5f?%61=%31", "http://example.org/~user/A-_?a=1"},
		{"reserved stays", "http://example.org/a%2fb?c%3dd%26e%25", "http://example.org/a%2Fb?c%3Dd%26e%25"},
		{"encoded percent stays", "http://example.org/%2541", "http://example.org/%2541"},
		{"three dots", "http://example.org/%2e%2e%2e", "http://example.org/..."},
		{"stray percent", "http://example.org/100%/%zz%", "http://example.org/100%/%zz%"},
		{"no new escape", "http://example.org/%%34%31", "http://example.org/%%341"},
		{"no new escape, late", "http://example.org/%4%31", "http://example.org/%4%31"},
		{"no new escape over the query mark", "http://example.org/%?%34%31", "http://example.org/%?41"},
		{"credentials are cut", "http://us%65r:p@example.org:81/%41?q#x", "http://example.org:81/A?q"},
		{"international", "http://BÜCHER.example/ä", "http://xn--bcher-kva.example/%C3%A4"},
		{"IPv4", "http://0x7f.1/", "http://127.0.0.1/"},
		{"IPv6", "http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"},
		{"other scheme", "data:text/plain,%41#x", "data:text/plain,%41"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustParse(t, c.in).Canonical()
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			checkURL(t, got)
		})
	}
}

// TestFingerprint pins the on-disk format.
func TestFingerprint(t *testing.T) {
	sum := mustParse(t, "HTTP://Example.org:80/%61#x").Fingerprint()
	// printf %s http://example.org/a | sha256sum | cut -c-32
	if got := hex.EncodeToString(sum[:]); got != "6a2d6a47a2828fe021aefacd33629435" {
		t.Errorf("got %s: the on-disk format has changed", got)
	}
}

func TestErrors(t *testing.T) {
	long := strings.Repeat("a", MaxLength+1)
	base := mustParse(t, "http://example.org/"+strings.Repeat("b", MaxLength-40)+"/")
	for _, c := range []struct {
		base URL
		in   string
		want error
		text string
	}{
		{URL{}, "/a", ErrRelative, `weburl: "/a": relative without a base`},
		{mustParse(t, "mailto:a"), "b", ErrRelative, `weburl: "b": relative without a base`},
		{URL{}, "http://", ErrNoHost, `weburl: "http://": no host`},
		{URL{}, "http://u@/", ErrNoHost, `weburl: "http://u@/": no host`},
		{URL{}, "x://:80", ErrNoHost, `weburl: "x://:80": no host`},
		{URL{}, "http://a b/", ErrHost, `weburl: "http://a b/": invalid host`},
		{URL{}, "http://%zz/", ErrHost, `weburl: "http://%zz/": invalid host`},
		{URL{}, "http://\u2488com/", ErrIDNA, `weburl: "http://⒈com/": invalid international host name`},
		{URL{}, "http://" + strings.Repeat("é.", 342) + "/", ErrIDNA, ""},
		{URL{}, "http://" + strings.Repeat("é", 64) + ".test/", ErrIDNA, ""},
		{URL{}, "http://1.2.3.256/", ErrIPv4, `weburl: "http://1.2.3.256/": invalid IPv4 address`},
		{URL{}, "http://[::1%25eth0]/", ErrIPv6, `weburl: "http://[::1%25eth0]/": invalid IPv6 address`},
		{URL{}, "http://a:65536/", ErrPort, `weburl: "http://a:65536/": invalid port`},
		{URL{}, "http://a:99999999999999999999/", ErrPort, ""},
		{URL{}, long, ErrTooLong, `weburl: "` + strings.Repeat("a", 128) + `": too long`},
		{base, strings.Repeat("c", 40), ErrTooLong, ""},
	} {
		got, err := c.base.Resolve(c.in)
		if !errors.Is(err, c.want) || got != (URL{}) {
			t.Errorf("%.40q: got %.40q, %v; want %v", c.in, got, err, c.want)
			continue
		}
		if c.text != "" && err.Error() != c.text {
			t.Errorf("got  %s\nwant %s", err, c.text)
		}
		if n := len(err.Error()); n > 4*maxErrorInput+80 {
			t.Errorf("%.40q: the message is %d bytes long", c.in, n)
		}
	}
}

func TestRegistrableDomain(t *testing.T) {
	for host, want := range map[string]string{
		"www.example.co.uk":   "example.co.uk",
		"WWW.Example.ORG.":    "example.org",
		"a.b.github.io":       "b.github.io",
		"github.io":           "",
		"localhost":           "",
		"":                    "",
		".":                   "",
		"..":                  "",
		"127.0.0.1":           "",
		"[::1]":               "",
		"a..b.com":            "",
		"a。example。com":       "example.com",
		"www.例え.jp":           "例え.jp",
		"www.xn--r8jz45g.jp":  "xn--r8jz45g.jp",
		"a.b.unlisted-suffix": "b.unlisted-suffix",
	} {
		if got := RegistrableDomain(host); got != want {
			t.Errorf("RegistrableDomain(%q) = %q, want %q", host, got, want)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, c := range []struct{ name, url string }{
		{"plain", "https://docs.example.org/3/library/functions.html#open"},
		{"escapes", "https://docs.example.org/3/library/%7efunctions.html?a=%c3%a9"},
	} {
		u := mustParse(b, c.url)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				u.Canonical()
			}
		})
	}
}

func BenchmarkFingerprint(b *testing.B) {
	u := mustParse(b, "https://docs.example.org/3/library/functions.html#open")
	b.ReportAllocs()
	for b.Loop() {
		u.Fingerprint()
	}
}

// TestUnicode: hosts are mapped by the rules of Unicode 17.
func TestUnicode(t *testing.T) {
	for raw, want := range map[string]string{
		"http://STRAẞE.de/":       "xn--strae-oqa.de",
		"http://straße.de/":       "xn--strae-oqa.de",
		"http://strasse.de/":      "strasse.de",
		"http://%E1%BA%9E.de/":    "xn--zca.de",
		"http://\U0001fa8a.test/": "xn--l09h.test",
	} {
		if u, err := Parse(raw); err != nil || u.Host() != want {
			t.Errorf("%s: %q, %v, expected %q", raw, u.Host(), err, want)
		}
	}
}

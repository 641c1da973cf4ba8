package weburl

import (
	"strings"
	"testing"
)

// checkURL states what holds for every URL, however it was made.
func checkURL(t *testing.T, u URL) {
	t.Helper()
	// The offsets are in order (see URL).
	at := []uint32{0, u.schemeEnd, u.userEnd, u.hostAt, u.hostEnd, u.pathAt, u.queryAt, u.fragmentAt, uint32(len(u.href))}
	for i := 1; i < len(at); i++ {
		if at[i-1] > at[i] {
			t.Fatalf("%q: offsets %v", u, at)
		}
	}
	// The components are the href.
	built := u.Scheme() + ":"
	if u.hasHost() {
		built += "//"
		if u.Username() != "" || u.Password() != "" {
			built += u.Username()
			if u.Password() != "" {
				built += ":" + u.Password()
			}
			built += "@"
		}
		built += u.Hostname()
		if u.Port() != "" {
			built += ":" + u.Port()
		}
	} else if strings.HasPrefix(u.Path(), "//") {
		built += "/."
	}
	built += u.RequestTarget()
	if strings.Contains(u.href, "#") {
		built += "#" + u.Fragment()
	}
	if built != u.href {
		t.Fatalf("%q: the components make %q", u, built)
	}
	// The href is ASCII, and a URL that parses to itself.
	if !isASCII(u.href) {
		t.Fatalf("%q is not ASCII", u)
	}
	again, err := Parse(u.href)
	if err != nil {
		t.Fatalf("%q does not parse again: %v", u, err)
	}
	if again != u {
		t.Fatalf("%q parses to %q, or to other offsets: %v, %v", u, again, u, again)
	}
	// What goes on a request line, or into a log, has no control characters.
	if strings.ContainsFunc(u.href, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		t.Fatalf("%q has a control character", u)
	}
	if u.IsHTTP() {
		if u.Hostname() == "" || !strings.HasPrefix(u.Path(), "/") || strings.Contains(u.RequestTarget(), " ") {
			t.Fatalf("%q cannot be requested", u)
		}
	}
}

// FuzzParse: Parse and Resolve never panic; what they return parses to itself;
// Canonical is idempotent and its result parses to itself; equal canonical
// forms, equal fingerprints; the registrable domain is a suffix of the host.
func FuzzParse(f *testing.F) {
	for _, seed := range []struct{ base, ref string }{
		{"", "http://user:pass@example.org:8080/a/../b?q#f"},
		{"http://example.org/a/b?c", "../d%2E%2e/%%34%31?%zz#é"},
		{"file:///C:/a/b", "/..\\D|/x"},
		{"x:/.//a", ".//b"},
		{"mailto:a b  ?x", "#y"},
		{"", "http://0x7f.1:0/"},
		{"", "https://[1::8:1.2.3.4]:443"},
		{"", "http://bücher.example。/"},
		{"", "http://a.b.c.xn--pokxncvks/"},
		{"blob:https://a/b", "//\xe9@h"},
	} {
		f.Add(seed.base, seed.ref)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := Parse(base)
		if err == nil {
			checkURL(t, b)
		}
		u, err := b.Resolve(ref)
		if err != nil {
			return
		}
		checkURL(t, u)
		c := u.Canonical()
		checkURL(t, c)
		if c.Canonical() != c {
			t.Fatalf("Canonical of %q is %q, and of that %q", u, c, c.Canonical())
		}
		if c.Fingerprint() != u.Fingerprint() {
			t.Fatalf("%q and its canonical form differ in fingerprint", u)
		}
		if !strings.HasSuffix(strings.TrimSuffix(u.Hostname(), "."), RegistrableDomain(u.Hostname())) && u.IsHTTP() {
			t.Fatalf("%q: registrable domain %q", u, RegistrableDomain(u.Hostname()))
		}
	})
}

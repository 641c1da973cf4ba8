package weburl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// TestResolver checks what is specific to Resolver: the seeds of FuzzResolve cover the cases of
// TestResolve.
func TestResolver(t *testing.T) {
	var r Resolver
	if u, err := r.ResolveString("a"); !errors.Is(err, ErrRelative) || u != (URL{}) {
		t.Errorf("the zero Resolver: %q, %v", u, err)
	}
	if u, err := r.Resolve([]byte("http://a/b")); err != nil || u.String() != "http://a/b" {
		t.Errorf("the zero Resolver: %q, %v", u, err)
	}
	base := mustParse(t, "http://example.org/a/")
	if r.Reset(base); r.Base() != base {
		t.Errorf("base %q", r.Base())
	}
	// Results stay unchanged through many blocks, whatever comes after.
	ref := []byte("page-00000.html")
	var urls []URL
	for i := range 3000 {
		copy(ref, fmt.Sprintf("page-%05d", i))
		if i%100 == 0 {
			copy(ref, fmt.Sprintf("PAGE %05d", i)) // parsed by the parser of the standard
		}
		u, err := r.Resolve(ref)
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, u)
	}
	for i, u := range urls {
		want := fmt.Sprintf("http://example.org/a/page-%05d.html", i)
		if i%100 == 0 {
			want = fmt.Sprintf("http://example.org/a/PAGE%%20%05d.html", i)
		}
		if u.String() != want {
			t.Fatalf("link %d became %q", i, u)
		}
	}
	long := strings.Repeat("a", blockSize)
	if u, err := r.ResolveString(long); err != nil || u.Path() != "/a/"+long {
		t.Errorf("a long one: %.99q, %v", u, err)
	}
	if u, err := r.ResolveString(strings.Repeat("a", MaxLength)); !errors.Is(err, ErrTooLong) {
		t.Errorf("one too long: %.99q, %v", u, err)
	}
}

// TestPlain checks that links of the most common forms take the fast path, and others do not.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		base, ref string
		want      bool
	}{
		{"http://a.org/b/c?d", "", true},
		{"http://a.org/b/c?d", "#e", true},
		{"http://a.org/b/c?d", "?e=%20#f", true},
		{"http://a.org/b/c?d", "e.html?f=g:h/../i", true},
		{"http://a.org/b/c?d", "../../../e/%C3%A9", true},
		{"http://a.org/b/c?d", "..", true},
		{"http://a.org/b/c?d", "./e:f", true},
		{"http://a.org/b/c?d", "/e/f:g", true},
		{"http://a.org/b/c?d", "//b.org", true},
		{"http://a.org/b/c?d", "https://b.org?c", true},
		{"http://127.0.0.1:81/b/", "http://127.0.0.1:81/c", true},
		{"mailto:a", "http://b.org/", true},
		{"", "https://b.org/", true},

		{"http://a.org/", "a:b", false},
		{"http://a.org/", "b/../c", false},
		{"http://a.org/", "b/%2e%2E/c", false},
		{"http://a.org/", "b c", false},
		{"http://a.org/", `b\c`, false},
		{"http://a.org/", "é", false},
		{"http://a.org/", "\tb", false},
		{"http://a.org/", "?b'", false},
		{"http://a.org/", "http://B.org/", false},
		{"http://a.org/", "http://b.org:80/", false},
		{"http://a.org/", "http://1.0x2/", false},
		{"http://a.org/", "http://b.org./", false},
		{"http://a.org/", "http:b", false},
		{"file:///a", "b", false},
		{"", "b", false},
	} {
		var base URL
		if c.base != "" {
			base = mustParse(t, c.base)
		}
		var u URL
		at := basePageOf(base)
		if _, got := appendPlain(nil, &u, &at, c.ref); got != c.want {
			t.Errorf("%q on %q: plain is %v", c.ref, c.base, got)
		}
	}
}

// TestClone checks that a cloned URL does not share memory with others.
func TestClone(t *testing.T) {
	var r Resolver
	r.Reset(mustParse(t, "http://example.org/"))
	a, _ := r.ResolveString("a")
	b := a.Clone()
	if a != b || unsafe.StringData(a.href) == unsafe.StringData(b.href) {
		t.Errorf("%q and its clone %q", a, b)
	}
}

// TestPlaces: a URL is there if it was added, found again by its text or not at all.
func TestPlaces(t *testing.T) {
	var r Resolver
	r.Reset(mustParse(t, "http://example.org/"))
	var p Places
	found := 0
	for i := range 1000 {
		ref := fmt.Appendf(nil, "page-%d#x", i)
		u, _ := r.ResolvePage(ref)
		if p.Has(u) {
			t.Errorf("%q before it was added", u)
		}
		p.Add(u)
		if again, _ := r.ResolvePage(ref); again != u || !p.Has(again) {
			t.Errorf("%q, then %q: not there", u, again)
		}
		if first, _ := r.ResolvePage([]byte("page-0")); p.Has(first) {
			found++
		}
	}
	if p.Clear(); found == 0 || found == 1000 || p.Has(URL{}) {
		t.Errorf("the first was there %d times", found)
	}
}

func TestMemo(t *testing.T) {
	m := NewMemo(3, 0)
	if len(m.slots) != 4 {
		t.Errorf("%d places, expected 4", len(m.slots))
	}
	a, b := mustParse(t, "http://u@example.org/%7ea#b"), mustParse(t, "http://example.org/~a?")
	for i, c := range []struct {
		url   URL
		added bool
	}{{a, true}, {a, false}, {a.Canonical(), false}, {b, true}, {b, false}} {
		got, fingerprint, added := m.Add(c.url, 0)
		if got != c.url.Canonical() || fingerprint != c.url.Fingerprint() || added != c.added {
			t.Errorf("%d: %q is %q, %x, %v", i, c.url, got, fingerprint, added)
		}
	}
	// It forgets, but never confuses URLs.
	for i := range 2 * 1000 {
		u := mustParse(t, fmt.Sprintf("http://example.org/%d", i%1000))
		if got, fingerprint, added := m.Add(u, 0); got != u || fingerprint != u.Fingerprint() || !added {
			t.Fatalf("%q is %q, %x, %v", u, got, fingerprint, added)
		}
	}
}

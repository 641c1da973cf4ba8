package weburl

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/conformance"
)

// checkURL checks what holds for every URL, however it was made.
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
	// Nothing that goes on a request line or into a log has control characters.
	if strings.ContainsFunc(u.href, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		t.Fatalf("%q has a control character", u)
	}
	if u.IsHTTP() {
		if u.Hostname() == "" || !strings.HasPrefix(u.Path(), "/") || strings.Contains(u.RequestTarget(), " ") {
			t.Fatalf("%q cannot be requested", u)
		}
	}
}

// refs seed the fuzzing, in addition to the cases of the conformance suite.
var refs = []struct{ base, ref string }{
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
	{"http://example.org/a/b?c", "../../.././x?y#z"},
	{"http://example.org/a/b?c", "..//../a:b"},
	{"http://example.org:81/a/b?c", "http://example.org:81/a.b/.c"},
	{"http://u@example.org/a//b?c", "./a:b?d'#e"},
	{"http://example.org/", "//a.b1/c%2Ed"},
	{"http://u:p@example.org/", "http://u:p@example.org/a"},
	{"https://example.org/", "http://a.b?c"},
	{"http://www.example.org/", "(S(0123456789abcdef))/..;jsessionid=1;a?utm_a&b&sid=0123456789abcdef&a"},
}

// seed adds refs and the cases of the suite, if it is present.
func seed(f *testing.F, add func(base, ref string)) {
	for _, r := range refs {
		add(r.base, r.ref)
	}
	for _, c := range conformance.Seeds[wptCase](f, "url-wpt.jsonl") {
		base := ""
		if c.Base != nil {
			base = *c.Base
		}
		add(base, c.Input)
	}
}

// FuzzParse checks that Parse and Resolve never panic; that their results parse to themselves;
// that Canonical is idempotent and its result parses to itself; that equal canonical forms have
// equal fingerprints; and that the registrable domain is a suffix of the host.
func FuzzParse(f *testing.F) {
	seed(f, func(base, ref string) { f.Add(base, ref) })
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
		if c.Fingerprint() != u.Fingerprint() || c.Hash() != u.Hash() {
			t.Fatalf("%q and its canonical form differ in fingerprint or hash", u)
		}
		if !strings.HasSuffix(strings.TrimSuffix(u.Hostname(), "."), RegistrableDomain(u.Hostname())) && u.IsHTTP() {
			t.Fatalf("%q: registrable domain %q", u, RegistrableDomain(u.Hostname()))
		}
	})
}

// FuzzResolve checks that the fast path makes of every link on every page what the parser of the
// standard makes of it, or leaves it to that; that a Resolver agrees, for bytes and strings, even
// after earlier use; that a URL that it returned does not change; and that ResolvePage returns it
// without its fragment, whatever it remembers.
func FuzzResolve(f *testing.F) {
	seed(f, func(base, ref string) { f.Add(base, ref) })
	var r Resolver
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := parse(base, URL{}, "")
		if err != nil {
			b = URL{}
		}
		want, wantErr := parse(ref, b, "")
		check := func(how string, got URL, err error) {
			t.Helper()
			if got != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("%s: %q on %q: %#v, %v; want %#v, %v", how, ref, b, got, err, want, wantErr)
			}
		}
		var u URL
		page := basePageOf(b)
		if href, ok := appendPlain(nil, &u, &page, ref); ok {
			u.href = string(href)
			check("appendPlain", u, nil)
		}
		got, err := b.Resolve(ref)
		check("URL", got, err)
		r.Reset(b)
		first, err := r.ResolveString(ref)
		check("Resolver, a string", first, err)
		text := []byte(ref)
		second, err := r.Resolve(text)
		check("Resolver, bytes", second, err)
		clear(text)
		check("Resolver, before", first, err)
		check("Resolver, after", second, err)
		page1, _ := Parse("http://example.org/a/other?x")
		for _, on := range []URL{b, b, page1, page1, b} { // resolved, found again, of another page
			r.Reset(on)
			got, err := r.ResolvePage([]byte(ref))
			want, wantErr := parse(ref, on, "")
			if want.href = want.href[:want.fragmentAt]; got != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("ResolvePage: %q on %q: %#v, %v; want %#v, %v", ref, on, got, err, want, wantErr)
			}
		}
	})
}

// FuzzRules checks that a URL under any rules is a canonical URL that parses to itself, and that
// the same rules do not change it again.
func FuzzRules(f *testing.F) {
	seed(f, func(base, ref string) { f.Add(base, ref, uint8(255)) })
	f.Fuzz(func(t *testing.T, base, ref string, set uint8) {
		b, _ := Parse(base)
		u, err := b.Resolve(ref)
		if err != nil {
			return
		}
		rules := RuleSet(set)
		got := rules.Apply(u)
		checkURL(t, got)
		if got.Canonical() != got {
			t.Fatalf("%s of %q is %q, which is not canonical: that is %q", rules, u, got, got.Canonical())
		}
		if again := rules.Apply(got); again != got {
			t.Fatalf("%s of %q is %q, and of that %q", rules, u, got, again)
		}
	})
}

// FuzzQuery checks that in every encoding a URL parses to itself, and is the same as in UTF-8
// except for the query.
func FuzzQuery(f *testing.F) {
	for _, label := range []string{"shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "gbk", "big5", "euc-kr", "windows-1252", "x-user-defined", "utf-16be", "none"} {
		f.Add(label, "?é≡‽¥\x1b\\~−ｱ髙\U0001F600\xff#é")
	}
	base := mustParse(f, "https://example.org/a/b?c")
	f.Fuzz(func(t *testing.T, label, ref string) {
		var r Resolver
		r.ResetIn(base, label)
		got, err := r.ResolveString(ref)
		want, wantErr := base.Resolve(ref)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, in UTF-8 %v", ref, err, wantErr)
		}
		if err != nil {
			return
		}
		checkURL(t, got)
		if got.href[:got.queryAt] != want.href[:want.queryAt] || got.Fragment() != want.Fragment() {
			t.Fatalf("%q: %q, in UTF-8 %q", ref, got, want)
		}
	})
}

package cookies_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/internal/process"
)

func at(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// sent returns the names and values that a request sends.
func sent(t *testing.T, j *cookies.Jar, to string) string {
	t.Helper()
	var pairs []string
	for _, c := range j.Cookies(at(t, to)) {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return strings.Join(pairs, " ")
}

// TestWhoGetsWhat checks that a cookie is sent where it was set for, and nowhere else.
func TestWhoGetsWhat(t *testing.T) {
	for _, c := range []struct {
		name, from string
		cookie     http.Cookie
		to         map[string]string // the cookies sent there
	}{
		{"host alone", "https://a.example.org/", http.Cookie{Name: "n", Value: "v"},
			map[string]string{"https://a.example.org/x": "n=v", "http://a.example.org:8080/": "n=v", "https://b.a.example.org/": "", "https://example.org/": "", "https://evil.test/": ""}},
		{"domain", "https://a.example.org/", http.Cookie{Name: "n", Value: "v", Domain: ".Example.org"},
			map[string]string{"https://example.org/": "n=v", "https://b.example.org/": "n=v", "https://notexample.org/": ""}},
		{"public suffix", "https://a.github.io/", http.Cookie{Name: "n", Value: "v", Domain: "github.io"},
			map[string]string{"https://a.github.io/": "", "https://b.github.io/": ""}},
		{"another's domain", "https://evil.test/", http.Cookie{Name: "n", Value: "v", Domain: "example.org"},
			map[string]string{"https://example.org/": "", "https://evil.test/": ""}},
		{"path", "https://example.org/", http.Cookie{Name: "n", Value: "v", Path: "/a"},
			map[string]string{"https://example.org/a": "n=v", "https://example.org/a/b": "n=v", "https://example.org/ab": "", "https://example.org/": ""}},
		{"its own path", "https://example.org/a/b", http.Cookie{Name: "n", Value: "v"},
			map[string]string{"https://example.org/a/c": "n=v", "https://example.org/": ""}},
		{"secure", "https://example.org/", http.Cookie{Name: "n", Value: "v", Secure: true},
			map[string]string{"https://example.org/": "n=v", "http://example.org/": ""}},
		{"secure, from http", "http://example.org/", http.Cookie{Name: "n", Value: "v", Secure: true},
			map[string]string{"https://example.org/": ""}},
		{"__Secure-", "https://example.org/", http.Cookie{Name: "__Secure-n", Value: "v"},
			map[string]string{"https://example.org/": ""}},
		{"__Host-", "https://example.org/", http.Cookie{Name: "__Host-n", Value: "v", Secure: true, Path: "/"},
			map[string]string{"https://example.org/": "__Host-n=v"}},
		{"__Host- of a domain", "https://example.org/", http.Cookie{Name: "__host-n", Value: "v", Secure: true, Path: "/", Domain: "example.org"},
			map[string]string{"https://example.org/": ""}},
		{"expired", "https://example.org/", http.Cookie{Name: "n", Value: "v", Expires: time.Unix(1, 0)},
			map[string]string{"https://example.org/": ""}},
		{"longest of ages", "https://example.org/", http.Cookie{Name: "n", Value: "v", MaxAge: math.MaxInt},
			map[string]string{"https://example.org/": "n=v"}},
		{"address", "http://192.0.2.1/", http.Cookie{Name: "n", Value: "v"},
			map[string]string{"http://192.0.2.1:81/": "n=v", "http://192.0.2.2/": ""}},
		{"IPv6", "http://[2001:db8::1]/", http.Cookie{Name: "n", Value: "v"},
			map[string]string{"http://[2001:db8::1]:81/": "n=v", "http://[2001:db8::2]/": ""}},
		{"too large", "https://example.org/", http.Cookie{Name: "n", Value: strings.Repeat("v", 4096)},
			map[string]string{"https://example.org/": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := cookies.New()
			j.SetCookies(at(t, c.from), []*http.Cookie{&c.cookie})
			for to, want := range c.to {
				if got := sent(t, j, to); got != want {
					t.Errorf("to %s: %q, want %q", to, got, want)
				}
			}
		})
	}
}

// TestReplaced checks that setting a cookie again replaces it, and that a cookie can be deleted.
func TestReplaced(t *testing.T) {
	j := cookies.New()
	u := at(t, "https://example.org/")
	for _, c := range []http.Cookie{{Name: "n", Value: "1"}, {Name: "m", Value: "1"}, {Name: "n", Value: "2"}, {Name: "m", MaxAge: -1}} {
		j.SetCookies(u, []*http.Cookie{&c})
	}
	if got := sent(t, j, "https://example.org/"); got != "n=2" {
		t.Errorf("sent %q, want n=2", got)
	}
}

// TestSecureIsNotReplaced checks that a response over http cannot replace, shadow or remove a
// secure cookie: one of its name that would be sent with it.
func TestSecureIsNotReplaced(t *testing.T) {
	secure := http.Cookie{Name: "id", Value: "safe", Secure: true, Path: "/a"}
	for _, c := range []struct {
		name, from string
		cookie     http.Cookie
		want       string // at https://www.example.org/a/b
	}{
		{"same", "http://www.example.org/", http.Cookie{Name: "id", Value: "forged", Path: "/a"}, "id=safe"},
		{"removed", "http://www.example.org/", http.Cookie{Name: "id", Path: "/a", MaxAge: -1}, "id=safe"},
		{"longer path", "http://www.example.org/", http.Cookie{Name: "id", Value: "forged", Path: "/a/b"}, "id=safe"},
		{"whole domain", "http://www.example.org/", http.Cookie{Name: "id", Value: "forged", Path: "/a", Domain: "example.org"}, "id=safe"},
		{"from a sibling", "http://evil.example.org/", http.Cookie{Name: "id", Value: "forged", Path: "/a", Domain: "example.org"}, "id=safe"},
		{"shorter path", "http://www.example.org/", http.Cookie{Name: "id", Value: "other", Path: "/"}, "id=safe id=other"},
		{"another name", "http://www.example.org/", http.Cookie{Name: "n", Value: "v", Path: "/"}, "id=safe n=v"},
		{"over https", "https://www.example.org/", http.Cookie{Name: "id", Value: "new", Path: "/a"}, "id=new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := cookies.New()
			j.SetCookies(at(t, "https://www.example.org/a/"), []*http.Cookie{&secure})
			j.SetCookies(at(t, c.from), []*http.Cookie{&c.cookie})
			if got := sent(t, j, "https://www.example.org/a/b"); got != c.want {
				t.Errorf("sent %q, expected %q", got, c.want)
			}
		})
	}
	j := cookies.New()
	expired := secure
	expired.Expires = time.Now().Add(-time.Hour)
	j.SetCookies(at(t, "https://www.example.org/a/"), []*http.Cookie{&expired})
	j.SetCookies(at(t, "http://www.example.org/a/"), []*http.Cookie{{Name: "id", Value: "v"}})
	if got := sent(t, j, "http://www.example.org/a/"); got != "id=v" {
		t.Errorf("after the secure cookie has expired: sent %q", got)
	}
}

// TestSiteIsBounded checks that a site keeps its 180 latest cookies, that setting one again makes
// it the latest, and that given cookies stay.
func TestSiteIsBounded(t *testing.T) {
	j := cookies.New()
	if err := j.Load(strings.NewReader(".example.org\tTRUE\t/\tFALSE\t0\tgiven\tv\n")); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		u := at(t, fmt.Sprintf("https://h%d.example.org/", i))
		j.SetCookies(u, []*http.Cookie{{Name: fmt.Sprint("n", i), Value: "v", Domain: "example.org"}, {Name: "often", Value: "v", Domain: "example.org"}})
	}
	got := strings.Fields(sent(t, j, "https://example.org/"))
	if len(got) != 180 {
		t.Errorf("%d cookies, want 180", len(got))
	}
	all := " " + strings.Join(got, " ") + " "
	for _, name := range []string{"given", "often", "n9999", "n9822"} {
		if !strings.Contains(all, " "+name+"=") {
			t.Errorf("%s is gone", name)
		}
	}
	if strings.Contains(all, " n9821=") {
		t.Error("n9821 is still there")
	}
	for i := range 1000 {
		j.SetCookies(at(t, "https://example.org/"), []*http.Cookie{{Name: fmt.Sprint("away", i), Value: "v", Domain: "other.example"}})
	}
	if again := strings.Fields(sent(t, j, "https://example.org/")); len(again) != 180 {
		t.Errorf("cookies that may not be set have pushed out %d", 180-len(again))
	}
}

// TestResponseIsBounded checks that of thousands of cookies of one response the last ones are set,
// and that the others cost next to nothing: the whole crawl waits for the jar.
func TestResponseIsBounded(t *testing.T) {
	j := cookies.New()
	var all []*http.Cookie
	for i := range 200_000 {
		all = append(all, &http.Cookie{Name: fmt.Sprint("n", i), Value: "v"})
	}
	start := process.CPU()
	j.SetCookies(at(t, "https://example.org/"), all)
	if took := process.CPU() - start; took > 200*time.Millisecond {
		t.Errorf("took %v", took)
	}
	got := sent(t, j, "https://example.org/")
	if n := len(strings.Fields(got)); n != 180 || !strings.Contains(got, "n199999=") || !strings.Contains(got, "n199820=") {
		t.Errorf("%d cookies, expected the last 180: %.100s", n, got)
	}
}

// TestAllAreBounded checks that sites that set many cookies displace the sites that have set none
// for longest, but no given cookies.
func TestAllAreBounded(t *testing.T) {
	j := cookies.New()
	if err := j.Load(strings.NewReader("given.example\tFALSE\t/\tFALSE\t0\tn\tv\n")); err != nil {
		t.Fatal(err)
	}
	j.SetCookies(at(t, "https://often.example/"), []*http.Cookie{{Name: "first", Value: "v"}})
	const sites = 8192 // of 4 KiB and more each: 32 MiB
	for i := range sites {
		j.SetCookies(at(t, fmt.Sprintf("https://s%d.example/", i)), []*http.Cookie{{Name: "n", Value: strings.Repeat("v", 4000)}})
		j.SetCookies(at(t, "https://often.example/"), []*http.Cookie{{Name: "n", Value: "v"}})
	}
	kept := 0
	for i := range sites {
		if sent(t, j, fmt.Sprintf("https://s%d.example/", i)) != "" {
			kept++
		}
	}
	if kept < 3000 || kept > 4200 {
		t.Errorf("%d sites of 4 KiB, want as many as go into 16 MiB", kept)
	}
	if sent(t, j, "https://given.example/") == "" || sent(t, j, "https://often.example/") != "first=v n=v" || sent(t, j, fmt.Sprintf("https://s%d.example/", sites-1)) == "" {
		t.Error("what was given, or what was set last, is gone")
	}
}

// BenchmarkCookies measures the cost of a jar per request, for a site without cookies and one with
// two.
func BenchmarkCookies(b *testing.B) {
	for name, host := range map[string]string{"none": "other.example", "two": "www.example.org"} {
		b.Run(name, func(b *testing.B) {
			j := cookies.New()
			j.SetCookies(&url.URL{Scheme: "https", Host: "www.example.org"}, []*http.Cookie{{Name: "a", Value: "b"}, {Name: "c", Value: "d"}})
			u := &url.URL{Scheme: "https", Host: host, Path: "/a"}
			b.ReportAllocs()
			for b.Loop() {
				j.Cookies(u)
			}
		})
	}
}

// TestSite: a browser gets the cookies of a site as they are sent, and what it has to know to send
// them itself; none that has gone or was never taken.
func TestSite(t *testing.T) {
	j := cookies.New()
	if err := j.Load(strings.NewReader("#HttpOnly_.a.example\tTRUE\t/x\tTRUE\t0\thidden\t1\nb.example\tFALSE\t/\tFALSE\t0\tother\t1\n")); err != nil {
		t.Fatal(err)
	}
	u := &url.URL{Scheme: "https", Host: "www.a.example:444", Path: "/dir/page"}
	for _, line := range []string{
		"host=1", `quoted="2 3"; Domain=A.example; Path=/`, "gone=1", "gone=1; Max-Age=0", "public=1; Domain=example", "js=1; HttpOnly; Max-Age=100", "js=2",
	} {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			t.Fatal(err)
		}
		j.SetCookies(u, []*http.Cookie{c})
	}
	var got []string
	for _, c := range j.Site("WWW.a.example:444") {
		got = append(got, fmt.Sprint(c.Domain, " ", c.Path, " ", c.Name, "=", c.Value, " ", c.Secure, " ", c.HttpOnly))
	}
	want := []string{
		".a.example /x hidden=1 true true", "www.a.example /dir host=1 false false", `.a.example / quoted="2 3" false false`, "www.a.example /dir js=2 false false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	if all := j.Site("c.example"); len(all) > 0 {
		t.Errorf("%v", all)
	}
}

package login_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/weburl"
)

func parsed(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// saved is a session that was saved and opened.
func saved(t *testing.T, about login.About, all ...login.Cookie) (s *login.Session, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "of", "a.session")
	if err := login.Save(file, about, all); err != nil {
		t.Fatal(err)
	}
	s = new(login.Session)
	if err := s.Open(file); err != nil {
		t.Fatal(err)
	}
	return s, file
}

func cookies(s *login.Session, to string) string {
	u, _ := url.Parse(to)
	var all []string
	for _, c := range s.Cookies(u) {
		all = append(all, c.Name+"="+c.Value)
	}
	return strings.Join(all, " ")
}

// TestSession: what is saved comes back, for its user alone, and a reload brings what another login
// has saved.
func TestSession(t *testing.T) {
	stores := []login.Store{{Origin: "https://a.test", Items: [][2]string{{"token", "a\tb\n\"c\""}, {"", strings.Repeat("x", 1<<20)}}}, {Origin: "https://b.test", Items: [][2]string{{"n", "1"}}}}
	s, file := saved(t, login.About{Page: "https://a.test/login", Form: []string{`[name="user"]`}, SignedOut: "text=Log in", Stores: stores},
		login.Cookie{Domain: ".a.test", Path: "/", Name: "all", Value: "1", Expires: -1},
		login.Cookie{Domain: "a.test", Path: "/", Name: "own", Value: "2", Expires: 4102444800.5, Secure: true, HTTPOnly: true},
		login.Cookie{Domain: "a.test", Path: "/", Name: "bad", Value: "tab\there"})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for to, want := range map[string]string{"https://a.test/": "all=1 own=2", "http://a.test/": "all=1", "https://www.a.test/": "all=1", "https://b.test/": ""} {
		if got := cookies(s, to); got != want {
			t.Errorf("to %s: %s, expected %s", to, got, want)
		}
	}
	if got := s.Stores(); !reflect.DeepEqual(got, stores) {
		t.Errorf("%.300v", got)
	}
	u, _ := url.Parse("https://a.test/")
	s.SetCookies(u, []*http.Cookie{{Name: "later", Value: "3", Path: "/"}})
	if err := login.Save(file, login.About{}, []login.Cookie{{Domain: "a.test", Path: "/", Name: "own", Value: "4"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil || cookies(s, "https://a.test/") != "own=4" || s.Stores() != nil {
		t.Errorf("%v: %s", err, cookies(s, "https://a.test/"))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil || cookies(s, "https://a.test/") != "own=4" {
		t.Errorf("%v: a session that cannot be read", err)
	}
}

// TestHolds: a value of a session is known in a field, also as scripts take it out of what they
// have stored, and so are those that its sites have set since the file was read.
func TestHolds(t *testing.T) {
	items := [][2]string{
		{"token", "store-token"}, {"state", `{"user":{"jwt":"json-token"}}`}, {"lang", "en"},
		{"persist:root", `{"auth":"{\"access\":\"inner-token\",\"deep\":\"{\\\"refresh\\\":\\\"innermost-token\\\"}\"}"}`},
	}
	s, _ := saved(t, login.About{Stores: []login.Store{{Origin: "https://a.test", Items: items}}},
		login.Cookie{Domain: "a.test", Path: "/", Name: "csrf", Value: "a%2Bcookie=="})
	for to, values := range map[string][]string{"https://www.a.test/": {"renewed-token", "xsrf%2Btoken"}, "https://b.test/": {"of another"}} {
		u, _ := url.Parse(to)
		for _, value := range values {
			s.SetCookies(u, []*http.Cookie{{Name: value[:4], Value: value}})
		}
		for i := range 2000 {
			s.SetCookies(u, []*http.Cookie{{Name: "rotates", Value: fmt.Sprint("rotated-", i, "-")}})
		}
	}
	for field, want := range map[string]bool{
		"X-Auth: Bearer store-token": true, "X-Auth: json-token": true, "X-Csrf: a%2Bcookie==": true, "X-Csrf: a+cookie==": true,
		"X-Auth: Bearer inner-token": true, "X-Auth: innermost-token": true, "X-Auth: renewed-token": true, "X-Xsrf: xsrf+token": true,
		"X-Xsrf: rotated-1999-": true, "X-Xsrf: rotated-1900-": true,
		"Accept-Language: en": false, "X-Auth: store": false, "X-Auth: store-tokem": false, "X: of another": false, "X: rotated-0-": false,
	} {
		if s.Holds(field) != want {
			t.Errorf("%s: %t, expected %t", field, !want, want)
		}
	}
}

// TestHoldsMany: a store of many short values takes no time from each field.
func TestHoldsMany(t *testing.T) {
	var value strings.Builder
	for i := range 1 << 20 {
		fmt.Fprintf(&value, `"%08x`, i/2)
	}
	s, _ := saved(t, login.About{Stores: []login.Store{{Origin: "https://a.test", Items: [][2]string{{"n", value.String()}}}}})
	began := time.Now()
	for range 1000 {
		if s.Holds("X-Of-Scripts: " + strings.Repeat("no secret ", 10)) {
			t.Fatal("no secret")
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%v for 1,000 fields", took)
	}
	if !s.Holds("X: 0007ffff") {
		t.Error("the last one is unknown")
	}
}

// TestSessionRefuses: an error names the line, and no secret.
func TestSessionRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"#weft-page\tnot a URL\n":               "login page: ",
		"\n#weft-page\n":                        "line 2: #weft-page: 0 fields",
		"#weft-stored\thttps://a.test\tx\ty\n":  "line 1: #weft-stored: expected name and value",
		"#weft-field\t[\n":                      "field of the login page: ",
		"#weft-signed-out\t[\n":                 "sign of being logged out: ",
		"#weft-newer\tx\n":                      `line 1: "#weft-newer": unknown`,
		"#weft-page\thttps://a.test/\nsecret\n": "line 2: 1 fields, expected 7",
	} {
		file := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := new(login.Session).Open(file); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, expected %s…", text, err, want)
		}
	}
}

// TestLoggedOut: the login page again, and the stated sign; not a page that has a form of another
// kind, and not the login page itself.
func TestLoggedOut(t *testing.T) {
	const form = `<form><input name=user><input type=password name=password></form>`
	about := login.About{Page: "https://a.test/login", Form: []string{`[name="user"]`, `[name="password"]`}}
	for _, c := range []struct {
		out, at, text, want string
	}{
		{"", "/p", form, "it is the login page"},
		{"", "/p", `<input type=password name=password>`, ""},
		{"", "/p", `<p>Your password and user are fine`, ""},
		{"", "/login?next=/p", form, ""},
		{".guest", "/p", `<p class="a guest">`, `it has ".guest"`},
		{".guest", "/p", `<p class=member>`, ""},
		{".guest", "/login", `<p class=guest>`, ""},
		{"text=Please log in", "/p", "<p>Please\n <b>log in</b> now", `it says "Please log in"`},
		{"text=Please log in", "/p", "<script>'Please log in'</script>", ""},
		{"/guest/*", "/guest/p?x", "", `its URL is as "/guest/*"`},
		{"https://a.test/*/out", "/x/out", "", `its URL is as "https://a.test/*/out"`},
		{"/guest", "/guests", "", ""},
	} {
		about.SignedOut = c.out
		s, _ := saved(t, about)
		if got := s.LoggedOut(parsed(t, "https://a.test"+c.at), []byte(c.text)); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	about.SignedOut = ".guest"
	s, _ := saved(t, about)
	if got := s.LoggedOut(parsed(t, "https://evil.test/p"), []byte(`<p class=guest>`+form)); got != "" {
		t.Errorf("a page of another site: %q", got)
	}
	if got := new(login.Session).LoggedOut(parsed(t, "https://a.test/p"), []byte(form)); got != "" {
		t.Errorf("of a session that knows no login page: %q", got)
	}
}

// TestRedirectsOut: a redirect to the login page, whatever its query; of an application, its
// fragment counts.
func TestRedirectsOut(t *testing.T) {
	for _, c := range []struct {
		page, from, to string
		want           bool
	}{
		{"https://a.test/login", "https://a.test/p", "https://a.test/login?next=%2Fp", true},
		{"https://a.test/login", "https://a.test/p", "https://a.test/login#top", true},
		{"https://sso.test/login?client=a", "https://a.test/p", "https://sso.test/login?client=b", true},
		{"https://a.test/login", "https://a.test/p", "https://a.test/login/help", false},
		{"https://a.test/login", "https://a.test/p", "http://a.test/login", false},
		{"https://a.test/login", "https://a.test/login", "https://a.test/login?failed", false},
		{"https://a.test/#/login", "https://a.test/#/p", "https://a.test/#/login?next=p", true},
		{"https://a.test/#/login", "https://a.test/p", "https://a.test/", false},
		{"", "https://a.test/p", "https://a.test/login", false},
		{"https://a.test/login", "https://evil.test/p", "https://a.test/login", false},
	} {
		s, _ := saved(t, login.About{Page: c.page}, login.Cookie{Domain: "a.test", Path: "/", Name: "sid", Value: "1", Expires: 1})
		if got := s.RedirectsOut(parsed(t, c.from), parsed(t, c.to)); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

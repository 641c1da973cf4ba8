package seed

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/weburl"
)

// TestPostRead: type and body make the identity of a POST, which jobs are asked for and links and
// lists cannot forge.
func TestPostRead(t *testing.T) {
	identity := func(p Post) string {
		t.Helper()
		s, err := p.Read()
		if err != nil {
			t.Fatal(err)
		}
		return s.URL.String()
	}
	form := identity(Post{URL: "http://a.test/%7eform#x", Body: []byte("q=1")})
	if form != "http://a.test/~form#POST-"+(&Post{Type: TypeForm, Body: []byte("q=1")}).Digest() {
		t.Errorf("%s, expected the default type", form)
	}
	for _, other := range []Post{{URL: "http://a.test/~form", Body: []byte("q=2")}, {URL: "http://a.test/~form", Type: "text/plain", Body: []byte("q=1")}} {
		if identity(other) == form {
			t.Errorf("%q %q has the identity of another", other.Type, other.Body)
		}
	}
	if s, err := ReadKnown(form); err != nil || s.URL.String() != form || s.URL.Fingerprint() == s.URL.Canonical().Fingerprint() {
		t.Errorf("known: %s, %v", s.URL, err)
	}
	for _, forged := range []string{"#POST-1", "#POST-0123456789ABCDEF", "#POST-0123456789abcdef0", "#top"} {
		if s, err := ReadKnown("http://a.test/" + forged); err != nil || s.URL.String() != "http://a.test/" {
			t.Errorf("%s: %s, %v", forged, s.URL, err)
		}
	}
	page, err := weburl.Parse(form)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"": "http://a.test/~form", form: "http://a.test/~form", "?p=2": "http://a.test/~form?p=2"} {
		if to, err := page.Resolve(ref); err != nil || to.Canonical().String() != want {
			t.Errorf("link %q: %s, %v, expected %s", ref, to.Canonical(), err, want)
		}
	}
	if s, err := ReadListed(form); err != nil || s.URL.Post() != "" {
		t.Errorf("in a list: %s, %v, expected a GET", s.URL, err)
	}
	a, b := PostMultipart("http://a.test/", Part{Name: "n\"", Content: []byte("x")}), PostMultipart("http://a.test/", Part{Name: "n\"", Content: []byte("x")})
	if a.Digest() != b.Digest() || !strings.Contains(string(a.Body), `name="n%22"`) {
		t.Errorf("%q, %q", a.Body, b.Body)
	}
}

// TestPostLimits: what a job is to keep has a bound.
func TestPostLimits(t *testing.T) {
	long := Post{URL: "http://a.test/", Body: make([]byte, MaxPost+1)}
	if _, err := long.Read(); err == nil || !strings.Contains(err.Error(), "expected at most 1048576") {
		t.Errorf("long: %v", err)
	}
	var many []Post
	for i := range 17 {
		body := make([]byte, MaxPost)
		body[0] = byte(i)
		many = append(many, Post{Body: body})
	}
	if _, err := PostsOf(many); err == nil {
		t.Error("17 MiB are taken")
	}
	all, err := PostsOf(append(many[:16], many[0]))
	if err != nil || len(all) != 16 {
		t.Errorf("16 MiB: %d, %v", len(all), err)
	}
	u, _ := weburl.Parse("http://a.test/")
	if p, err := all.Of(u); p != nil || err != nil {
		t.Errorf("a GET: %v, %v", p, err)
	}
	if p, err := all.Of(u.WithPost("0123456789abcdef")); p != nil || err == nil {
		t.Errorf("a body that is not there: %v, %v", p, err)
	}
}

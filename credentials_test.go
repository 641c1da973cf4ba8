package weft_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/http1"
)

// TestSession checks that credentials in a seed's URL and a cookie jar apply to every fetch loop,
// and to robots.txt. A job does not store them, so a resumed crawl needs them again.
func TestSession(t *testing.T) {
	const pages = 40
	var mu sync.Mutex
	var wrong []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		session, _ := r.Cookie("session")
		if user != "Ali" || password != "open sesame" || r.URL.Path != "/robots.txt" && r.URL.Path != "/" && session == nil {
			mu.Lock()
			wrong = append(wrong, fmt.Sprintf("%s: %q %q", r.URL, r.Header["Authorization"], r.Header["Cookie"]))
			mu.Unlock()
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "sesame"})
			for i := range pages {
				fmt.Fprintf(w, `<a href="/%d">x</a>`, i)
			}
		}
	}))
	defer server.Close()
	job := t.TempDir() + "/job"
	run := func(o weft.Options) weft.Summary {
		t.Helper()
		o.Job, o.Loops, o.Cookies = job, 4, cookies.New()
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		return s
	}
	seed := strings.Replace(server.URL, "//", "//Ali:open%20sesame@", 1)
	if s := run(weft.Options{Seeds: []string{seed}, Limit: pages / 2}); s.Statuses[200].URLs != pages/2 {
		t.Errorf("statuses %v, expected %d of 200", s.Statuses, pages/2)
	}
	unknown := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return wrong
	}
	if wrong := unknown(); len(wrong) > 0 {
		t.Errorf("%d requests lack credentials, such as %s", len(wrong), wrong[0])
	}
	run(weft.Options{Limit: pages})
	if len(unknown()) == 0 {
		t.Error("the resumed job still knows the password")
	}
}

// TestCredentialOptions checks that a credential that cannot be sent is an option error, and that
// the error does not reveal it.
func TestCredentialOptions(t *testing.T) {
	for _, o := range []weft.Options{
		{Seeds: []string{"http://Ali%3Ax:sesame@site.test/"}},
		{Seeds: []string{"http://Ali:sesame%00@site.test/"}},
		{Seeds: []string{"http://site.test/"}, Auth: []http1.Credential{{Scheme: "http", Host: "site.test", Token: "se same"}}},
	} {
		if _, err := weft.New(o); err == nil || strings.Contains(err.Error(), "same") || !strings.Contains(err.Error(), "site.test") {
			t.Errorf("error %v, expected one that names the host and hides the credential", err)
		}
	}
}

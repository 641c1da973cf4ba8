package commands_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestSources: each command that reads a page or a file takes a file, standard input or a URL, and
// says so where it gets something else.
func TestSources(t *testing.T) {
	t.Parallel()
	const (
		page    = `<meta charset=koi8-r><a href=http://a.test/b>x</a>`
		urlset  = `<urlset><url><loc>http://a.test/b</loc></url></urlset>`
		robots  = "User-agent: *\nDisallow: /b\n"
		charset = "koi8-r  meta\n"
	)
	texts := map[string]string{"/page": page, "/sitemap.xml": urlset, "/robots.txt": robots}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch text := texts[r.URL.Path]; {
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case r.URL.Path == "/header":
			w.Header().Set("Content-Type", "text/html; charset=shift_jis")
			_, _ = w.Write([]byte(page))
		case text == "":
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(text))
		}
	}))
	defer s.Close()
	const disallowed = "disallowed  /b  line 2: Disallow: /b\n"
	for _, c := range []struct{ command, input, path, more, want string }{
		{"links", page, "/page", "", "http://a.test/b\n"},
		{"links", page, "/moved", "", "http://a.test/b\n"},
		{"sitemap", urlset, "/sitemap.xml", "", "http://a.test/b\t-\tpage\n"},
		{"sitemap", urlset, "/", "", "http://a.test/b\t-\tpage\n"},
		{"charset", page, "/page", "", charset},
		{"charset", page, "/moved", "", charset},
		{"robots test", robots, "/robots.txt", "/b", disallowed},
		{"robots test", robots, "/", "/b", disallowed},
	} {
		command, more := strings.Fields(c.command), strings.Fields(c.more)
		for _, arg := range []string{s.URL + c.path, "robots.txt", "-"} {
			e := weftFed(t, c.input, c.input, append(append(command, arg), more...)...)
			if e.Code != answerCode(c.want) || e.Stdout != c.want || e.Stderr != "" {
				t.Errorf("weft %s %s: exit %d, %q, expected %q\n%s", c.command, arg, e.Code, e.Stdout, c.want, e.Stderr)
			}
		}
		for arg, want := range map[string]string{
			"nosuch":          "no such file or directory, expected a file, - for standard input, or a URL such as https://example.org/\n",
			".":               "is a directory, expected a file",
			"http://a b/":     "http://a b/",
			s.URL + "/nosuch": "/nosuch: status 404",
		} {
			e := wefttest.Run(t, append(append(command, arg), more...)...)
			code := wefttest.Misused
			if strings.HasSuffix(arg, "/nosuch") {
				if code = wefttest.Failed; c.command == "robots test" {
					code = wefttest.Done
				}
			}
			if e.Code != code || !strings.Contains(e.Stdout+e.Stderr, want) || strings.Count(e.Stdout+e.Stderr, "\n") != 1 {
				t.Errorf("weft %s %s: exit %d, %s%s", c.command, arg, e.Code, e.Stdout, e.Stderr)
			}
		}
	}
	for args, want := range map[string]string{
		"charset URL/header":                           "shift_jis  header\n",
		"charset --content-type text/html URL/header":  charset,
		"robots test URL/b/c?d":                        "disallowed  URL/b/c?d  line 2: Disallow: /b\n",
		"robots test URL/nosuch /x":                    "allowed     /x  URL/nosuch: status 404\n",
		"robots test --user-agent other/1 URL/page /b": "allowed     /b  no rule\n",
	} {
		if e := wefttest.Run(t, strings.Fields(strings.ReplaceAll(args, "URL", s.URL))...); e.Code != answerCode(want) || strings.ReplaceAll(e.Stdout, s.URL, "URL") != want {
			t.Errorf("weft %s: exit %d, %s%s, expected %s", args, e.Code, e.Stdout, e.Stderr, want)
		}
	}
}

// answerCode is the exit code of a command that prints an answer.
func answerCode(answer string) int {
	if strings.HasPrefix(answer, "disallowed ") {
		return wefttest.Failed
	}
	return wefttest.Done
}

// TestRobotsUnavailable: a robots.txt that the server cannot deliver disallows everything, as in a
// crawl.
func TestRobotsUnavailable(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	want := "disallowed  /  " + s.URL + "/robots.txt: status 503\n"
	if e := wefttest.Run(t, "robots", "test", s.URL+"/", "/"); e.Code != wefttest.Failed || e.Stdout != want {
		t.Errorf("exit %d, %s%s", e.Code, e.Stdout, e.Stderr)
	}
	s.Close()
	if e := wefttest.Run(t, "robots", "test", s.URL+"/", "/"); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "connect") {
		t.Errorf("exit %d, %s%s", e.Code, e.Stdout, e.Stderr)
	}
}

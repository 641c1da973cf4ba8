package seed

import "testing"

// TestRead: what people type without a scheme is a URL, and a guess unless only http makes sense;
// what looks like something else is an error.
func TestRead(t *testing.T) {
	for s, want := range map[string]string{
		"example.org":                 "https://example.org/ guessed",
		" example.org/docs?a=b#c ":    "https://example.org/docs?a=b guessed",
		"Bücher.example":              "https://xn--bcher-kva.example/ guessed",
		"example.org:8080/x":          "https://example.org:8080/x guessed",
		"example.org:443":             "https://example.org/ guessed",
		"example.org:80":              "http://example.org/",
		"medium.example/@ada":         "https://medium.example/@ada guessed",
		"intranet:8443":               "https://intranet:8443/ guessed",
		"localhost":                   "http://localhost/",
		"localhost:8000/a":            "http://localhost:8000/a",
		"app.localhost":               "http://app.localhost/",
		"127.0.0.1:8000":              "http://127.0.0.1:8000/",
		"192.0.2.1":                   "http://192.0.2.1/",
		"[::1]:8080":                  "http://[::1]:8080/",
		"https://example.org/":        "https://example.org/",
		"http://ada:pw@example.org/":  "http://example.org/ credential",
		"example.org/?u=http://a.b/c": "https://example.org/?u=http://a.b/c guessed",
		"intranet":                    "",
		"f(x).serve()":                "",
		"a='1.5'":                     "",
		"/etc/hosts":                  "",
		"./urls.txt":                  "",
		"mailto:ada@example.org":      "",
		"ada@example.org":             "",
		"ftp://example.org/":          "",
		"javascript:alert(1)":         "",
		"example.org:":                "",
		"exa mple.org":                "",
		"":                            "",
	} {
		got, err := Read(s)
		text := got.URL.String()
		if got.Guessed {
			text += " guessed"
		}
		if got.Credential != nil {
			text += " credential"
		}
		if err != nil {
			text = ""
		}
		if text != want {
			t.Errorf("%q: %q, %v, expected %q", s, text, err, want)
		}
		if _, err := ReadListed(s); (err == nil) != (want != "" && got.Credential == nil) {
			t.Errorf("%q in a list: %v", s, err)
		}
	}
}

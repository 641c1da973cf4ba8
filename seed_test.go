package weft_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
)

// TestParseSeed checks that an error says what is wrong with a URL and shows a valid one.
func TestParseSeed(t *testing.T) {
	for seed, want := range map[string]string{
		"  HTTP://Example.org:80/a/../b#c ": "http://example.org/b",
		"":                                  `URL "": empty, expected one such as https://example.org/`,
		"127.0.0.1:99999":                   `URL "127.0.0.1:99999": an invalid port, expected 0 to 65535, as in http://localhost:8080/`,
		"example.org/a":                     `URL "example.org/a": no scheme, expected http or https, as in https://example.org/a`,
		"10.0.0.1:8080/x":                   `URL "10.0.0.1:8080/x": no scheme, expected http or https, as in http://10.0.0.1:8080/x`,
		"localhost:8080":                    `URL "localhost:8080": scheme "localhost", expected http or https, as in http://localhost:8080/`,
		"//example.org":                     `URL "//example.org": no scheme, expected http or https, as in https://example.org/`,
		"nonsense":                          `URL "nonsense": no scheme, expected http or https, as in https://example.org/`,
		"/path.html":                        `URL "/path.html": no scheme, expected http or https, as in https://example.org/`,
		"../up":                             `URL "../up": no scheme, expected http or https, as in https://example.org/`,
		"mailto:someone@example.org":        `URL "mailto:someone@example.org": scheme "mailto", expected http or https, as in https://example.org/`,
		"http://":                           `URL "http://": no host, expected one after the //, as in https://example.org/`,
		"http://a b/":                       `URL "http://a b/": a host with a character that none may have, expected one such as example.org`,
		"http://⒈com/":                      `URL "http://⒈com/": a host that is no valid international name, expected one such as bücher.example`,
		"http://1.2.3.4.5/":                 `URL "http://1.2.3.4.5/": a host that ends in a number, expected an IPv4 address such as 192.0.2.1`,
		"http://[::1/":                      `URL "http://[::1/": a host in brackets, expected an IPv6 address such as [2001:db8::1]`,
		"http://x:99999/":                   `URL "http://x:99999/": an invalid port, expected 0 to 65535, as in http://localhost:8080/`,
		"http://me:secret@example.org/":     `URL at "example.org": user and password, expected none: a credential is an option of its own`,
		"http://me:secret@exam ple.org/@x":  `URL "http://…@exam ple.org/@x": a host with a character that none may have, expected one such as example.org`,
		"me:secret@example.org/":            `URL "…@example.org/": scheme "me", expected http or https, as in https://example.org/`,
		"https://me:secret@@x:99999":        `URL "https://…@x:99999": an invalid port, expected 0 to 65535, as in http://localhost:8080/`,
		`http:\\me:secret@[::1/`:            `URL "http:\\\\…@[::1/": a host in brackets, expected an IPv6 address such as [2001:db8::1]`,
	} {
		u, err := weft.ParseSeed(seed)
		got := u.String()
		if err != nil {
			got += err.Error()
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", seed, got, want)
		}
	}
	u, c, err := weft.ParseSeedCredential("HTTPS://A%6ci:open%20sesame@Example.org:443/#a")
	if want := (httpclient.Credential{Scheme: "https", Host: "example.org", User: "Ali", Password: "open sesame"}); err != nil || c == nil || *c != want || u.String() != "https://example.org/" {
		t.Errorf("%v, %v, %v", u, c, err)
	}
	if _, err := weft.ParseSeed("https://example.org/" + strings.Repeat("a", 1<<20)); err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), "too long, expected at most 1048576 bytes") {
		t.Errorf("URL of 1 MiB: %v", err)
	}
}

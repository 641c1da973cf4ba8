package weft_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
)

// TestOptionError checks that an error of New names the option, its value and what was expected.
func TestOptionError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	expect := func(name string, change func(o *weft.Options), want string) {
		t.Run(name, func(t *testing.T) {
			o := weft.Options{Seeds: []string{"http://a.test/"}}
			change(&o)
			_, err := weft.New(o)
			var of *weft.OptionError
			if !errors.As(err, &of) {
				t.Fatalf("%v, expected an OptionError", err)
			}
			if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "option "+of.Option) {
				t.Errorf("%v, expected %s", err, want)
			}
		})
	}
	expect("no seed", func(o *weft.Options) { o.Seeds = nil }, "option Seeds: none, expected a URL")
	expect("bad seed", func(o *weft.Options) { o.Seeds[0] = "//a.test" }, `option Seeds: URL "//a.test": no scheme`)
	expect("scope", func(o *weft.Options) { o.Reach.Scope = "site" }, "option Scope: ")
	expect("fields", func(o *weft.Options) { o.Fields = []string{"ulr"} }, "option Fields: ")
	expect("expression", func(o *weft.Options) { o.Reach.Exclude = []*regexp.Regexp{regexp.MustCompilePOSIX("a**")} }, `option Exclude "a**": `)
	expect("format", func(o *weft.Options) { o.Format = "xml" }, "option Format: ")
	expect("concurrency", func(o *weft.Options) { o.Pace.Concurrency = -1 }, `option Concurrency "-1": expected more than 0, or 0 for the default`)
	expect("too much concurrency", func(o *weft.Options) { o.Pace.Concurrency = 1 << 30 }, `option Concurrency "1073741824": expected at most `)
	expect("body", func(o *weft.Options) { o.HTTP.MaxBody = -1 }, `option MaxBody "-1": expected`)
	expect("URL", func(o *weft.Options) { o.Traps.MaxURLLength = 20_000 }, `option MaxURLLength "20000": expected at most 16384`)
	expect("rate", func(o *weft.Options) { o.Pace.RateLimit = math.NaN() }, `option RateLimit "NaN": expected`)
	expect("time", func(o *weft.Options) { o.HTTP.IdleTimeout = -1 }, `option IdleTimeout "-1ns": expected`)
	expect("agent", func(o *weft.Options) { o.HTTP.UserAgent = "a\nb" }, "option UserAgent: field User-Agent: ")
	expect("header", func(o *weft.Options) { o.HTTP.Header = httpclient.Header{{Name: "a b", Value: "c"}} }, `option Header: field "a b": expected`)
	expect("name server", func(o *weft.Options) { o.HTTP.DNS = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:0")} }, `option DNS "192.0.2.1:0": expected an address and a port`)
	expect("links without a job", func(o *weft.Options) { o.Keep.KeepLinks = true }, "option Job: none, expected a folder")
	expect("pictures without a job", func(o *weft.Options) { o.Render.PDF = true }, "option Job: none, expected a folder")
	expect("job in a file", func(o *weft.Options) { o.Job = filepath.Join(file, "job") }, "not a directory, expected a new folder")
	expect("job name", func(o *weft.Options) { o.Job = filepath.Join(dir, strings.Repeat("a", 300)) }, "file name too long, expected a new folder")

	_, err := weft.New(weft.Options{Seeds: []string{"http://a.test/"}, Job: dir})
	if !errors.Is(err, weft.ErrJobExists) {
		t.Errorf("existing folder: %v, expected ErrJobExists", err)
	}
}

// TestSeedSeqError checks that Run returns an error of the seed sequence.
func TestSeedSeqError(t *testing.T) {
	list := func(s string, err error) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { yield(s, err) }
	}
	for want, seq := range map[string]iter.Seq2[string, error]{
		"option SeedSeq: unexpected EOF":               list("", io.ErrUnexpectedEOF),
		`option SeedSeq: URL "intranet": no scheme, e`: list("intranet", nil),
	} {
		c, err := weft.New(weft.Options{SeedSeq: seq})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

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

// TestPostBodies: the bodies are those that browsers send.
func TestPostBodies(t *testing.T) {
	var options weft.Options
	photo, query := []byte("\x89PNG"), []byte(`{"q":"red shoes"}`)
	options.Posts = []weft.Post{
		weft.PostForm("https://example.org/search", url.Values{"q": {"red shoes"}}),
		weft.PostMultipart("https://example.org/photos",
			weft.Part{Name: "like", Filename: "ada.png", Content: photo}),
		{URL: "https://example.org/api", Type: "application/json", Body: query},
	}
	fields := func(p weft.Post) string {
		r, err := http.NewRequest("POST", p.URL, bytes.NewReader(p.Body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", p.Type)
		if err := r.ParseMultipartForm(1 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
			t.Fatal(err)
		}
		if r.MultipartForm == nil {
			return r.PostForm.Encode()
		}
		f, head, err := r.FormFile("like")
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(f)
		return fmt.Sprintf("%s %q %v", head.Filename, content, err)
	}
	if got := fields(options.Posts[0]); got != "q=red+shoes" {
		t.Errorf("form: %s", got)
	}
	if got := fields(options.Posts[1]); got != `ada.png "\x89PNG" <nil>` {
		t.Errorf("form with a file: %s", got)
	}
	if got := options.Posts[2]; got.Type != "application/json" || !bytes.Equal(got.Body, query) {
		t.Errorf("JSON: %+v", got)
	}
}

package cookies_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/cookies"
)

// file is a file as a browser add-on writes it.
const file = "\ufeff# Netscape HTTP Cookie File\r\n" +
	"# This is a generated file! Do not edit.\n" +
	"\n" +
	".example.org\tTRUE\t/\tFALSE\t0\tsession\tabc\n" +
	"www.example.org\tFALSE\t/docs\tTRUE\t4102444800\tsecure\ta=b\r\n" +
	"#HttpOnly_www.example.org\tFALSE\t/\tFALSE\t4102444800.123456\thttponly\t{\"quoted\": 1}\n" +
	"www.example.org\tFALSE\t/\tFALSE\t99999999999999999999\tforever\tx\n" +
	"www.example.org\tFALSE\t/\tFALSE\t1\texpired\tx\n" +
	"www.example.org\tfalse\t/\tfalse\t-1\tempty\n" +
	"[::1]\tFALSE\t/\tFALSE\t0\tsix\tv"

func TestLoad(t *testing.T) {
	j := cookies.New()
	if err := j.Load(strings.NewReader(strings.Replace(file, "[::1]", "::1", 1))); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{
		"https://www.example.org/docs/": `secure=a=b session=abc httponly={"quoted": 1} forever=x empty=`,
		"http://www.example.org/docs/":  `session=abc httponly={"quoted": 1} forever=x empty=`,
		"http://b.example.org/":         "session=abc",
		"http://[::1]:8080/":            "six=v",
		"http://example.com/":           "",
	} {
		if got := sent(t, j, to); got != want {
			t.Errorf("to %s:\n got %s\nwant %s", to, got, want)
		}
	}
}

// TestLoadRefuses checks that an error names the problem and the line, and no value.
func TestLoadRefuses(t *testing.T) {
	const good = "a.example\tFALSE\t/\tFALSE\t0\tn\tv\n"
	for name, c := range map[string]struct{ line, want string }{
		"spaces for tabs": {"a.example FALSE / FALSE 0 n secret", "line 2: 1 fields, expected 7 between tabs"},
		"too many":        {"a.example\tFALSE\t/\tFALSE\t0\tn\tsecret\tx", "line 2: 8 fields"},
		"no domain":       {"\tFALSE\t/\tFALSE\t0\tn\tsecret", "line 2: domain, expected"},
		"URL for domain":  {"https://a.example/\tFALSE\t/\tFALSE\t0\tn\tsecret", "line 2: domain, expected"},
		"subdomains":      {"a.example\tYES\t/\tFALSE\t0\tn\tsecret", "line 2: subdomains, expected TRUE or FALSE"},
		"path":            {"a.example\tFALSE\t\tFALSE\t0\tn\tsecret", "line 2: path, expected"},
		"secure":          {"a.example\tFALSE\t/\t1\t0\tn\tsecret", "line 2: secure, expected TRUE or FALSE"},
		"expires":         {"a.example\tFALSE\t/\tFALSE\tnever\tn\tsecret", "line 2: expires, expected seconds"},
		"name":            {"a.example\tFALSE\t/\tFALSE\t0\t\tsecret", "line 2: name, expected"},
		"value":           {"a.example\tFALSE\t/\tFALSE\t0\tn\tsecret\x1b[31m", "line 2: value, expected no control"},
		"large":           {"a.example\tFALSE\t/\tFALSE\t0\tn\t" + strings.Repeat("secret", 1000), "line 2: name and value, expected at most 4096"},
		"endless":         {strings.Repeat("secret", 10_000), "line 2: expected at most 16384 bytes"},
		"too many of one": {strings.Repeat("a.example\tFALSE\t/\tFALSE\t0\tn@\tsecret\n", 200), "line 181: expected at most 180 cookies"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := c.line
			for i := 0; strings.Contains(lines, "@"); i++ {
				lines = strings.Replace(lines, "@", strings.Repeat("x", i+1), 1)
			}
			err := cookies.New().Load(strings.NewReader(good + lines))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %s…", err, c.want)
			}
		})
	}
}

// FuzzCookieFile checks that the cookies of any file that loads can be sent.
func FuzzCookieFile(f *testing.F) {
	f.Add(file)
	f.Add("a.example\tTRUE\t/\tTRUE\t0\tn\tv")
	f.Add("co.uk\tTRUE\t/\tFALSE\t0\tn\tv\n#HttpOnly_\n")
	f.Fuzz(func(t *testing.T, s string) {
		j := cookies.New()
		if err := j.Load(strings.NewReader(s)); err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("an error of %q", err)
		}
		for _, line := range strings.Split(s, "\n") {
			host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "#HttpOnly_"), "."), "\t")
			if host == "" || strings.ContainsAny(host, "/:?#@%[]\\ \r") || strings.ContainsFunc(host, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				continue
			}
			for _, c := range j.Cookies(&url.URL{Scheme: "https", Host: host, Path: "/"}) {
				if pair := c.Name + "=" + c.Value; strings.ContainsAny(pair, "\r\n\x00;") {
					t.Errorf("to %q: %q", host, pair)
				}
			}
		}
	})
}

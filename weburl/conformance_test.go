package weburl

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"github.com/weftcrawl/weft/internal/conformance"
)

type wptCase struct {
	ID       string  `json:"id"`
	Input    string  `json:"input"`
	Base     *string `json:"base"`
	Fail     bool    `json:"fail"`
	Href     string  `json:"href"`
	Origin   *string `json:"origin"`
	Protocol string  `json:"protocol"`
	Username string  `json:"username"`
	Password string  `json:"password"`
	Host     string  `json:"host"`
	Hostname string  `json:"hostname"`
	Port     string  `json:"port"`
	Pathname string  `json:"pathname"`
	Search   string  `json:"search"`
	Hash     string  `json:"hash"`
}

// check returns the differences between the case and the URL that weburl makes of it.
func (c wptCase) check() []string {
	u, err := c.parse()
	if c.Fail {
		if err == nil {
			return []string{"parsed to " + strconv.Quote(u.String()) + ", should fail"}
		}
		return nil
	}
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	compare := func(part, got, want string) {
		if got != want {
			wrong = append(wrong, part+" "+strconv.Quote(got)+", want "+strconv.Quote(want))
		}
	}
	mark := func(mark, s string) string { // as the DOM's search and hash return it
		if s == "" {
			return ""
		}
		return mark + s
	}
	compare("href", u.String(), c.Href)
	compare("scheme", u.Scheme()+":", c.Protocol)
	compare("username", u.Username(), c.Username)
	compare("password", u.Password(), c.Password)
	compare("host", u.Host(), c.Host)
	compare("hostname", u.Hostname(), c.Hostname)
	compare("port", u.Port(), c.Port)
	compare("path", u.Path(), c.Pathname)
	compare("query", mark("?", u.Query()), c.Search)
	compare("fragment", mark("#", u.Fragment()), c.Hash)
	if c.Origin != nil {
		compare("origin", u.Origin(), *c.Origin)
	}
	return wrong
}

func (c wptCase) parse() (URL, error) {
	if c.Base == nil {
		return Parse(c.Input)
	}
	base, err := Parse(*c.Base)
	if err != nil {
		return URL{}, err
	}
	return base.Resolve(c.Input)
}

func TestWPT(t *testing.T) {
	cases := conformance.Cases[wptCase](t, "url-wpt.jsonl")
	known := differences(t, "known-differences.txt")
	passed := 0
	for _, c := range cases {
		wrong := c.check()
		if len(wrong) == 0 {
			passed++
		}
		if reason, ok := known[c.Input]; ok {
			if len(wrong) == 0 {
				t.Errorf("%s: %q passes now; take it out of known-differences.txt (%s)", c.ID, c.Input, reason)
			}
			delete(known, c.Input)
			continue
		}
		for _, w := range wrong {
			t.Errorf("%s: %q: %s", c.ID, c.Input, w)
		}
	}
	for input := range known {
		t.Errorf("known-differences.txt: %q is not in the suite", input)
	}
	t.Logf("%d of %d cases pass", passed, len(cases))
}

// differences reads a list of cases: inputs with the reason why they differ.
func differences(t *testing.T, name string) map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	known := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		quoted, reason, _ := strings.Cut(line, "\t")
		input, err := strconv.Unquote(quoted)
		if err != nil || reason == "" {
			t.Fatalf("%s: %s: want a quoted input, a tab and a reason", name, line)
		}
		known[input] = reason
	}
	return known
}

// TestOracle runs another parser of the standard on the same cases: where it disagrees with the
// suite, the reason is listed.
func TestOracle(t *testing.T) {
	known := differences(t, "whatwg-url.txt")
	listed := len(known)
	cases := conformance.Cases[wptCase](t, "url-wpt.jsonl")
	for _, c := range cases {
		got, want := "a failure", c.Href
		if c.Fail {
			want = got
		}
		var u *whatwg.Url
		var err error
		if c.Base == nil {
			u, err = whatwg.Parse(c.Input)
		} else {
			u, err = whatwg.ParseRef(*c.Base, c.Input)
		}
		if err == nil {
			got = u.Href(false)
		}
		_, differs := known[c.Input]
		if delete(known, c.Input); (got != want) != differs {
			t.Errorf("%s: %q: whatwg-url has %q, the suite %q; listed: %v", c.ID, c.Input, got, want, differs)
		}
	}
	for input := range known {
		t.Errorf("whatwg-url.txt: %q is not in the suite", input)
	}
	t.Logf("%d of %d cases are as whatwg-url has them", len(cases)-listed, len(cases))
}

func TestPublicSuffixList(t *testing.T) {
	type pslCase struct {
		ID          string `json:"id"`
		Host        string `json:"host"`
		Registrable string `json:"registrable"`
	}
	cases := conformance.Cases[pslCase](t, "psl.jsonl")
	passed := 0
	for _, c := range cases {
		if got := RegistrableDomain(c.Host); got != c.Registrable {
			t.Errorf("%s: RegistrableDomain(%q) = %q, want %q", c.ID, c.Host, got, c.Registrable)
			continue
		}
		passed++
	}
	t.Logf("%d of %d cases pass", passed, len(cases))
}

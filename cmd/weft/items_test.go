package main

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/config"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// rulesIn reads the rules of a file.
func rulesIn(text, profile string) ([]extract.Rule, error) {
	options, err := config.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return rulesOf(options, profile)
}

// TestRulesOfThePage reads the rules that docs/extract.md shows.
func TestRulesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/extract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```toml\n")
	text, _, found := strings.Cut(text, "```")
	rules, err := rulesIn(text, "")
	if err != nil || !found || len(rules) != 2 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	product, offer := rules[0], rules[1]
	if product.URLs != "^/product/" || len(product.Fields) != 7 || !product.Fields[1].Required || product.Fields[1].Type != extract.Number {
		t.Errorf("%+v", product)
	}
	if r := product.Fields[6]; r.Name != "reviews" || !r.List || len(r.Fields) != 2 || r.Fields[1].Select != ".stars::attr(data-n)" {
		t.Errorf("%+v", r)
	}
	if offer.Each != "#offers tr" || offer.Fields[0].Name != "what" {
		t.Errorf("%+v", offer)
	}
}

// TestRulesMistaken: a mistake is reported with its line, and what was expected.
func TestRulesMistaken(t *testing.T) {
	for text, want := range map[string]string{
		"items.x = 1":                                                       "line 1: items.x: a value, expected a table: [items.NAME]",
		"[items.p]\nurl = 'x'\nfields.n = 'h1'":                             `line 2: "url": unknown key: did you mean urls?`,
		"[items.p]\nurls = '['\nfields.n = 'h1'":                            "line 2: p: urls: ",
		"[items.p]\nfields = 'h1'":                                          `line 2: fields: expected a table: fields.NAME = "SELECTOR"`,
		"[items.p]\nfields.n = ['h1', 'h2']":                                "line 2: n: a list, expected one value",
		"[items.p]\nfields.n = { select = 'h1', typ = 'url' }":              `line 2: "typ": unknown key: did you mean type?`,
		"[items.p.fields.n]\nselect = 'h1'\nlist = 'many'":                  `line 3: list = "many": expected true or false`,
		"[items.p.fields.n]\nselect = 'h1'\n\nmatch = '('":                  "line 4: p.n: match: ",
		"[items.p.fields.r]\nselect = 'h1'\nfields.a = 'p'\nfields.b='a >'": "line 4: p.r.b: column 4: the end, expected an element",
		"[items.p]\neach = 'tr'":                                            "line 2: p: no fields, expected at least one",
	} {
		_, err := rulesIn(text, "")
		var e *config.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n%v, expected %s", text, err, want)
		}
	}
}

// TestRulesOfProfile: a profile adds rules, and fields to rules.
func TestRulesOfProfile(t *testing.T) {
	const text = "[items.p]\nfields.n = 'h1'\n[profile.ci.items.p]\nfields.m = 'h2'\n[profile.ci.items.q]\nfields.n = 'h3'\n"
	for profile, want := range map[string]string{"": "p{n=h1}", "ci": "p{n=h1 m=h2} q{n=h3}"} {
		rules, err := rulesIn(text, profile)
		var all []string
		for _, r := range rules {
			all = append(all, r.String())
		}
		if got := strings.Join(all, " "); err != nil || got != want {
			t.Errorf("%q: %s, %v, expected %s", profile, got, err, want)
		}
	}
}

// TestExtractTyped: fields on the command line replace the rules of the file; weft config check and
// a crawl report what is wrong with these.
func TestExtractTyped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, string, int) {
		t.Helper()
		cmd, stderr := weftCommand(t, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		return string(out), stderr.String(), exitCode(err)
	}
	write("page.html", "<h1>A\x1b[31m</h1><h2>B</h2>")
	write("weft.toml", "[items.p]\nfields.n = 'h1'\n")
	out, stderr, code := run("extract", "--json", "page.html")
	expect(t, "rules of the file", out, `{"url":"http://localhost/","type":"p","fields":{"n":"A\u001b[31m"}}`+"\n")
	expect(t, "exit "+stderr, code, exitDone)
	out, _, _ = run("extract", "--json", "--extract", "m=h2", "page.html")
	expect(t, "fields typed", out, `{"url":"http://localhost/","fields":{"m":"B"}}`+"\n")
	out, _, _ = run("extract", "page.html")
	if strings.Contains(out, "\x1b") {
		t.Errorf("a page controls the terminal: %q", out)
	}
	_, stderr, code = run("extract", "--extract", "n=h3", "page.html")
	expect(t, "nothing found", stderr, "weft: page.html: nothing was found\n")
	expect(t, "exit", code, exitError)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, "/a", "/b") })
	write("weft.toml", "[items.p]\nfields.n = { select = 'h1', required = true }\nfields.a = 'a'\n")
	_, stderr, _ = run("crawl", "--job", "job", s.URL)
	if warning := "\nweft: p.n is required, and missing in 3 of 3 items\n"; !strings.HasSuffix(stderr, warning) {
		t.Errorf("%s, expected at the end %q", stderr, warning)
	}
	out, _, _ = run("status", "job")
	if line := "\n  items         3 items; p.n missing in 3\n"; !strings.Contains(out, line) {
		t.Errorf("%s, expected %q", out, line)
	}
	run("crawl", "--update", "job")
	out, _, _ = run("status", "job")
	if line := "\n  items         0 items of pages that are new or changed\n"; !strings.Contains(out, line) {
		t.Errorf("%s, expected %q", out, line)
	}
	write("weft.toml", "[items.p]\nfields.n = 'h1['\n")
	for _, args := range [][]string{{"config", "check"}, {"crawl", "http://127.0.0.1:1/"}} {
		_, stderr, code = run(args...)
		expect(t, args[0], stderr, "weft: weft.toml: line 2: p.n: column 4: the end, expected the name of an attribute\n")
		expect(t, "exit", code, exitUsage)
	}
}

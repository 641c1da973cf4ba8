package weburl

import (
	"runtime"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	const token = "0123456789abcdef0123456789ABCDEF"
	for _, c := range []struct{ rule, in, want string }{
		{"strip-www", "http://www.example.org/a#b", "http://example.org/a"},
		{"strip-www", "https://WWW2.example.co.uk:8080/a?b", "https://example.co.uk:8080/a?b"},
		{"strip-www", "http://www.www3.example.org/", "http://example.org/"},
		{"strip-www", "http://www.docs.example.org/", "http://docs.example.org/"},
		{"strip-www", "http://www.org/", "http://www.org/"},
		{"strip-www", "http://www.co.uk/", "http://www.co.uk/"},
		{"strip-www", "http://www.github.io/", "http://www.github.io/"},
		{"strip-www", "http://wwwa.example.org/", "http://wwwa.example.org/"},
		{"strip-www", "http://127.0.0.1/", "http://127.0.0.1/"},
		{"strip-www", "ftp://www.example.org/", "ftp://www.example.org/"},

		{"drop-session", "http://a.org/b;jsessionid=1F.node2?c", "http://a.org/b?c"},
		{"drop-session", "http://a.org/b;x=1;JSESSIONID=1F;y/c", "http://a.org/b;x=1;y/c"},
		{"drop-session", "http://a.org/..;jsessionid=1/b", "http://a.org/..;jsessionid=1/b"},
		{"drop-session", "http://a.org/(S(" + token + "))/b.aspx", "http://a.org/b.aspx"},
		{"drop-session", "http://a.org/(A(" + token + ")S(" + token + "))/b", "http://a.org/b"},
		{"drop-session", "http://a.org/(S(x))/b", "http://a.org/(S(x))/b"},
		{"drop-session", "http://a.org/f(x)/(y)", "http://a.org/f(x)/(y)"},
		{"drop-session", "http://a.org/?a=1&PHPSESSID=" + token + "&b", "http://a.org/?a=1&b"},
		{"drop-session", "http://a.org/?sid=" + token, "http://a.org/"},
		{"drop-session", "http://a.org/?sid=12", "http://a.org/?sid=12"},
		{"drop-session", "http://a.org/?ASPSESSIONIDQCBQ=x&&a", "http://a.org/?&a"},

		{"drop-tracking", "http://a.org/?utm_source=x&utm%5Fmedium=y&id=1&Gclid=2", "http://a.org/?id=1"},
		{"drop-tracking", "http://a.org/?fbclid=1#x", "http://a.org/"},
		{"drop-tracking", "http://a.org/?utm=1&x=utm_source", "http://a.org/?utm=1&x=utm_source"},
		{"drop-tracking", "http://a.org/?", "http://a.org/?"},

		{"drop-empty-query", "http://a.org/?", "http://a.org/"},
		{"drop-empty-query", "http://a.org/?#x", "http://a.org/"},
		{"drop-empty-query", "http://a.org/?&", "http://a.org/?&"},

		{"sort-query", "http://a.org/?b=2&a=1&b=1&c", "http://a.org/?a=1&b=2&b=1&c"},
		{"sort-query", "http://a.org/?a-b=1&a=2", "http://a.org/?a=2&a-b=1"},
		{"sort-query", "http://a.org/?b&&a", "http://a.org/?&a&b"},
		{"sort-query", "http://a.org/?b?a&a", "http://a.org/?a&b?a"},

		{"", "http://www.a.org/?b&utm_source&a#x", "http://www.a.org/?b&utm_source&a"},
		{"drop-tracking,drop-empty-query", "http://a.org/?&fbclid=1", "http://a.org/"},
		{"sort-query,strip-www,drop-tracking", "http://www.a.org/?b&utm_source&a#x", "http://a.org/?a&b"},
	} {
		t.Run(c.rule+" "+c.in, func(t *testing.T) {
			rules, err := ParseRules(c.rule)
			if err != nil {
				t.Fatal(err)
			}
			got := rules.Apply(mustParse(t, c.in))
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			checkURL(t, got)
		})
	}
}

func TestParseRules(t *testing.T) {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
		if r.Doc == "" || strings.Contains(r.Doc, "\n") {
			t.Errorf("%s: doc %q, expected a line", r.Name, r.Doc)
		}
	}
	all := strings.Join(names, ",")
	if s, err := ParseRules(all); err != nil || s.String() != all || len(s.Rules()) != len(names) {
		t.Errorf("ParseRules(%q) = %s, %v", all, s, err)
	}
	for list, want := range map[string]string{
		"sort":         `weburl: rule "sort", expected some of ` + all,
		"sort-query,":  `weburl: rule "", expected some of ` + all,
		"Sort-Query":   `weburl: rule "Sort-Query", expected some of ` + all,
		"sort-query, ": `weburl: rule " ", expected some of ` + all,
	} {
		if _, err := ParseRules(list); err == nil || err.Error() != want {
			t.Errorf("ParseRules(%q): %v, want %s", list, err, want)
		}
	}
}

// TestRulesAllocate checks that a URL that no rule changes costs no memory.
func TestRulesAllocate(t *testing.T) {
	all := RuleSet(1<<len(rules) - 1)
	u := mustParse(t, "https://docs.example.org/a/b?a=1&b=2&c#d")
	if n := testing.AllocsPerRun(100, func() { all.Apply(u) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLinear checks that parsing a long URL allocates a small multiple of its length. (Quadratic
// time used to go into copies.)
func TestLinear(t *testing.T) {
	const n = 15_000
	all := RuleSet(1<<len(rules) - 1)
	for name, raw := range map[string]string{
		"dot segments":         "file:///" + strings.Repeat("a/", n) + strings.Repeat("../", n),
		"hosts in hosts":       "http://" + strings.Repeat("www.", n) + "e.test/",
		"parameters of a path": "http://e.test/" + strings.Repeat(";a", n),
		"sessions of a path":   "http://e.test/" + strings.Repeat("a;sid=0123456789abcdef/", n/10),
		"parameters":           "http://e.test/?" + strings.Repeat("b&gclid&", n),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		u, err := Parse(raw)
		all.Apply(u)
		runtime.ReadMemStats(&after)
		if took := int(after.TotalAlloc - before.TotalAlloc); err != nil || took > 100*len(raw) {
			t.Errorf("%s: %d bytes for %d, error %v", name, took, len(raw), err)
		}
	}
}

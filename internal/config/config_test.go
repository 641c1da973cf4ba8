package config_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/config"
)

func TestParse(t *testing.T) {
	got, err := config.Parse([]byte(`# a comment
user-agent = "bot \"1\""

[crawl]
urls = [
  "https://example.org/",
  "https://example.com/", # another
]
depth = 0x10
memory = 1_000
rate-limit = 0.5
"quiet" = true
robots.test.ua = 'x'

[robots]
test = { ua = "y" }

[profile.ci]
quiet = false
[profile.ci.crawl]
max-time = "10m"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Option{
		{Name: "user-agent", Values: []string{`bot "1"`}, Line: 2},
		{Command: "crawl", Name: "urls", Values: []string{"https://example.org/", "https://example.com/"}, List: true, Line: 5},
		{Command: "crawl", Name: "depth", Values: []string{"16"}, Line: 9},
		{Command: "crawl", Name: "memory", Values: []string{"1000"}, Line: 10},
		{Command: "crawl", Name: "rate-limit", Values: []string{"0.5"}, Line: 11},
		{Command: "crawl", Name: "quiet", Values: []string{"true"}, Line: 12},
		{Command: "crawl robots test", Name: "ua", Values: []string{"x"}, Line: 13},
		{Command: "robots test", Name: "ua", Values: []string{"y"}, Line: 16},
		{Profile: "ci", Name: "quiet", Values: []string{"false"}, Line: 19},
		{Profile: "ci", Command: "crawl", Name: "max-time", Values: []string{"10m"}, Line: 21},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("option %d: got %+v, want %+v", i, got[i:], want[i:])
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"depth = \n":                        "line 1: ",
		"a = 1\n\nb = 1979-05-27\n":         "line 3: b: expected a string, a number",
		"a = 1\na = 2\n":                    "line 2: ",
		"[crawl]\na = [1, [2]]":             "line 2: a: expected a string",
		"[[crawl]]\na = 1":                  "line 1: [[crawl]], expected [crawl]",
		"\n[profile]\nci = 1":               "line 3: profile.ci: a value, expected a table: [profile.NAME]",
		"a = 99999999999999999999":          "line 1: ",
		"a = \"\x00\"":                      "line 1: ",
		"a = " + strings.Repeat("[", 10000): "line 1: ",
	} {
		_, err := config.Parse([]byte(text))
		var e *config.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// TestManyKeys: keys of all kinds count, and a long list is none.
func TestManyKeys(t *testing.T) {
	list := "[crawl]\nurls = [" + strings.Repeat("\"https://example.org/\",\n", 100_000) + "]\n"
	if all, err := config.Parse([]byte(list)); err != nil || len(all[0].Values) != 100_000 {
		t.Errorf("a list: %v", err)
	}
	var keys, tables, inline strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&keys, "k%d = 1\n", i)
		fmt.Fprintf(&tables, "[a%d]\n", i)
		fmt.Fprintf(&inline, "a%d = 1,", i)
	}
	for text, line := range map[string]int{
		keys.String():   10_001,
		tables.String(): 10_001,
		"\nx = {" + strings.TrimSuffix(inline.String(), ",") + "}\n": 2,
		"a" + strings.Repeat(".a", 10_000) + " = 1\n":                1,
		"x = [" + strings.Repeat("{a = 1},", 10_001) + "]\n":         1,
	} {
		if _, err := config.Parse([]byte(text)); err == nil || err.Error() != fmt.Sprintf("line %d: more than 10000 keys", line) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[crawl]\nurls = ['x']\n[profile.a.b]\nc = {d = 1}")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := config.Parse([]byte(text))
		for _, o := range all {
			if err == nil && (o.Line < 1 || o.Line > 1+strings.Count(text, "\n")) {
				t.Errorf("%+v", o)
			}
		}
	})
}

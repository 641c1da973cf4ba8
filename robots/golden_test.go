package robots_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/robots"
)

var update = flag.Bool("update", false, "rewrite the golden files with what is found")

// TestGolden reads testdata/rules/*.txt: cases of a robots.txt, "----" and questions
// with their answers, with "====" between them. A question is "AGENT TARGET", or
// "AGENT delay", or "sitemaps"; its answer follows " -> ".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/rules/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { testGolden(t, file) })
	}
}

func testGolden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n====\n")
	for i, c := range cases {
		body, questions, _ := strings.Cut(c, "\n----\n")
		r := robots.Parse([]byte(body))
		var got []string
		for q := range strings.Lines(questions) {
			q, want, _ := strings.Cut(strings.TrimSuffix(q, "\n"), " -> ")
			a := answer(t, r, q)
			if a != want && !*update {
				t.Errorf("%s -> %s, want %s, of\n%s", q, a, want, body)
			}
			got = append(got, q+" -> "+a)
		}
		cases[i] = body + "\n----\n" + strings.Join(got, "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(cases, "\n====\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func answer(t *testing.T, r *robots.Robots, question string) string {
	if question == "sitemaps" {
		return fmt.Sprintf("%q", r.Sitemaps())
	}
	agent, what, ok := strings.Cut(question, " ")
	if !ok {
		t.Fatalf("question %q: expected AGENT TARGET, AGENT delay, or sitemaps", question)
	}
	rules := r.Agent(agent)
	if what == "delay" {
		if delay, ok := rules.CrawlDelay(); ok {
			return delay.String()
		}
		return "none"
	}
	v := rules.Test(what)
	word := "disallowed"
	if v.Allowed {
		word = "allowed"
	}
	if v.Line == 0 {
		return word + ", no rule"
	}
	return fmt.Sprintf("%s, line %d: %s", word, v.Line, v.Rule)
}

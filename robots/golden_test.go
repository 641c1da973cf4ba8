package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/robots"
)

// TestGolden asks the files of testdata/rules questions and compares the answers. A case is a
// robots.txt and its questions, "AGENT TARGET", "AGENT delay" or "sitemaps", each with " -> "
// and its answer.
func TestGolden(t *testing.T) {
	golden.Cases(t, "testdata/rules/*.txt", golden.DoubleRule, func(t *testing.T, _, body, questions string) string {
		r := robots.Parse([]byte(body))
		var got []string
		for q := range strings.SplitSeq(questions, "\n") {
			q, _, _ = strings.Cut(q, " -> ")
			got = append(got, q+" -> "+answer(t, r, q))
		}
		return strings.Join(got, "\n")
	})
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

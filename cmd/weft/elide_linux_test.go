package main

import (
	"os"
	"strings"
	"testing"
)

func TestElide(t *testing.T) {
	long := "http://a.test/" + strings.Repeat("x", 2000) + "/end"
	for _, c := range []struct {
		line, want string
		most       int
	}{
		{"  broken  http://a.test/b", "  broken  http://a.test/b", 80},
		{"  " + long + " from " + long, "  http://a.test…xx/end from http://a.test/xxx…xx/end", 80},
		{"  " + long + ": status ü", "  http://a.test/xxxxxxxxxxxxxxx…xxxxxxxxxx/end: status ü", 60},
	} {
		got := elideLine(c.line, c.most)
		if n := len([]rune(got)); n > c.most || strings.Count(got, "…") != strings.Count(c.want, "…") || !strings.HasPrefix(got, c.want[:10]) {
			t.Errorf("%d runes: %s, expected such as %s", n, got, c.want)
		}
	}
	if got := elided(long, os.Stdin); got != long {
		t.Errorf("no terminal: %s", got)
	}
	person, program := newTerminal(t)
	defer program.Close()
	if got := elided("a "+long+"\nb\n", person); len([]rune(got)) > 2*80+2 || !strings.HasSuffix(got, "x/end\nb\n") {
		t.Errorf("terminal: %s", got)
	}
}

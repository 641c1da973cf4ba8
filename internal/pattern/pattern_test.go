package pattern_test

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/pattern"
)

// TestCost: the cost is no less than half of the program, and not many times as much.
func TestCost(t *testing.T) {
	for _, text := range []string{
		"", "a", "/docs/.*[.]html$", "x{1000}", "(x{10}){100}", "(a|b){500}", "x{3,}", "x{0,500}", "x{0}", `\pL{20}`, `(?i)straße`, strings.Repeat("x{1000}", 20),
		"((a*)*)*", `[^\x00-\x{10FFFF}]`, "(?:a?){300}b{300}",
	} {
		re, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, i := range prog.Inst {
			size += 1 + len(i.Rune)/10
		}
		if got := pattern.Cost(text); 2*got+10 < size || got > 3*size+10 {
			t.Errorf("%.40s: %d, expected about %d", text, got, size)
		}
	}
	for text, most := range map[string]int{"(": 0, "x{1001}": 0, strings.Repeat("x", 5000): 1 << 31, "((x{1000}){1000}){1000}": 1 << 31} {
		if got := pattern.Cost(text); got > most {
			t.Errorf("%.40s: %d", text, got)
		}
	}
	room := pattern.Room(1000)
	if err := room.Take("a", "x{900}"); err != nil {
		t.Error(err)
	}
	if err := room.Take("x{900}"); err == nil {
		t.Errorf("room for %d", room)
	}
}

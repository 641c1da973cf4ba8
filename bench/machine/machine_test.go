package machine

import (
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	word := strings.Repeat("µ", 49)
	text := word + " " + word + "  a\n" + word + " " + word + "b"
	if got, want := Fill(text), word+" "+word+"\na "+word+"\n"+word+"b"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

func TestHow(t *testing.T) {
	for runs, want := range map[int]string{1: "; one run.", 3: "; of 3 runs the median by the time."} {
		if how := (Measurement{Runs: runs, Command: "make it"}).How("the median by the time"); !strings.HasPrefix(how, "`make it`, at commit ") || !strings.HasSuffix(how, want) {
			t.Errorf("%s, expected %s at its end", how, want)
		}
	}
}

func TestMiddle(t *testing.T) {
	figures := []int{7, 1, 9, 3, 5}
	n := 0
	one, err := Middle(len(figures), func() (string, error) { n++; return strings.Repeat("x", figures[n-1]), nil }, func(s string) int { return len(s) })
	if len(one) != 5 || err != nil {
		t.Errorf("%q, %v", one, err)
	}
}

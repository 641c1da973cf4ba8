package near

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	words := []string{"state", "status", "error", "error_kind", "url", "content_type"}
	for name, want := range map[string]string{
		"statu": "status", "stat": "state", "sttatus": "status", "content-type": "content_type", "eror": "error", "errorkind": "error_kind",
		"u": "", "": "", "xyz": "", "title": "", strings.Repeat("s", 1000): "",
	} {
		if got := Word(name, words); got != want {
			t.Errorf("%.40q: %q, expected %q", name, got, want)
		}
	}
}

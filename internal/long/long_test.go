package long_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/long"
)

func TestOr(t *testing.T) {
	for value, want := range map[string]int{"": 1, "0": 1, "1": 2} {
		t.Setenv(long.Env, value)
		if got := long.Or(1, 2); got != want {
			t.Errorf("%s=%q: %d, want %d", long.Env, value, got, want)
		}
	}
}

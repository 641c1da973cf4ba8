package cluster

import (
	"errors"
	"testing"
)

// TestGiveBackAgain: what a node could not give back of a limit, as another wrote at once, it gives
// back later: others may wait for it. It does not leave before.
func TestGiveBackAgain(t *testing.T) {
	t.Parallel()
	for _, q := range []*quota{{unused: true}, {leaves: true}} {
		q.limits.URLs, q.mine = 10, allowance{Taken: 5, Begun: 3}
		if due, more := q.due(true); !due || more {
			t.Fatalf("%+v: due %t, more %t", q, due, more)
		}
		q.wrote(allowance{3, 3}, errors.New("wrong last sequence"))
		if due, _ := q.due(false); due {
			t.Errorf("%+v: at once", q)
		}
		if due, more := q.due(true); !due || more || !q.has() {
			t.Errorf("%+v: due %t, more %t", q, due, more)
		}
		if q.wrote(allowance{3, 3}, nil); q.has() {
			t.Errorf("%+v has something", q)
		}
	}
}

// TestAllowanceIsBounded: a process takes more while it has some left, and has at most mostAllowed
// left then.
func TestAllowanceIsBounded(t *testing.T) {
	t.Parallel()
	l := limits{URLs: 1_000_000}
	var mine allowance
	for range 20 {
		l, mine = l.with("a.1", mine, true, map[string]bool{"a.1": true})
		if left := mine.Taken - mine.Begun; left != mostAllowed {
			t.Fatalf("%d of %d are not begun, expected %d", left, mine.Taken, mostAllowed)
		}
		mine.Begun += mostAllowed / 2
	}
}

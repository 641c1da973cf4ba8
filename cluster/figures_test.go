package cluster

import (
	"math"
	"testing"
	"time"
)

// TestLag: the lag of a commit is the time from the disk until its last message, and all before it,
// are acknowledged.
func TestLag(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	expect := func(l *lag, p50, p99, most float64) {
		t.Helper()
		is := l.measured()
		for name, pair := range map[string][2]float64{"median": {is.P50, p50}, "p99": {is.P99, p99}} {
			if pair[0] < pair[1] || pair[0] > 1.1*pair[1] {
				t.Errorf("%s %v, expected %v or a tenth more", name, pair[0], pair[1])
			}
		}
		if math.Abs(is.Max-most) > 1e-9 {
			t.Errorf("longest %v, expected %v", is.Max, most)
		}
	}
	var l lag
	expect(&l, 0, 0, 0)
	for i := range 98 {
		l.committed(uint64(2*i+2), at(i*100))
		l.acknowledged(uint64(2*i+1), at(i*100+10)) // not its last
		l.acknowledged(uint64(2*i+2), at(i*100+20))
	}
	l.committed(300, at(20_000))
	l.committed(300, at(25_000)) // said again by a process that finds it on the disk
	l.committed(301, at(29_980))
	expect(&l, 0.02, 0.02, 0.02)
	l.acknowledged(301, at(30_000)) // both
	expect(&l, 0.02, 0.02, 10)
	l.committed(302, at(40_000))
	l.acknowledged(302, at(43_000))
	expect(&l, 0.02, 3, 10)
	l.committed(303, at(50_000))
	l.acknowledged(303, at(50_000+3_600_000)) // beyond the last step
	l.committed(304, at(50_000))
	l.acknowledged(304, at(50_000)) // before the first
	if is := l.measured(); is.Max != 3600 {
		t.Errorf("%+v", is)
	}
	before := l.mu.commits
	l.acknowledged(310, at(60_000))
	l.committed(310, at(61_000)) // said late
	if n := len(l.mu.waiting); n > 0 || l.mu.commits != before+1 {
		t.Errorf("%d commits wait, %d counted, expected none and one", n, l.mu.commits-before)
	}
	for i := range 3 * mostCommits { // while no servers answer
		l.committed(uint64(400+i), at(0))
	}
	if n := len(l.mu.waiting); n > mostCommits {
		t.Errorf("%d commits wait in memory, expected %d at most", n, mostCommits)
	}
	l.acknowledged(math.MaxUint64, at(1))
	if n := len(l.mu.waiting); n > 0 {
		t.Errorf("%d commits wait, expected none", n)
	}
}

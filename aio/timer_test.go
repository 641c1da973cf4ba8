package aio

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// ring is an alarm that records that it rang.
type ring struct {
	id   int
	rung *[]int
	then func()
}

func (r *ring) alarm() {
	*r.rung = append(*r.rung, r.id)
	if r.then != nil {
		r.then()
	}
}

// alarmClocks returns n unarmed timers, and the list of timers that fired.
func alarmClocks(n int) (set []timer, rung *[]int) {
	rung = new([]int)
	set = make([]timer, n)
	for i := range set {
		set[i].owner = &ring{id: i, rung: rung}
	}
	return set, rung
}

// plainTimers is the model for timers: a list of armed ones, sorted on demand.
type plainTimers struct {
	when map[int]int64
	seq  map[int]int
	n    int
}

func (p *plainTimers) arm(id int, when int64) {
	p.n++
	p.when[id], p.seq[id] = max(when, 1), p.n
}

func (p *plainTimers) disarm(id int) { delete(p.when, id) }

func (p *plainTimers) next() int64 {
	earliest := int64(0)
	for _, when := range p.when {
		if earliest == 0 || when < earliest {
			earliest = when
		}
	}
	return earliest
}

func (p *plainTimers) fire(now int64) (due []int, late time.Duration) {
	for id, when := range p.when {
		if when <= now {
			due = append(due, id)
			late = max(late, time.Duration(now-when))
		}
	}
	slices.SortFunc(due, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.when[a], p.when[b]), cmp.Compare(p.seq[a], p.seq[b]))
	})
	for _, id := range due {
		p.disarm(id)
	}
	return due, late
}

// Through any sequence of arming, rearming for earlier, later and equal times, disarming and
// firing, timers behave like a sorted list; and the entries of cancelled ones stay bounded.
func TestTimersAreLikeASortedList(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			clocks := 1 << rnd.IntN(11) // from one to a thousand
			span := int64(1) << rnd.IntN(12)
			set, rung := alarmClocks(clocks)
			plain := plainTimers{when: make(map[int]int64), seq: make(map[int]int)}
			var h timers
			now := int64(10)
			for step := range 3000 {
				id := rnd.IntN(clocks)
				switch op := rnd.IntN(100); {
				case op < 55:
					when := now - 5 + rnd.Int64N(span+5)
					h.arm(&set[id], when)
					plain.arm(id, when)
				case op < 95:
					if set[id].when == 0 {
						break
					}
					h.disarm(&set[id])
					plain.disarm(id)
					if h.dead >= 64 && h.dead*2 > len(h.heap)+1 {
						t.Fatalf("step %d: %d of %d entries are dead after a disarm", step, h.dead, len(h.heap))
					}
				default:
					now += rnd.Int64N(1 + span/8)
					*rung = nil
					late, fired := h.fire(now)
					due, wantLate := plain.fire(now)
					if !slices.Equal(*rung, due) || late != wantLate || fired != (due != nil) {
						t.Fatalf("step %d: rang %v, late %v; want %v, late %v", step, *rung, late, due, wantLate)
					}
				}
				if got, want := h.next(), plain.next(); got > want || (got == 0) != (want == 0) {
					t.Fatalf("step %d: next is %d, want %d or before", step, got, want)
				}
				if set[id].when != plain.when[id] {
					t.Fatalf("step %d: timer %d is armed for %d, want %d", step, id, set[id].when, plain.when[id])
				}
				if step%10 == 0 {
					checkTimers(t, &h, len(plain.when))
				}
			}
			*rung = nil
			h.fire(now + 2*span)
			if due, _ := plain.fire(now + 2*span); !slices.Equal(*rung, due) {
				t.Fatalf("at the end rang %v, want %v", *rung, due)
			}
			if h.next() != 0 || len(h.heap) != 0 || h.dead != 0 {
				t.Fatalf("all have rung, and %d entries are left, %d dead", len(h.heap), h.dead)
			}
		})
	}
}

// checkTimers checks the invariants of timers.
func checkTimers(t *testing.T, h *timers, armed int) {
	t.Helper()
	for i := 1; i < len(h.heap); i++ {
		if h.heap[i].before(&h.heap[(i-1)/4]) {
			t.Fatalf("entry %d is before its parent", i)
		}
	}
	if len(h.heap) != armed+h.dead {
		t.Fatalf("%d entries, %d dead, %d armed", len(h.heap), h.dead, armed)
	}
}

// A deadline that is pushed back with every packet must not cost an entry per packet.
func TestTimerPushedBackKeepsOneEntry(t *testing.T) {
	var h timers
	set, rung := alarmClocks(1)
	for when := int64(1); when <= 100_000; when++ {
		h.arm(&set[0], when)
	}
	if len(h.heap) != 1 {
		t.Errorf("the heap has %d entries, want 1", len(h.heap))
	}
	if h.fire(99_999); len(*rung) != 0 {
		t.Error("rang at a time that it had been armed for before")
	}
	if h.fire(100_000); len(*rung) != 1 {
		t.Errorf("rang %d times, want once", len(*rung))
	}
}

func TestTimerPulledForwardRingsOnce(t *testing.T) {
	var h timers
	set, rung := alarmClocks(1)
	for when := int64(10_000); when > 0; when-- {
		h.arm(&set[0], when)
	}
	if len(h.heap) > 200 {
		t.Errorf("one armed timer has %d entries", len(h.heap))
	}
	if h.fire(20_000); len(*rung) != 1 {
		t.Errorf("rang %d times, want once", len(*rung))
	}
}

// An alarm may change any timer, including its own.
func TestTimersChangedWhileTheyFire(t *testing.T) {
	var h timers
	set, rung := alarmClocks(4)
	set[0].owner.(*ring).then = func() {
		h.disarm(&set[1])    // due, but must not ring
		h.arm(&set[2], 1000) // due, but moved to later
		h.arm(&set[3], 3)    // not due before
	}
	for i := range 3 {
		h.arm(&set[i], int64(i+1))
	}
	again := 0
	set[3].owner.(*ring).then = func() {
		if again++; again < 3 {
			h.arm(&set[3], 4)
		}
	}
	h.fire(10)
	if want := []int{0, 3, 3, 3}; !slices.Equal(*rung, want) {
		t.Errorf("rang %v, want %v", *rung, want)
	}
	if next := h.next(); next != 1000 {
		t.Errorf("next is %d, want 1000", next)
	}
}

func TestTimersDoNotAllocate(t *testing.T) {
	var h timers
	set, _ := alarmClocks(100)
	when := int64(0)
	round := func() {
		for i := range set {
			when++
			h.arm(&set[i], when+int64(i*7919%100))
		}
		for i := range set[:50] {
			h.disarm(&set[i])
		}
		h.next()
	}
	round()
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("a round allocates %v times", n)
	}
}

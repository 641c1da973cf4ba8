package engine

import (
	"testing"
	"time"
)

// TestWholeCrawl: a crawl without other nodes waits for nobody.
func TestWholeCrawl(t *testing.T) {
	var s *sharing
	s.start(nil)
	for name, got := range map[string]bool{
		"may start":                   s.mayStart(),
		"may end":                     s.mayEnd(),
		"may leave":                   s.mayLeave(),
		"is not limited by others":    !s.limitReached(),
		"commits as soon as it would": s.gathers() == commitAfter,
	} {
		if !got {
			t.Errorf("expected that it %s", name)
		}
	}
	s.wantMore()
	s.checkDrains()
	s.tellHomes()
	s.resumed()
	s.committed(time.Time{}, nil, nil)
}

// TestUndelivered: a batch is overdue from MaxUndelivered on, until its last message is delivered,
// which may be before it is known that it was committed.
func TestUndelivered(t *testing.T) {
	var u undelivered
	began := time.Unix(1000, 0)
	late := began.Add(MaxUndelivered + 1)
	u.deliver(3)
	u.add(began, posting{began, 3})
	if u.overdue(late) {
		t.Error("what was delivered before it was committed is overdue")
	}
	u.add(began, posting{began, 5})
	if u.overdue(began.Add(MaxUndelivered)) || !u.overdue(late) {
		t.Errorf("a batch is not overdue from %v on", MaxUndelivered)
	}
	u.add(late, posting{late, 8}) // waits for as long as the first
	if u.deliver(5); !u.overdue(late) {
		t.Error("a batch that came while another was overdue does not wait with it")
	}
	if u.deliver(8); u.overdue(late.Add(time.Hour)) {
		t.Error("all is delivered, and something overdue")
	}
}

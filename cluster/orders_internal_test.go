package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestOrdersBounded: however many exclusions are in force, one too many is refused, and a crawl can
// be paused. A key with more than can be given is not obeyed.
func TestOrdersBounded(t *testing.T) {
	t.Parallel()
	var full orders
	for i := range mostListed {
		full = append(full, []string{"exclude", fmt.Sprintf("/%d/", i)})
	}
	one := orders{{"exclude", "/x/"}}
	for _, tt := range []struct {
		have, more orders
		most       int
		fits       bool
	}{
		{full[1:], one, 1 << 20, true},
		{full, one, 1 << 20, false},
		{full, orders{{"pause"}}, 1 << 20, true},
		{full, orders{{"set", "delay=2s"}}, 1 << 20, true},
		{orders{{"exclude", strings.Repeat("x", 1<<16)}}, one, 1 << 16, false},
		{orders{{"exclude", strings.Repeat("x", 1<<16-steeringRoom/2)}}, one, 1 << 16, false},
		{orders{{"exclude", strings.Repeat("x", 1<<16-steeringRoom/2)}}, orders{{"resume"}}, 1 << 16, true},
	} {
		next, _ := tt.have.with(tt.more)
		text, err := json.Marshal(next)
		if err != nil {
			t.Fatal(err)
		}
		if err := next.fit(tt.more, len(text), tt.most); (err == nil) != tt.fits {
			t.Errorf("%d orders and %q: %v", len(tt.have), tt.more, err)
		}
	}
	for n, ok := range map[int]bool{0: true, steering + 1: false} {
		text, err := json.Marshal(append(full[:len(full):len(full)], full[:n]...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readOrders(text); (err == nil) != ok {
			t.Errorf("%d orders: %v", len(full)+n, err)
		}
	}
}

// TestLimitsStay: no order changes limits that all nodes share.
func TestLimitsStay(t *testing.T) {
	for _, word := range []string{"limit=1", "max-time=1h"} {
		if _, err := new(Client).Do(t.Context(), "set", "delay=1s", word); err == nil || !strings.Contains(err.Error(), "on several machines") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

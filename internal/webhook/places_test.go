package webhook

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/crawls"
)

// TestPlaces: receivers that are slow leave places to others of their user, users leave places to
// others, and a receiver has one delivery at a time until it has proved prompt.
func TestPlaces(t *testing.T) {
	p := newPlaces()
	enter := func(by, host string) func() {
		leave, ok := p.enter(endpoint{by, host})
		if !ok {
			return nil
		}
		return leave
	}
	name := func(i int) string { return string(rune('A' + i)) }
	// Those that are new take what one user may have.
	var leave []func()
	for i := range mostOwn {
		leave = append(leave, enter("a", name(i)))
	}
	if enter("a", "new") != nil || enter("b", "new") == nil || enter("b", "new") != nil {
		t.Error("the user has no bound, others have no place, or a new receiver has two")
	}
	for i, l := range leave {
		p.note(endpoint{"a", name(i)}, false)
		l()
	}
	// Once they are slow, they take less.
	slow := 0
	for i := range mostOwn {
		if enter("a", name(i)) != nil {
			slow++
		}
	}
	if slow != mostSlow {
		t.Errorf("%d slow ones, expected %d", slow, mostSlow)
	}
	one := enter("a", "good")
	p.note(endpoint{"a", "good"}, true)
	many := 1
	for enter("a", "good") != nil {
		many++
	}
	if one == nil || many != mostPrompt {
		t.Errorf("%d to one that is prompt", many)
	}
	for _, by := range []string{"c", "d", "e", "f"} {
		for i := range mostOwn {
			enter(by, name(i))
		}
	}
	if p.all != mostAtAll {
		t.Errorf("%d at all", p.all)
	}
	one()
	if enter("g", "last") == nil {
		t.Error("a place that was left is not free")
	}
	p.forget(map[endpoint]bool{{"a", "good"}: true})
	if p.at[endpoint{"a", name(mostOwn - 1)}] != nil || p.at[endpoint{"a", "good"}] == nil {
		t.Error("forgotten: the wrong ones")
	}
}

// TestSlowReceivers: receivers that never answer delay nobody but themselves, of their user or of
// others, and there are no more deliveries at once than may be.
func TestSlowReceivers(t *testing.T) {
	t.Parallel()
	asks, on := make(chan bool, 1000), make(chan bool)
	var mu sync.Mutex
	busy, most := 0, 0
	hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		busy++
		most = max(most, busy)
		mu.Unlock()
		asks <- true
		select {
		case <-on:
		case <-r.Context().Done(): // it was given up
		}
		mu.Lock()
		busy--
		mu.Unlock()
	})
	f, _ := folder(t, t.TempDir())
	add := func(by, url string, seed string) {
		h := Hook{URL: url, Secret: secretPrefix + base64.StdEncoding.EncodeToString(key)}
		if err := h.Check(); err != nil {
			t.Fatal(err)
		}
		file, err := h.File()
		if err == nil {
			_, _, err = f.Add(crawls.Ask{By: by, Seeds: []string{"https://" + seed + ".test/"}, Hook: file})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for by, n := range map[string]int{"many": 2 * mostOwn, "some": mostOwn / 2} {
		for range n {
			s := httptest.NewServer(hang)
			defer s.Close()
			for range 3 {
				add(by, s.URL, "a")
			}
		}
	}
	defer close(on)
	for range mostOwn + mostOwn/2 {
		<-asks
	}
	for _, by := range []string{"some", "other"} {
		r := newReceiver(t, key, func(int) int { return 0 })
		for range 5 {
			add(by, r.URL, "b")
		}
		r.takes(t, 5)
	}
	mu.Lock()
	defer mu.Unlock()
	if busy != mostOwn+mostOwn/2 || most != busy {
		t.Errorf("%d deliveries to slow receivers, at most %d", busy, most)
	}
}

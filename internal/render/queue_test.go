package render

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// TestQueue: a site whose pages keep their tabs has all of them only while no other waits, and
// pages that wait are served by turns of their sites, each of which may have many hosts.
func TestQueue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tabs    int
		arrive  string
		expects string // with a tab: what had one leaves, one by one
	}{
		"one tab":          {1, "a1 a2 a3 b1 b2", "a1 a2 b1 a3 b2"},
		"two tabs":         {2, "a1 a2 a3 a4 b1 b2", "a1 a2 b1 a3 b2 a4"},
		"in the order":     {1, "a1 b1 c1", "a1 b1 c1"},
		"those of one":     {2, "a1 a2 a3", "a1 a2 a3"},
		"a tab for others": {2, "ahangs a2 a3 b1 b2 b3", "ahangs a2 b1 b2 b3 a3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(c.tabs)
				over, leaves := context.WithCancel(t.Context())
				var got []string
				leaveOf := make(map[string]func())
				for _, page := range strings.Fields(c.arrive) {
					go func() {
						leave, err := q.enter(over, domainOf("http://"+page+"."+page[:1]+".example/"))
						if err == nil {
							got = append(got, page)
							leaveOf[page] = leave
						}
					}()
					synctest.Wait()
				}
				for i := 0; i < len(got); i++ {
					if !strings.HasSuffix(got[i], "hangs") {
						leaveOf[got[i]]()
						synctest.Wait()
					}
				}
				leaves()
				synctest.Wait()
				if want := strings.Fields(c.expects); !slices.Equal(got, want) {
					t.Errorf("%q, expected %q", got, want)
				}
			})
		})
	}
}

// TestQueueLeft: a page that does not wait any more takes no tab.
func TestQueueLeft(t *testing.T) {
	t.Parallel()
	q := newQueue(1)
	leave, err := q.enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := q.enter(ended, "b"); err == nil {
		t.Error("a page has a tab that another has")
	}
	leave()
	if q.free != 1 || len(q.taken)+len(q.waiting) > 0 {
		t.Errorf("%+v", q)
	}
}

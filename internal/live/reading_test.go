package live

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/internal/share"
)

// TestReading: whatever reads the files of the job waits for others that read, of any job, and
// leaves its place.
func TestReading(t *testing.T) {
	for _, path := range []string{"status", "hosts", "urls", "why?url=http://a.test/", "tasks", "figures", "records", "speed", "orders"} {
		synctest.Test(t, func(t *testing.T) {
			room := share.NewRoom(1, 0)
			s := NewIn(room, t.TempDir(), "")
			ask := func() int {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, s.Root()+"v1/"+path, nil)
				if path == "orders" {
					r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.Root()+"v1/"+path, strings.NewReader(`{"words":["pause"]}`))
					r.Header.Set("Content-Type", "application/json")
				}
				r.Host = "localhost"
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				return w.Code
			}
			leave, err := room.Enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if status := ask(); status != http.StatusServiceUnavailable {
				t.Errorf("%s: %d beside others, expected 503", path, status)
			}
			leave()
			minute, cancel := context.WithTimeout(t.Context(), time.Minute) // what is shared is old then
			defer cancel()
			<-minute.Done()
			for range 3 {
				if status := ask(); status == http.StatusServiceUnavailable {
					t.Errorf("%s: %d when they have left", path, status)
				}
			}
		})
	}
}

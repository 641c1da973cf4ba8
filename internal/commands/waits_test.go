package commands_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestWaitsSayWhy: a host that is left alone for a while says why, in weft hosts and weft why.
func TestWaitsSayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler    http.HandlerFunc
		hosts, why string
	}{
		"overloaded": {
			func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					wefttest.HTML(w, "/a")
				case "/a":
					w.Header().Set("Retry-After", "12")
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			},
			"waits: 503, Retry-After 12 s, next request in 1",
			"its host waits: 503, Retry-After 12 s",
		},
		"robots.txt": {
			func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
			"waits: robots.txt: status 500, next request in ",
			"could not be read yet: robots.txt: status 500",
		},
		"nearer URLs": {
			func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					wefttest.HTML(w, "/a", "/slow")
				case "/a":
					wefttest.HTML(w, "/deep")
				case "/slow":
					<-r.Context().Done()
				}
			},
			"waits: nearer URLs, which --depth takes first",
			"its host waits: nearer URLs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.handler)
			defer s.Close()
			cmd, stderr := wefttest.Command(t, "crawl", "--job", "job", "--retries", "9", "--depth", "5", s.URL)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
			url := s.URL + map[string]string{"overloaded": "/a", "nearer URLs": "/deep"}[name]
			says := func(want string, args ...string) {
				t.Helper()
				var last string
				for range 200 {
					if last = wefttest.In(t, cmd.Dir, args...).Stdout; strings.Contains(last, want) {
						return
					}
				}
				t.Errorf("%q printed %s, expected %q in it; the crawl printed %s", args, last, want, stderr)
			}
			says(c.hosts, "hosts", "job")
			says(c.why, "why", "job", url)
		})
	}
}

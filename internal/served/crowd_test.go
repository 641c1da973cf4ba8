package served

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
)

// TestCrowd: connections without a request, requests that never come whole, and more viewers than
// may be, keep nobody out.
func TestCrowd(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 1)
	s := serve(t, t.TempDir(), "--allow-private")
	c := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}}).ID)
	looks := fmt.Sprintf("GET /crawls/%s/v1/looks HTTP/1.1\r\nHost: localhost\r\n\r\n", c.ID)
	var crowd []net.Conn
	for name, one := range map[string]struct {
		begin string
		many  int
	}{
		"silent": {"", long.Or(50, 10_000)}, "slow": {looks[:20], long.Or(50, 10_000)},
		"viewers": {looks, long.Or(200, 10_000)},
	} {
		for range one.many {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			crowd = append(crowd, conn)
			if _, err := io.WriteString(conn, one.begin); err != nil {
				t.Fatal(err)
			}
		}
		if status, text := s.ask("GET", "/v1/crawls/"+c.ID, nil, nil); status != http.StatusOK {
			t.Errorf("%s: %d, %s", name, status, text)
		}
		if name == "viewers" {
			answers := make(map[string]int)
			for _, conn := range crowd[len(crowd)-one.many:] {
				status := make([]byte, 12)
				_, _ = io.ReadFull(conn, status)
				answers[string(status)]++
			}
			if answers["HTTP/1.1 200"] != 100 || answers["HTTP/1.1 503"] == 0 {
				t.Errorf("viewers: %v, expected 100", answers)
			}
		}
	}
	for _, conn := range crowd {
		conn.Close()
	}
}

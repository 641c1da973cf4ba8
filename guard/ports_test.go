package guard_test

import (
	"testing"

	"github.com/weftcrawl/weft/guard"
)

// TestBlocksPort: services that a request could be mistaken for a command to are blocked, and the
// usual ports of web servers are not.
func TestBlocksPort(t *testing.T) {
	for _, port := range []int{0, 1, 22, 25, 110, 6000, 6379, 6667, 10080} {
		if !guard.BlocksPort(port) {
			t.Errorf("port %d is not blocked", port)
		}
	}
	for _, port := range []int{80, 81, 443, 3000, 5000, 8000, 8080, 8443, 9200, 65535} {
		if guard.BlocksPort(port) {
			t.Errorf("port %d is blocked", port)
		}
	}
}

package budget_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/budget"
)

// TestGuide: the guide says how many URLs the default budget and twice as much hold in memory.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	const bytesOfURL = 5.8 // packed: see package seen
	millions := func(memory int) int { return int(float64(budget.Split(memory, 1).Seen) / bytesOfURL / 1e6) }
	want := fmt.Sprintf("512 MiB hold %d million URLs before the crawl has to look them up on disk, and 1 GiB holds %d million.",
		millions(512<<20), millions(1<<30))
	if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, want) {
		t.Errorf("docs/guide.md does not say: %s", want)
	}
}

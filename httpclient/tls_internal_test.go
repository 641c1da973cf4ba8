package httpclient

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// TestTLSTime checks that certificates are judged by the time of the calendar, also after that was
// set.
func TestTLSTime(t *testing.T) {
	clock := aiotest.NewClock()
	config := newTLSConfig(aio.NewLoop(aio.Options{Clock: clock}), false)
	clock.Set(-48 * time.Hour)
	if got, want := config.Time(), aiotest.Epoch.Add(-48*time.Hour); !got.Equal(want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

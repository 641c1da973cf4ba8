// Package rendered_test crawls sites whose pages need a browser, with the command.
package rendered_test

import (
	"net/http/httptest"
	"testing"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/replay"
)

func TestMain(m *testing.M) { wefttest.Main(m, 6) }

// replayOf serves a replay of a job until the test ends, and returns the URL of its collection.
func replayOf(t *testing.T, job string) string {
	t.Helper()
	x, err := archive.Open(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	s := replay.New(x, "job", func(err error) { t.Error(err) })
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL + s.Root()
}

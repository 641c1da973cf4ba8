package crawl

import (
	"net/http/cookiejar"
	"testing"

	"github.com/weftcrawl/weft/internal/budget"
)

// limited is a jar that takes its limit.
type limited struct {
	*cookiejar.Jar
	bytes int
}

func (j *limited) Limit(bytes int) { j.bytes = bytes }

// TestCookiesKeepWithinTheirShare: a jar that can be limited is given its share of the memory.
func TestCookiesKeepWithinTheirShare(t *testing.T) {
	jar, cfg := new(limited), new(Config)
	cfg.Engine.Loops, cfg.Engine.Shares = 1, budget.Split(budget.Default, 1)
	cfg.Engine.Fetch.HTTP.Cookies = jar
	cfg.Job.Plan.Scope, cfg.Job.Plan.Duplicates = "host", duplicatesOff
	if _, err := New(cfg); err != nil {
		t.Fatal(err)
	}
	if want := cfg.Engine.Shares.Cookies; want == 0 || jar.bytes != want {
		t.Errorf("the jar has %d bytes, expected %d", jar.bytes, want)
	}
}

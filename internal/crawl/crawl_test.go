package crawl

import (
	"fmt"
	"net/http/cookiejar"
	"reflect"
	"testing"

	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/warc"
)

// limited is a jar that takes its limit.
type limited struct {
	*cookiejar.Jar
	bytes int
}

func (j *limited) Limit(bytes int) { j.bytes = bytes }

// shareTaken are the bytes that something takes of its share.
var shareTaken = map[string]func(t *testing.T, cfg *Config) int{
	"Cookies": func(t *testing.T, cfg *Config) int { // a jar that can be limited
		jar := new(limited)
		cfg.Engine.Fetch.HTTP.Cookies = jar
		if _, err := New(cfg); err != nil {
			t.Fatal(err)
		}
		return jar.bytes
	},
	"Duplicates": func(t *testing.T, cfg *Config) int {
		cfg.Job.Plan.Duplicates = "exact"
		if err := cfg.follow(&cfg.Job.Plan); err != nil {
			t.Fatal(err)
		}
		return cfg.Engine.Duplicates * costOfDuplicate
	},
	"Originals": func(t *testing.T, cfg *Config) int { // captures until the first is forgotten
		cfg.Job.Plan.Archive, cfg.Engine.Job = true, new(job.Job)
		if err := cfg.follow(&cfg.Job.Plan); err != nil {
			t.Fatal(err)
		}
		const url = "http://a.test/"
		refers := func(i int) bool {
			body := fmt.Appendf(nil, "%*d", capture.MinPayload, i)
			x := &warc.Exchange{URL: url, Response: body, Parts: &warc.Parts{Status: 200, Payload: body}}
			c := cfg.Engine.Fetch.Archive.Encode(x, frontier.Capture{}, "text/html")
			refers := c.Index.MIME == "warc/revisit"
			cfg.Engine.Fetch.Archive.Placed(c)
			return refers
		}
		refers(0)
		n := 1
		for refers(n); n < 1000 && refers(0); n++ {
			refers(n + 1)
		}
		return n * (100 + len(url))
	},
}

// TestShares: each part takes the memory of its share, within the grain of its tables.
func TestShares(t *testing.T) {
	for name, taken := range shareTaken {
		const share = 64 << 10
		cfg := new(Config)
		cfg.Engine.Loops, cfg.Job.Plan.Scope, cfg.Job.Plan.Duplicates = 1, "host", duplicatesOff
		reflect.ValueOf(&cfg.Engine.Shares).Elem().FieldByName(name).SetInt(share)
		if got := taken(t, cfg); got > share*101/100 || got < share*99/100 {
			t.Errorf("%s: %d bytes with a share of %d", name, got, share)
		}
	}
}

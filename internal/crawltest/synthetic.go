package crawltest

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/webtest"
)

// CrawlSynthetic crawls a synthetic web, from its first host to all others, over an in-memory
// network, on a virtual clock.
func CrawlSynthetic(t *testing.T, cfg webtest.Config, o weft.Options) (*webtest.Web, map[string]weft.Record, weft.Summary) {
	t.Helper()
	return CrawlSyntheticOver(t, cfg, aiotest.NetOptions{Seed: 1, Latency: time.Millisecond}, o)
}

// CrawlSyntheticOver is CrawlSynthetic over a given network.
func CrawlSyntheticOver(t *testing.T, cfg webtest.Config, over aiotest.NetOptions, o weft.Options) (*webtest.Web, map[string]weft.Record, weft.Summary) {
	t.Helper()
	web, err := webtest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	netw := aiotest.NewNet(over)
	for i := range web.Hosts() {
		if addr, ok := web.Addr(i); ok {
			netw.Host(web.Name(i), addr.String())
		}
	}
	o.Seeds, o.Reach.Scope, o.Job = []string{web.Home(0)}, weft.ScopeAny, filepath.Join(t.TempDir(), "job")
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})
	server := webtest.NewServer(web, nil)
	sum := run(t, loop, New(t, o), []string{"80"}, server.Serve, func(*aio.Loop, *crawl.Crawl) {})
	return web, Records(t, o.Job), sum
}

// NameServer returns the name server of a web.
func NameServer(served *webtest.Running) []netip.AddrPort {
	return []netip.AddrPort{netip.MustParseAddrPort(served.DNS.Addr())}
}

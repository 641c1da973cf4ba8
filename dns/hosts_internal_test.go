package dns

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// blocklist writes a hosts file of so many names without an address to reach.
func blocklist(t *testing.T, names int) (path string) {
	t.Helper()
	var b strings.Builder
	for i := range names {
		fmt.Fprintf(&b, "0.0.0.0 ads-%07d.example\n", i)
	}
	path = filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLongHostsFile: a hosts file of half a million names takes a tenth of its size in memory, once
// for the resolvers of several loops, and holds for all of its names. Few others are looked for in
// it.
func TestLongHostsFile(t *testing.T) {
	const names = 500_000
	opt := Options{Hosts: blocklist(t, names), Files: new(Files)}
	info, err := os.Stat(opt.Hosts)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	var resolvers [2]*Resolver
	for i := range resolvers {
		err := aio.NewLoop(aio.Options{}).Run(t.Context(), func(task *aio.Task) error {
			r := New(task.Loop(), opt)
			resolvers[i] = r
			for _, name := range []string{"ads-0000000.example", fmt.Sprintf("ADS-%07d.example.", names-1)} {
				if got, err := r.Lookup(task, name); err != nil || len(got) != 1 || got[0] != netip.IPv4Unspecified() {
					t.Errorf("%s: %v, %v", name, got, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if took := heap() - before; took > int(info.Size())/10 {
		t.Errorf("%d bytes for a file of %d, expected a tenth at most", took, info.Size())
	}
	now := resolvers[0].files.now
	if resolvers[1].files.now != now {
		t.Error("each resolver has read the file")
	}
	vain := 0
	for i := range 100_000 {
		if now.hosts.has(fmt.Sprintf("www-%d.example", i)) {
			vain++
		}
	}
	if vain > 1000 {
		t.Errorf("of 100,000 names that the file does not have, %d are looked for in it", vain)
	}
	runtime.KeepAlive(resolvers)
}

// TestNamesAreBounded: what is kept of a hosts file is bounded, however long it is.
func TestNamesAreBounded(t *testing.T) {
	for size, want := range map[int64]int{0: 8, 200: 16, 1 << 20: 64 << 10, 32 << 20: maxNames, 1 << 40: maxNames} {
		n, err := namesOf(strings.NewReader("192.0.2.1 a"), size)
		if got := 8 * len(n.bits); err != nil || got != want || !n.has("a") {
			t.Errorf("%d bytes of a file of %d, expected %d", got, size, want)
		}
	}
}

// TestHostsFileGoesAway: a name that the hosts file has lost meanwhile is resolved as others are;
// one that cannot be looked for in it is an error of this machine.
func TestHostsFileGoesAway(t *testing.T) {
	opt := Options{Hosts: blocklist(t, 3), Servers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}}
	err := aio.NewLoop(aio.Options{}).Run(t.Context(), func(task *aio.Task) error {
		r := New(task.Loop(), opt)
		r.files.until = task.Loop().Now().Add(time.Hour)
		r.files.now = r.files.check()
		if err := os.Remove(opt.Hosts); err != nil {
			return err
		}
		if got, err := r.Lookup(task, "ads-0000001.example"); len(got) > 0 || err == nil || strings.Contains(err.Error(), "hosts") {
			t.Errorf("%v, %v, expected what the name server says", got, err)
		}
		if err := os.Mkdir(opt.Hosts, 0o700); err != nil {
			return err
		}
		if got, err := r.Lookup(task, "ads-0000002.example"); len(got) > 0 || err == nil || !strings.Contains(err.Error(), opt.Hosts) {
			t.Errorf("%v, %v, expected an error that names the file", got, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

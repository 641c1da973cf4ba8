package cluster_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/process"
)

// nodeEnv has the arguments of a node in a process of its own: see asProcess.
const nodeEnv = "WEFT_TEST_NODE"

// orders are for a node that is a process.
type orders struct {
	Servers, Seeds []string
	Job, DNS       string
}

// asProcess crawls as a node, and tells of records and warnings on standard output.
func asProcess(text string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	servers := cluster.Options{Servers: o.Servers, Name: "test", OnWarning: func(err error) { fmt.Println("warning:", err) }}
	servers.Hasten()
	options := weft.Options{Job: o.Job, Seeds: o.Seeds, Reach: weft.Reach{Scope: weft.ScopeAny}, HTTP: weft.HTTP{DNS: []netip.AddrPort{netip.MustParseAddrPort(o.DNS)}}, Memory: 64 << 20}
	options.Hooks.OnRecord = func(*weft.Record) { fmt.Println("record") }
	c, err := cluster.Join(context.Background(), servers, options)
	if err != nil {
		return err
	}
	_, err = c.Run(context.Background())
	return err
}

// TestStopped: a node's process stands still for longer than its lease. Others have its sites by
// then; what it does when it goes on counts for nothing, and it joins again.
func TestStopped(t *testing.T) {
	t.Parallel()
	c := newCrawl(t, lengthy())
	all := make(chan struct{}, 1)
	c.servers.OnChange = func(s cluster.Share) {
		if s.Nodes == 1 && s.Partitions == s.All {
			select {
			case all <- struct{}{}:
			default:
			}
		}
	}
	a := c.join("a")
	<-all
	text, err := json.Marshal(orders{Servers: c.servers.Servers, Seeds: c.options.Seeds, Job: filepath.Join(c.dir, "b"), DNS: c.web.DNS.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := process.Start(t.Context(), process.Options{Env: []string{nodeEnv + "=" + string(text)}, Pipes: true, Stderr: os.Stderr}, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	lines := bufio.NewScanner(b.Out)
	hears := func(text string, times int) {
		t.Helper()
		for times > 0 {
			if !lines.Scan() {
				t.Fatalf("it has ended without %q", text)
			}
			if strings.Contains(lines.Text(), text) {
				times--
			}
			c.struck(lines.Text())
		}
	}
	hears("record", 20)
	select {
	case <-all: // before it had joined
	default:
	}
	b.Signal(syscall.SIGSTOP)
	select {
	case <-all:
	case <-a.done:
		t.Fatal("the crawl is over before its sites were taken over")
	}
	b.Signal(syscall.SIGCONT)
	hears("joins again", 1)
	for lines.Scan() { // until it ends
		c.struck(lines.Text())
	}
	if err := b.Wait(); err != nil {
		t.Error(err)
	}
	c.wait()
	if a.err != nil {
		t.Error(a.err)
	}
	c.check()
}

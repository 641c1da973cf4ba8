package http1_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/http1"
)

// countedNet counts look-ups, and takes its time for them.
type countedNet struct {
	*aiotest.Net
	asked map[string]int
	takes time.Duration
}

func (n countedNet) Lookup(task *aio.Task, host string) ([]net.IP, error) {
	n.asked[host]++
	if err := task.Sleep(n.takes); err != nil {
		return nil, err
	}
	return n.Net.Lookup(task, host)
}

// resolving runs a client over a countedNet on which nobody listens: a request that
// ends with kind connect has found addresses.
func resolving(t *testing.T, opt http1.Options, main func(task *aio.Task, n countedNet, get func(task *aio.Task, host string) http1.Kind)) {
	t.Helper()
	aiotest.CheckLeaks(t)
	n := countedNet{aiotest.NewNet(aiotest.NetOptions{}), map[string]int{}, 100 * time.Millisecond}
	n.Host("www.example", "192.0.2.1")
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n, Debug: true})
	err := loop.Run(t.Context(), func(task *aio.Task) error {
		c := http1.NewClient(task.Loop(), opt)
		defer c.Close()
		main(task, n, func(task *aio.Task, host string) http1.Kind {
			_, err := c.Do(task, http1.Request{Scheme: "http", Host: host, Target: "/"})
			var e *http1.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			return e.Kind
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesAreRemembered(t *testing.T) {
	for _, c := range []struct {
		host string
		kind http1.Kind
		keep time.Duration
	}{
		{"www.example", http1.KindConnect, 5 * time.Minute},
		{"nobody.example", http1.KindDNS, 30 * time.Second},
	} {
		t.Run(c.host, func(t *testing.T) {
			resolving(t, http1.Options{}, func(task *aio.Task, n countedNet, get func(*aio.Task, string) http1.Kind) {
				for _, step := range []struct {
					at    time.Duration
					asked int
				}{{0, 1}, {time.Second, 1}, {c.keep, 1}, {c.keep + 100*time.Millisecond, 2}, {c.keep + 2*time.Second, 2}} {
					until(t, task, step.at)
					if kind := get(task, c.host); kind != c.kind {
						t.Errorf("at %v: %s, want %s", step.at, kind, c.kind)
					}
					if n.asked[c.host] != step.asked {
						t.Errorf("at %v: asked %d times, want %d", step.at, n.asked[c.host], step.asked)
					}
				}
			})
		})
	}
}

// Look-ups of one name at one time are one; when the task that makes it is cancelled
// the others get their answer all the same.
func TestLookupIsShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		cancel time.Duration // of the first task; 0: never
		asked  int
		took   time.Duration // the others
	}{
		{"to the end", 0, 1, 100 * time.Millisecond},
		{"cancelled", 50 * time.Millisecond, 2, 150 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			resolving(t, http1.Options{}, func(task *aio.Task, n countedNet, get func(*aio.Task, string) http1.Kind) {
				err := task.Group(func(g *aio.Group) error {
					g.Go("first", func(task *aio.Task) error {
						if c.cancel == 0 {
							get(task, "www.example")
							return nil
						}
						_ = task.Timeout(c.cancel, func(task *aio.Task) error {
							if kind := get(task, "www.example"); kind != http1.KindCanceled {
								t.Errorf("cancelled: %s", kind)
							}
							return nil
						})
						return nil
					})
					for i := range 10 {
						g.Go(fmt.Sprint(i), func(task *aio.Task) error {
							if kind := get(task, "www.example"); kind != http1.KindConnect || now(task) != c.took {
								t.Errorf("%s at %v, want %s at %v", kind, now(task), http1.KindConnect, c.took)
							}
							return nil
						})
					}
					return nil
				})
				if err != nil || n.asked["www.example"] != c.asked {
					t.Errorf("asked %d times, want %d (%v)", n.asked["www.example"], c.asked, err)
				}
			})
		})
	}
}

// A crawl meets more names than are remembered.
func TestNamesAreForgotten(t *testing.T) {
	resolving(t, http1.Options{}, func(task *aio.Task, n countedNet, get func(*aio.Task, string) http1.Kind) {
		get(task, "www.example")
		const many = 16_384
		err := task.Group(func(g *aio.Group) error {
			for i := range many {
				g.Go("reader", func(task *aio.Task) error { get(task, fmt.Sprintf("h%d.example", i)); return nil })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		get(task, fmt.Sprintf("h%d.example", many-1))
		get(task, "www.example")
		if last := n.asked[fmt.Sprintf("h%d.example", many-1)]; last != 1 || n.asked["www.example"] != 2 {
			t.Errorf("asked for the last %d times, for the first %d, want 1, 2", last, n.asked["www.example"])
		}
	})
}

func TestResolver(t *testing.T) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name service here")
	}}
	resolving(t, http1.Options{Resolver: resolver}, func(task *aio.Task, n countedNet, get func(*aio.Task, string) http1.Kind) {
		if kind := get(task, "www.example"); kind != http1.KindDNS || len(n.asked) != 0 {
			t.Errorf("%s, the network was asked %v", kind, n.asked)
		}
	})
}

// TestResolverIsNotTheSystems: what a look-up has failed of does not name the server that
// the system would have asked.
func TestResolverIsNotTheSystems(t *testing.T) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name service here")
	}}
	play(t, http1.Options{Resolver: resolver}, func(*site) {}, func(b *browser) {
		_, err := b.get("/")
		var dns *net.DNSError
		if !errors.As(err, &dns) || dns.Server != "" || !strings.HasPrefix(err.Error(), "dns: lookup www.example: ") {
			t.Errorf("got %v, want one that names no server", err)
		}
	})
}

func TestOverride(t *testing.T) {
	for _, c := range []struct {
		text, host, reaches string // reaches: what is connected to; "": the name service is asked
	}{
		{"www.example:80:192.0.2.7", "www.example", "192.0.2.7:80"},
		{"WWW.example:80:192.0.2.7:8080", "www.example", "192.0.2.7:8080"},
		{"*:80:192.0.2.7", "nobody.example", "192.0.2.7:80"},
		{"*:8000:192.0.2.7:1", "nobody.example:8000", "192.0.2.7:1"},
		{"*:8000:[2001:db8::7]:1", "nobody.example:8000", "[2001:db8::7]:1"},
		{"[2001:db8::1]:80:192.0.2.7", "[2001:db8::1]", "192.0.2.7:80"},
		{"192.0.2.1:80:192.0.2.7", "192.0.2.1", "192.0.2.7:80"},
		{"www.example:81:192.0.2.7", "www.example", ""},
		{"other.example:80:192.0.2.7", "www.example", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			o, err := http1.ParseOverride(c.text)
			if err != nil || o.String() != c.text {
				t.Fatalf("got %v, %v", o, err)
			}
			last, err := http1.ParseOverride("*:80:192.0.2.99") // the first that fits counts
			if err != nil {
				t.Fatal(err)
			}
			want := c.reaches
			if want == "" {
				want = "192.0.2.99:80"
			}
			n := aiotest.NewNet(aiotest.NetOptions{})
			n.Run(t, func(task *aio.Task) error {
				client := http1.NewClient(task.Loop(), http1.Options{Resolve: []http1.Override{o, last}})
				defer client.Close()
				_, err := client.Do(task, http1.Request{Scheme: "http", Host: c.host, Target: "/"})
				expectKind(t, err, http1.KindConnect)
				if !strings.Contains(err.Error(), want+":") {
					t.Errorf("connected to %v, want %s", err, want)
				}
				return nil
			})
		})
	}
}

func TestOverrideErrors(t *testing.T) {
	for _, text := range []string{
		"", "www.example", "www.example:80", "www.example:80:", ":80:192.0.2.1", "www.example::192.0.2.1", "www.example:0:192.0.2.1",
		"www.example:65536:192.0.2.1", "www.example:http:192.0.2.1", "www.example:80:other.example", "www.example:80:2001:db8::1",
		"www.example:80:[2001:db8::1", "www.example:80:[2001:db8::1]8080", "www.example:80:192.0.2.1:0", "www.example:80:192.0.2.1:8080:1",
		"a b:80:192.0.2.1", "www.example:80:192.0.2.1,192.0.2.2",
	} {
		if o, err := http1.ParseOverride(text); err == nil {
			t.Errorf("%q is %v", text, o)
		} else if !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %v, want what was expected", text, err)
		}
	}
}

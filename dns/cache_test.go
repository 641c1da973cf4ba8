package dns_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/dns"
	"golang.org/x/net/dns/dnsmessage"
)

func addrPorts(servers ...string) (all []netip.AddrPort) {
	for _, s := range servers {
		all = append(all, netip.MustParseAddrPort(s))
	}
	return all
}

func isShortage(err error) bool {
	var e *net.DNSError
	return errors.Is(err, syscall.EMFILE) && !errors.As(err, &e)
}

// write creates or changes a file: two writes never have the same modification time.
func write(t *testing.T, name, text string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	var last time.Time
	if info, err := os.Stat(name); err == nil {
		last = info.ModTime()
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, last.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestAnswersAreRemembered checks that answers are kept for their TTL, within bounds.
func TestAnswersAreRemembered(t *testing.T) {
	for _, c := range []struct {
		name    string
		code    dnsmessage.RCode
		records []string
		keep    time.Duration
	}{
		{"found", success, []string{"www.example. 60 A 192.0.2.1"}, time.Minute},
		{"the least of several", success, []string{"www.example. 60 A 192.0.2.1", "www.example. 40 A 192.0.2.2"}, 40 * time.Second},
		{"the least of a chain", success, []string{"www.example. 20 CNAME web.example.", "web.example. 60 A 192.0.2.1"}, 20 * time.Second},
		{"no time", success, []string{"www.example. 0 A 192.0.2.1"}, 5 * time.Second},
		{"a week", success, []string{"www.example. 604800 A 192.0.2.1"}, 24 * time.Hour},
		{"the highest bit set", success, []string{"www.example. 2147483649 A 192.0.2.1"}, 5 * time.Second},
		{"no such name", dnsmessage.RCodeNameError, []string{"example. 3600 SOA 30"}, 30 * time.Second},
		{"no such name, by the record's own time", dnsmessage.RCodeNameError, []string{"example. 20 SOA 3600"}, 20 * time.Second},
		{"no such name for a day", dnsmessage.RCodeNameError, []string{"example. 86400 SOA 86400"}, 5 * time.Minute},
		{"no such name, without a lifetime", dnsmessage.RCodeNameError, nil, 5 * time.Second},
		{"no address", success, []string{"example. 3600 SOA 30"}, 30 * time.Second},
		{"failure", dnsmessage.RCodeServerFailure, nil, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{at: first, script: func(q *query) {
				if q.Type == dnsmessage.TypeAAAA && c.code == success {
					q.reply(success, "example. 86400 SOA 86400")
					return
				}
				q.reply(c.code, c.records...)
			}}
			if c.name == "no address" {
				s.script = func(q *query) { q.reply(c.code, c.records...) }
			}
			play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
				want := outcome(r.Lookup(task, "www.example"))
				learnt, asked := now(task), len(s.asked)
				until(t, task, learnt+c.keep-time.Millisecond)
				expectLookup(t, task, r, "www.example", want)
				if len(s.asked) != asked {
					t.Errorf("asked again before %v had passed", c.keep)
				}
				until(t, task, learnt+c.keep)
				expectLookup(t, task, r, "www.example", want)
				if len(s.asked) == asked {
					t.Errorf("not asked again when %v had passed", c.keep)
				}
			})
		})
	}
}

// TestLookupIsShared checks that simultaneous look-ups of one name are one; when the task that
// makes it is cancelled, the others still get their answer.
func TestLookupIsShared(t *testing.T) {
	for _, c := range []struct {
		name   string
		cancel time.Duration // of the first task; 0: never
		asked  int
		took   time.Duration // the others
	}{
		{"to the end", 0, 2, 100 * time.Millisecond},
		{"cancelled", 50 * time.Millisecond, 4, 150 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{at: first, script: zone("www.example. 300 A 192.0.2.1")}
			n := aiotest.NewNet(aiotest.NetOptions{Latency: 50 * time.Millisecond})
			playOver(t, n, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
				err := task.Group(func(g *aio.Group) error {
					g.Go("first", func(task *aio.Task) error {
						if c.cancel == 0 {
							expectLookup(t, task, r, "www.example", "192.0.2.1")
							return nil
						}
						err := task.Timeout(c.cancel, func(task *aio.Task) error {
							_, err := r.Lookup(task, "www.example")
							return err
						})
						if !errors.Is(err, aio.ErrTimeout) {
							t.Errorf("cancelled: %v", err)
						}
						return nil
					})
					for i := range 10 {
						g.Go(fmt.Sprint(i), func(task *aio.Task) error {
							expectLookup(t, task, r, "www.example", "192.0.2.1")
							if now(task) != c.took {
								t.Errorf("at %v, want %v", now(task), c.took)
							}
							return nil
						})
					}
					return nil
				})
				if err != nil || len(s.asked) != c.asked {
					t.Errorf("asked %q, want %d questions (%v)", s.asked, c.asked, err)
				}
			})
		})
	}
}

// TestNamesAreForgotten checks that the least recently used name is forgotten first.
func TestNamesAreForgotten(t *testing.T) {
	s := &server{at: first, script: zone("a.example. 300 A 192.0.2.1", "b.example. 300 A 192.0.2.2", "c.example. 300 A 192.0.2.3")}
	play(t, dns.Options{MaxNames: 2}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
		for _, host := range []string{"a.example", "b.example", "a.example", "c.example", "a.example", "b.example"} {
			if _, err := r.Lookup(task, host); err != nil {
				t.Fatal(err)
			}
		}
		expectAsked(t, s, "a.example. A", "a.example. AAAA", "b.example. A", "b.example. AAAA", "c.example. A", "c.example. AAAA", "b.example. A", "b.example. AAAA")
	})
}

// TestManyAtOnce checks that 1,000 names at once hold 256 descriptors, and all get their turn.
func TestManyAtOnce(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{Latency: latency})
	most := 0
	s := &server{at: first}
	s.script = func(q *query) {
		if len(s.asked)%100 == 0 {
			most = max(most, strings.Count(strings.Join(n.Open(), "\n"), "datagram socket"))
		}
		if q.Type == dnsmessage.TypeA {
			q.reply(success, q.Name.String()+" 300 A 192.0.2.1")
		} else {
			q.reply(success, "example. 60 SOA 60")
		}
	}
	playOver(t, n, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
		var order []int
		err := task.Group(func(g *aio.Group) error {
			for i := range 1000 {
				g.Go("asker", func(task *aio.Task) error {
					expectLookup(t, task, r, fmt.Sprintf("h%d.example", i), "192.0.2.1")
					order = append(order, i/256)
					return nil
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if most != 256 || now(task) != 4*2*latency {
			t.Errorf("%d descriptors at once, done after %v, want 256, 80ms", most, now(task))
		}
		for i := 1; i < len(order); i++ {
			if order[i] < order[i-1] {
				t.Fatalf("one of the %dth 256 was overtaken", order[i])
			}
		}
	})
}

// TestFiles checks that names in hosts are not queried, and that both files are read again at most
// 5 s after a change.
func TestFiles(t *testing.T) {
	hosts := write(t, "hosts", "192.0.2.7 www.example\n2001:db8::7 WWW.example # so\n127.0.0.2 localhost\n")
	conf := write(t, "resolv.conf", "search corp.example\n")
	s := &server{at: first, script: zone("www.example. 3000 A 192.0.2.1", "wiki.corp.example. 3000 A 192.0.2.2", "wiki.other.example. 3000 A 192.0.2.3")}
	play(t, dns.Options{Hosts: hosts, Conf: conf}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
		expectLookup(t, task, r, "www.Example.", "192.0.2.7 2001:db8::7")
		expectLookup(t, task, r, "localhost", "127.0.0.1 ::1")
		expectAsked(t, s)
		expectLookup(t, task, r, "wiki", "192.0.2.2")
		write(t, hosts, "192.0.2.8 www.example\n")
		write(t, conf, "search other.example\n")
		expectLookup(t, task, r, "www.Example.", "192.0.2.7 2001:db8::7")
		until(t, task, 5*time.Second)
		expectLookup(t, task, r, "www.Example.", "192.0.2.8")
		expectLookup(t, task, r, "wiki", "192.0.2.3") // although the other answer had been kept
		if err := errors.Join(os.Remove(hosts), os.Remove(conf)); err != nil {
			t.Fatal(err)
		}
		until(t, task, 10*time.Second)
		expectLookup(t, task, r, "www.example", "192.0.2.1")
		expectLookup(t, task, r, "wiki", "not found: no such host")
	})
}

// TestUnreadableFile checks that a file that cannot be read at the moment counts as unchanged.
func TestUnreadableFile(t *testing.T) {
	hosts := write(t, "hosts", "192.0.2.7 www.example\n")
	play(t, dns.Options{Hosts: hosts}, []*server{{at: first, script: zone()}}, func(task *aio.Task, r *dns.Resolver) {
		expectLookup(t, task, r, "www.example", "192.0.2.7")
		if err := errors.Join(os.Remove(hosts), os.Mkdir(hosts, 0o777)); err != nil {
			t.Fatal(err)
		}
		until(t, task, 5*time.Second)
		expectLookup(t, task, r, "www.example", "192.0.2.7")
		if err := os.Remove(hosts); err != nil {
			t.Fatal(err)
		}
		write(t, hosts, "192.0.2.80 www.example\n") // of a different length
		until(t, task, 10*time.Second)
		expectLookup(t, task, r, "www.example", "192.0.2.80")
	})
}

// TestFilesAreReadOnce checks that the first task reads the files while the others wait, even if
// the first is cancelled.
func TestFilesAreReadOnce(t *testing.T) {
	hosts := write(t, "hosts", "192.0.2.7 www.example\n")
	play(t, dns.Options{Hosts: hosts}, []*server{{at: first, script: zone()}}, func(task *aio.Task, r *dns.Resolver) {
		err := task.Group(func(g *aio.Group) error {
			for range 10 {
				g.Go("asker", func(task *aio.Task) error {
					expectLookup(t, task, r, "www.example", "192.0.2.7")
					return nil
				})
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestSearchList checks that names are tried in the order of libc, until one exists.
func TestSearchList(t *testing.T) {
	const notThere = "not found: no such host"
	for _, c := range []struct {
		name, conf, host string
		script           func(q *query)
		want             string
		asked            []string // A
	}{
		{"one label", "search a.example b.example", "wiki", zone("wiki.b.example. 300 A 192.0.2.1"), "192.0.2.1",
			[]string{"wiki.a.example.", "wiki.b.example."}},
		{"one label that nobody has", "search a.example b.example", "wiki", zone(), notThere,
			[]string{"wiki.a.example.", "wiki.b.example.", "wiki."}},
		{"two labels", "search a.example", "wiki.corp", zone("wiki.corp. 300 A 192.0.2.1"), "192.0.2.1", []string{"wiki.corp."}},
		{"two labels that are in the list", "search a.example", "wiki.corp", zone("wiki.corp.a.example. 300 A 192.0.2.1"), "192.0.2.1",
			[]string{"wiki.corp.", "wiki.corp.a.example."}},
		{"ndots", "search a.example\noptions ndots:2", "wiki.corp", zone("wiki.corp. 300 A 192.0.2.1"), "192.0.2.1",
			[]string{"wiki.corp.a.example.", "wiki.corp."}},
		{"a dot at the end", "search a.example", "wiki.", zone("wiki.a.example. 300 A 192.0.2.1"), notThere, []string{"wiki."}},
		{"no list", "search .", "wiki", zone(), notThere, []string{"wiki."}},
		{"the host is there without an address", "search a.example", "wiki.corp", zone("wiki.corp. 300 TXT x"),
			"not found: the host has no IP address", []string{"wiki.corp.", "wiki.corp.a.example."}},
		{"a failure is not that it is not there", "search a.example b.example", "wiki", func(q *query) {
			if q.Name.String() == "wiki.a.example." {
				q.reply(dnsmessage.RCodeServerFailure)
				return
			}
			zone()(q)
		}, "temporary: the server failed (SERVFAIL)", []string{"wiki.a.example.", "wiki.a.example.", "wiki.b.example.", "wiki."}},
		{"silence ends it", "search a.example b.example\noptions attempts:1", "wiki", func(*query) {}, "timeout: the server did not answer", []string{"wiki.a.example.", "wiki.a.example.", "wiki.a.example."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{at: first, script: c.script}
			play(t, dns.Options{Conf: write(t, "resolv.conf", c.conf)}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
				expectLookup(t, task, r, c.host, c.want)
				var asked []string
				for _, q := range s.asked {
					if name, ok := strings.CutSuffix(q, " A"); ok {
						asked = append(asked, name)
					}
				}
				if fmt.Sprint(asked) != fmt.Sprint(c.asked) {
					t.Errorf("queried %q, want %q", asked, c.asked)
				}
			})
		})
	}
}

// TestOptions checks the options of resolv.conf that control how servers are asked.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		options string
		took    time.Duration // until two silent servers have been given up
		asked   string        // servers queried for A, in order, and again after 1 s and 3 s
	}{
		{"attempts:1", 10 * time.Second, "1 1 1 2 2 2"},
		{"timeout:2", 8 * time.Second, "1 1 2 2 1 1 2 2"},
		{"attempts:1 rotate", 10 * time.Second, "2 2 2 1 1 1"},
	} {
		t.Run(c.options, func(t *testing.T) {
			var asked []string
			silent := func(q *query) {
				if q.Type == dnsmessage.TypeA {
					asked = append(asked, map[string]string{first: "1", second: "2"}[q.server.at])
				}
			}
			servers := []*server{{at: first, script: silent}, {at: second, script: silent}}
			play(t, dns.Options{Conf: write(t, "resolv.conf", "options "+c.options)}, servers, func(task *aio.Task, r *dns.Resolver) {
				expectLookup(t, task, r, "www.example", "timeout: the server did not answer")
				if got := strings.Join(asked, " "); now(task) != c.took || got != c.asked {
					t.Errorf("asked %s, gave up after %v, want %s, %v", got, now(task), c.asked, c.took)
				}
			})
		})
	}
	t.Run("single-request", func(t *testing.T) {
		answers := zone("www.example. 300 A 192.0.2.1", "www.example. 300 AAAA 2001:db8::1")
		s := &server{at: first, script: answers}
		play(t, dns.Options{Conf: write(t, "resolv.conf", "options single-request")}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
			expectLookup(t, task, r, "www.example", "2001:db8::1 192.0.2.1")
			if now(task) != 4*latency {
				t.Errorf("took %v, want two round trips", now(task))
			}
			s.script = func(q *query) {
				if q.Type == dnsmessage.TypeA {
					q.reply(success, "other.example. 300 A 192.0.2.2")
				}
			}
			expectLookup(t, task, r, "other.example", "192.0.2.2")
			if now(task) != 6*latency+500*time.Millisecond {
				t.Errorf("waited for IPv6 until %v", now(task))
			}
		})
	})
	t.Run("use-vc", func(t *testing.T) {
		s := &server{at: first, tcp: true, script: zone("www.example. 300 A 192.0.2.1")}
		play(t, dns.Options{Conf: write(t, "resolv.conf", "options use-vc")}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
			expectLookup(t, task, r, "www.example", "192.0.2.1")
			expectAsked(t, s, "www.example. A tcp", "www.example. AAAA tcp")
		})
	})
}

// counted counts the look-ups of a network, and delays them.
type counted struct {
	*aiotest.Net
	asked map[string]int
}

func (n counted) Lookup(task *aio.Task, host string) ([]net.IP, error) {
	n.asked[host]++
	if err := task.Sleep(100 * time.Millisecond); err != nil {
		return nil, err
	}
	return n.Net.Lookup(task, host)
}

// TestNetworkOfTheLoop checks that a network that is not the system's has its own names, which are
// kept too.
func TestNetworkOfTheLoop(t *testing.T) {
	n := counted{aiotest.NewNet(aiotest.NetOptions{}), map[string]int{}}
	n.Host("www.example", "192.0.2.1")
	n.Host("localhost", "192.0.2.2")
	runOn(t, n, func(task *aio.Task) {
		r := dns.New(task.Loop(), dns.Options{})
		expectLookup(t, task, r, "localhost", "192.0.2.2")
		for _, c := range []struct {
			host, want string
			keep       time.Duration
		}{{"www.example", "192.0.2.1", 5 * time.Minute}, {"nobody.example", "not found: no such host", 30 * time.Second}} {
			expectLookup(t, task, r, c.host, c.want)
			learnt := now(task)
			until(t, task, learnt+c.keep-time.Millisecond)
			expectLookup(t, task, r, c.host, c.want)
			if n.asked[c.host] != 1 {
				t.Errorf("%s: asked %d times, want once", c.host, n.asked[c.host])
			}
			until(t, task, learnt+c.keep)
			expectLookup(t, task, r, c.host, c.want)
			if n.asked[c.host] != 2 {
				t.Errorf("%s: asked %d times, want twice", c.host, n.asked[c.host])
			}
		}
	})
}

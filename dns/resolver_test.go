package dns_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/dns"
	"golang.org/x/net/dns/dnsmessage"
)

const success = dnsmessage.RCodeSuccess

// TestAnswers checks the result of each answer of a server, and what the server was asked.
func TestAnswers(t *testing.T) {
	www := []string{"www.example. 300 A 192.0.2.1", "www.example. 300 AAAA 2001:db8::1"}
	both := []string{"www.example. A", "www.example. AAAA"}
	// onlyA has a script for A; there is no AAAA.
	onlyA := func(script func(q *query)) func(q *query) {
		return func(q *query) {
			if q.Type == dnsmessage.TypeAAAA {
				q.reply(success, "example. 60 SOA 60")
				return
			}
			script(q)
		}
	}
	var chain, long []string
	for i := range 17 {
		link := fmt.Sprintf("a%d.example. 300 CNAME a%d.example.", i, i+1)
		if long = append(long, link); i < 16 {
			chain = append(chain, link)
		}
	}
	chain = append(chain, "a16.example. 300 A 192.0.2.7")
	long = append(long, "a17.example. 300 A 192.0.2.7")

	for _, c := range []struct {
		name   string
		host   string // empty: www.example
		script func(q *query)
		want   string
		asked  []string // nil: A and AAAA of www.example., once
	}{
		{"both families", "", zone(www...), "2001:db8::1 192.0.2.1", nil},
		{"in capitals", "WWW.Example", zone(www...), "2001:db8::1 192.0.2.1", nil},
		{"a dot at the end", "www.example.", zone(www...), "2001:db8::1 192.0.2.1", nil},
		{"one family", "", zone(www[0]), "192.0.2.1", nil},
		{"the other", "", zone(www[1]), "2001:db8::1", nil},
		{"no such name", "", zone(), "not found: no such host", nil},
		{"no address", "", zone("www.example. 300 TXT hello"), "not found: the host has no IP address", nil},
		{"no such name for one type, no address for the other", "", onlyA(func(q *query) { q.reply(dnsmessage.RCodeNameError) }),
			"not found: the host has no IP address", nil},
		{"other records beside", "", zone(www[0], "www.example. 300 TXT hello", "other.example. 300 A 192.0.2.9"), "192.0.2.1", nil},
		{"twice the same", "", zone(www[0], www[0]), "192.0.2.1", nil},
		{"an underscore", "_a_.example", zone("_a_.example. 300 A 192.0.2.1"), "192.0.2.1", []string{"_a_.example. A", "_a_.example. AAAA"}},
		{"an alias", "", zone("www.example. 300 CNAME Web.example.", "web.EXAMPLE. 300 A 192.0.2.1"), "192.0.2.1",
			append(both, "Web.example. AAAA")}, // there is no SOA for it
		{"16 aliases", "a0.example", onlyA(zone(chain...)), "192.0.2.7", []string{"a0.example. A", "a0.example. AAAA"}},
		{"17 aliases", "a0.example", onlyA(zone(long...)), "temporary: more than 16 aliases in a chain",
			[]string{"a0.example. A", "a0.example. AAAA", "a0.example. A"}},
		{"aliases in a ring", "", onlyA(zone("www.example. 300 CNAME web.example.", "web.example. 300 CNAME www.example.")),
			"temporary: more than 16 aliases in a chain", append(both, "www.example. A")},
		{"an alias of something that does not exist", "", func(q *query) {
			q.reply(dnsmessage.RCodeNameError, "www.example. 300 CNAME web.example.", "example. 60 SOA 60")
		}, "not found: no such host", nil},
		{"an alias alone is followed", "", onlyA(func(q *query) {
			if q.Name.String() == "www.example." {
				q.reply(success, "www.example. 300 CNAME web.example.")
			} else {
				q.reply(success, "web.example. 300 A 192.0.2.1")
			}
		}), "192.0.2.1", append(both, "web.example. A")},
		{"aliases alone in a ring", "", onlyA(func(q *query) {
			q.reply(success, q.Name.String()+" 300 CNAME x"+q.Name.String())
		}), "temporary: more than 16 aliases in a chain", aliasesAlone()},
		{"the server fails", "", func(q *query) { q.reply(dnsmessage.RCodeServerFailure) },
			"temporary: the server failed (SERVFAIL)", append(both, both...)},
		{"the server refuses with a header alone", "", func(q *query) {
			m := q.message(dnsmessage.RCodeRefused)
			m.Questions = nil
			q.sendMessage(m)
		}, "temporary: the server refused (REFUSED)", append(both, both...)},
		{"a header alone is no success", "", func(q *query) {
			m := q.message(success)
			m.Questions = nil
			q.sendMessage(m)
			zone(www...)(q)
		}, "2001:db8::1 192.0.2.1", nil},
		{"the server is lame", "", func(q *query) {
			m := q.message(success)
			m.RecursionAvailable = false
			q.sendMessage(m)
		}, "temporary: the server does not know the name and does not recurse", append(both, both...)},
		{"an unknown code", "", func(q *query) { q.reply(9) }, "temporary: the server answered with code 9", append(both, both...)},
		{"a server without EDNS", "", func(q *query) {
			if q.edns {
				q.reply(dnsmessage.RCodeFormatError)
				return
			}
			zone(www...)(q)
		}, "2001:db8::1 192.0.2.1", append(both, both...)},
		{"a server that only fails for IPv6", "", func(q *query) {
			if q.Type == dnsmessage.TypeAAAA {
				q.reply(dnsmessage.RCodeServerFailure)
				return
			}
			zone(www...)(q)
		}, "192.0.2.1", nil},
		{"a wrong number", "", onlyA(func(q *query) {
			spoof := q.message(success, "www.example. 300 A 192.0.2.66")
			spoof.ID++
			q.sendMessage(spoof)
			q.reply(success, www[0])
		}), "192.0.2.1", nil},
		{"another name", "", onlyA(func(q *query) {
			spoof := q.message(success, "www.example. 300 A 192.0.2.66")
			spoof.Questions[0].Name = dnsmessage.MustNewName("wwx.example.")
			q.sendMessage(spoof)
			q.reply(success, www[0])
		}), "192.0.2.1", nil},
		{"another type", "", onlyA(func(q *query) {
			spoof := q.message(success)
			spoof.Questions[0].Type = dnsmessage.TypeMX
			q.sendMessage(spoof)
			q.reply(success, www[0])
		}), "192.0.2.1", nil},
		{"the question itself", "", onlyA(func(q *query) {
			spoof := q.message(success, "www.example. 300 A 192.0.2.66")
			spoof.Response = false
			q.sendMessage(spoof)
			q.reply(success, www[0])
		}), "192.0.2.1", nil},
		{"nothing, and noise", "", onlyA(func(q *query) {
			q.send(nil)
			q.send([]byte("noise"))
			q.reply(success, www[0])
		}), "192.0.2.1", nil},
		{"the question in other letters", "", onlyA(func(q *query) {
			m := q.message(success, www[0])
			m.Questions[0].Name = dnsmessage.MustNewName("WWW.EXAMPLE.")
			q.sendMessage(m)
		}), "192.0.2.1", nil},
		{"a damaged answer", "", onlyA(func(q *query) {
			m := q.message(success, www[0])
			b, _ := m.Pack()
			q.send(b[:len(b)-1])
		}), "temporary: the answer is damaged: ", append(both, "www.example. A")},
		{"a name that points to itself", "", onlyA(func(q *query) {
			m := q.message(success)
			b, _ := m.Pack()
			binary.BigEndian.PutUint16(b[6:], 1) // one record,
			q.send(append(b, 0xc0, byte(len(b)), 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4))
		}), "temporary: the answer is damaged: ", append(both, "www.example. A")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{at: first, script: c.script}
			play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
				host := c.host
				if host == "" {
					host = "www.example"
				}
				if got := outcome(r.Lookup(task, host)); got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
					t.Errorf("got %q, want %q", got, c.want)
				}
				if c.asked == nil {
					c.asked = both
				}
				expectAsked(t, s, c.asked...)
			})
		})
	}
}

// aliasesAlone is the number of questions to a server in two tries if it answers with ever more
// aliases.
func aliasesAlone() []string {
	asked := []string{"www.example. A", "www.example. AAAA"}
	for i := 1; i <= 16; i++ {
		asked = append(asked, strings.Repeat("x", i)+"www.example. A")
	}
	return append(asked, asked[len(asked)-1]) // the second try resumes where the first gave up
}

// TestNobodyIsAsked checks the names for which no server is asked.
func TestNobodyIsAsked(t *testing.T) {
	s := &server{at: first, script: zone()}
	play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
		for host, want := range map[string]string{
			"192.0.2.1": "192.0.2.1", "2001:db8::1": "2001:db8::1",
			"localhost": "127.0.0.1 ::1", "LocalHost.": "127.0.0.1 ::1", "a.b.localhost": "127.0.0.1 ::1",
			"a.invalid": "not found: no such host", "a.onion.": "not found: no such host",
			"": "not found: no such host", ".": "not found: no such host", "a..b": "not found: no such host", ".a": "not found: no such host",
			strings.Repeat("a", 64) + ".example":      "not found: no such host",
			strings.Repeat("abcdefghi.", 25) + "abcd": "not found: no such host", // 254 bytes
			strings.Repeat("abcdefghi.", 26):          "not found: no such host",
			"a b.example":                             "not found: no such host",
			"ä.example":                               "not found: no such host",
			"a\x00.example":                           "not found: no such host",
		} {
			expectLookup(t, task, r, host, want)
		}
		expectAsked(t, s)
		// The longest.
		expectLookup(t, task, r, strings.Repeat("abcdefghi.", 25)+"abc", "not found: no such host")
		if len(s.asked) != 2 {
			t.Errorf("the longest name was not queried: %q", s.asked)
		}
	})
}

// TestTruncated checks that what does not fit into a datagram comes over TCP, in any pieces.
func TestTruncated(t *testing.T) {
	var records []string
	for i := range 100 {
		records = append(records, fmt.Sprintf("www.example. 300 A 192.0.2.%d", i))
	}
	for _, pieces := range []int{0, 1, 7} {
		t.Run(fmt.Sprint(pieces), func(t *testing.T) {
			s := &server{at: first, tcp: true, pieces: pieces, script: func(q *query) {
				switch {
				case q.Type == dnsmessage.TypeAAAA:
					q.reply(success, "example. 60 SOA 60")
				case !q.tcp:
					m := q.message(success, records[:10]...)
					m.Truncated = true
					q.sendMessage(m)
				default:
					spoof := q.message(success, "www.example. 300 A 192.0.2.200")
					spoof.ID++ // that of an earlier question, for example
					q.sendMessage(spoof)
					q.reply(success, records...)
				}
			}}
			play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
				addrs, err := r.Lookup(task, "www.example")
				if err != nil || len(addrs) != 32 || addrs[31].String() != "192.0.2.31" {
					t.Errorf("got %v, %v, want the first 32", addrs, err)
				}
				expectAsked(t, s, "www.example. A", "www.example. AAAA", "www.example. A tcp")
			})
		})
	}
}

// TestStreamFails checks that a server whose TCP does not work is skipped like any that fails.
func TestStreamFails(t *testing.T) {
	truncated := func(q *query) {
		m := q.message(success)
		m.Truncated = true
		q.sendMessage(m)
	}
	for _, c := range []struct {
		name  string
		bad   *server
		after time.Duration
	}{
		{"nobody listens", &server{at: first, script: truncated}, 60 * time.Millisecond},
		{"no answer", &server{at: first, tcp: true, script: func(q *query) {
			if !q.tcp {
				truncated(q)
			}
		}}, 5*time.Second + 40*time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := &server{at: second, script: zone("www.example. 300 A 192.0.2.1")}
			play(t, dns.Options{}, []*server{c.bad, good}, func(task *aio.Task, r *dns.Resolver) {
				expectLookup(t, task, r, "www.example", "192.0.2.1")
				if now(task) != c.after {
					t.Errorf("after %v, want %v", now(task), c.after)
				}
			})
		})
	}
}

// TestServersFail checks that a useless server is skipped, and that a silent or unreachable one is
// asked last from then on.
func TestServersFail(t *testing.T) {
	const roundTrip = 2 * latency
	for _, c := range []struct {
		name        string
		script      func(q *query) // of the first server
		took, again time.Duration
	}{
		{"silent", func(*query) {}, 5*time.Second + roundTrip, roundTrip},
		{"fails", func(q *query) { q.reply(dnsmessage.RCodeServerFailure) }, 2 * roundTrip, 2 * roundTrip},
		{"refuses", func(q *query) { q.reply(dnsmessage.RCodeRefused) }, 2 * roundTrip, 2 * roundTrip},
		{"is not there", nil, 2 * roundTrip, roundTrip},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: latency})
			bad := &server{at: first, script: c.script}
			good := &server{at: second, script: zone("www.example. 300 A 192.0.2.1", "other.example. 300 A 192.0.2.2", "late.example. 300 A 192.0.2.3")}
			playOver(t, n, dns.Options{}, []*server{bad, good}, func(task *aio.Task, r *dns.Resolver) {
				if c.script == nil {
					n.AnswerUDP(first, nil)
				}
				expectLookup(t, task, r, "www.example", "192.0.2.1")
				if took := now(task); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				began := now(task)
				expectLookup(t, task, r, "other.example", "192.0.2.2")
				if took := now(task) - began; took != c.again {
					t.Errorf("then took %v, want %v", took, c.again)
				}
				until(t, task, began+31*time.Second) // it may have recovered
				before := len(bad.asked)
				expectLookup(t, task, r, "late.example", "192.0.2.3")
				if c.script != nil && len(bad.asked) == before {
					t.Error("it was not asked again")
				}
			})
		})
	}
}

// TestImpatience checks that a caller with less time than resolv.conf gives a server reaches the
// next server the second time, if it has waited at all.
func TestImpatience(t *testing.T) {
	for _, c := range []struct{ patience, again time.Duration }{
		{2 * time.Second, 2 * latency},
		{500 * time.Millisecond, 0}, // again no answer
	} {
		t.Run(c.patience.String(), func(t *testing.T) {
			servers := []*server{{at: first, script: func(*query) {}}, {at: second, script: zone("www.example. 300 A 192.0.2.1")}}
			play(t, dns.Options{}, servers, func(task *aio.Task, r *dns.Resolver) {
				for _, took := range []time.Duration{0, c.again} {
					began := now(task)
					err := task.Timeout(c.patience, func(task *aio.Task) error {
						_, err := r.Lookup(task, "www.example")
						return err
					})
					if took == 0 && !errors.Is(err, aio.ErrTimeout) || took != 0 && (err != nil || now(task)-began != took) {
						t.Errorf("%v after %v, want an answer after %v", err, now(task)-began, took)
					}
				}
			})
		})
	}
}

// TestSilence checks that each server is asked twice for 5 s, in which a question is sent three
// times.
func TestSilence(t *testing.T) {
	servers := []*server{{at: first, script: func(*query) {}}, {at: second, script: func(*query) {}}}
	play(t, dns.Options{}, servers, func(task *aio.Task, r *dns.Resolver) {
		_, err := r.Lookup(task, "www.example")
		if got := err.Error(); got != "lookup www.example on 192.0.2.54:53: the server did not answer" {
			t.Error(got)
		}
		// From the cache.
		expectLookup(t, task, r, "www.example", "timeout: the server did not answer")
		if now(task) != 20*time.Second || len(servers[0].asked) != 12 || len(servers[1].asked) != 12 {
			t.Errorf("after %v, asked %q, %q", now(task), servers[0].asked, servers[1].asked)
		}
	})
}

// TestSentAgain checks that a lost datagram costs a second, and that a late answer counts, even
// after the question was sent again.
func TestSentAgain(t *testing.T) {
	answers := zone("www.example. 300 A 192.0.2.1", "www.example. 300 AAAA 2001:db8::1")
	t.Run("lost", func(t *testing.T) {
		s := &server{at: first, script: func(q *query) {
			if q.nth > 1 {
				answers(q)
			}
		}}
		play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
			expectLookup(t, task, r, "www.example", "2001:db8::1 192.0.2.1")
			if want := time.Second + 2*latency; now(task) != want {
				t.Errorf("took %v, want %v", now(task), want)
			}
		})
	})
	t.Run("late", func(t *testing.T) {
		var early []*query
		s := &server{at: first, script: func(q *query) {
			if q.nth == 1 {
				early = append(early, q)
				return
			}
			for _, q := range early { // the answers to the first datagrams
				answers(q)
			}
			early = nil
		}}
		play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
			expectLookup(t, task, r, "www.example", "2001:db8::1 192.0.2.1")
		})
	})
}

// TestOneFamilyIsSilent checks that IPv4 addresses do not wait long for IPv6; in the reverse case
// the question is repeated.
func TestOneFamilyIsSilent(t *testing.T) {
	for _, c := range []struct {
		silent dnsmessage.Type
		want   string
		took   time.Duration
		asked  []string
	}{
		{dnsmessage.TypeAAAA, "192.0.2.1", 520 * time.Millisecond, []string{"www.example. A", "www.example. AAAA"}},
		{dnsmessage.TypeA, "2001:db8::1 192.0.2.1", time.Second + 20*time.Millisecond, []string{"www.example. A", "www.example. AAAA", "www.example. A"}},
	} {
		t.Run(c.silent.String(), func(t *testing.T) {
			answers := zone("www.example. 3000 A 192.0.2.1", "www.example. 3000 AAAA 2001:db8::1")
			s := &server{at: first, script: func(q *query) {
				if q.Type != c.silent || q.nth > 1 {
					answers(q)
				}
			}}
			play(t, dns.Options{}, []*server{s}, func(task *aio.Task, r *dns.Resolver) {
				expectLookup(t, task, r, "www.example", c.want)
				if now(task) != c.took {
					t.Errorf("took %v, want %v", now(task), c.took)
				}
				expectAsked(t, s, c.asked...)
				until(t, task, 2*time.Minute)
				// Half an answer is not kept for its TTL.
				expectLookup(t, task, r, "www.example", "2001:db8::1 192.0.2.1")
			})
		})
	}
}

// TestLossyNetwork checks that names resolve where every third datagram is lost and datagrams
// overtake each other.
func TestLossyNetwork(t *testing.T) {
	for seed := range uint64(5) {
		n := aiotest.NewNet(aiotest.NetOptions{Seed: seed, Latency: latency, Jitter: 5 * latency, Loss: 0.3})
		conf := write(t, "resolv.conf", "options attempts:5 timeout:1")
		s := &server{at: first, script: func(q *query) {
			if q.Type == dnsmessage.TypeA {
				q.reply(success, q.Name.String()+" 300 A 192.0.2.1")
			} else {
				q.reply(success, "example. 60 SOA 60")
			}
		}}
		other := &server{at: second, script: s.script}
		failed := 0
		playOver(t, n, dns.Options{Conf: conf}, []*server{s, other}, func(task *aio.Task, r *dns.Resolver) {
			for i := range 100 {
				if got := outcome(r.Lookup(task, fmt.Sprintf("h%d.example", i))); got != "192.0.2.1" {
					failed++
				}
			}
		})
		if failed > 2 { // 10 tries that each succeed half the time
			t.Errorf("seed %d: %d of 100 failed", seed, failed)
		}
	}
}

// short is a network on a machine that lacks a resource, for datagrams to some addresses.
type short struct {
	*aiotest.Net
	err  error
	when func(to *net.UDPAddr) bool
}

func (s *short) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	if udp, ok := to.(*net.UDPAddr); ok && s.when(udp) {
		return nil, os.NewSyscallError("socket", s.err)
	}
	return s.Net.Connect(task, to)
}

func runOn(t *testing.T, n aio.Network, main func(task *aio.Task)) {
	t.Helper()
	aiotest.CheckLeaks(t)
	err := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n, Debug: true}).Run(t.Context(), func(task *aio.Task) error {
		main(task)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestShortage checks that a lack of descriptors on this machine is not an answer, and is not
// kept.
func TestShortage(t *testing.T) {
	n := &short{Net: aiotest.NewNet(aiotest.NetOptions{}), err: syscall.EMFILE, when: func(*net.UDPAddr) bool { return true }}
	s := &server{at: first, t: t, script: zone("www.example. 300 A 192.0.2.1")}
	n.AnswerUDP(first, s.datagram)
	runOn(t, n, func(task *aio.Task) {
		r := dns.New(task.Loop(), dns.Options{Servers: addrPorts(first)})
		if _, err := r.Lookup(task, "www.example"); !isShortage(err) {
			t.Errorf("got %v, want EMFILE and no error of a name server", err)
		}
		n.when = func(*net.UDPAddr) bool { return false }
		expectLookup(t, task, r, "www.example", "192.0.2.1")
	})
}

// TestOrder checks that IPv6 comes first only where there is a route to it.
func TestOrder(t *testing.T) {
	n := &short{Net: aiotest.NewNet(aiotest.NetOptions{}), err: syscall.ENETUNREACH, when: func(to *net.UDPAddr) bool { return to.IP.To4() == nil }}
	s := &server{at: first, t: t, script: zone("www.example. 300 A 192.0.2.1", "www.example. 300 AAAA 2001:db8::1")}
	n.AnswerUDP(first, s.datagram)
	runOn(t, n, func(task *aio.Task) {
		r := dns.New(task.Loop(), dns.Options{Servers: addrPorts(first)})
		expectLookup(t, task, r, "www.example", "192.0.2.1 2001:db8::1")
		n.when = func(*net.UDPAddr) bool { return false } // now there is a route
		until(t, task, 5*time.Minute)
		expectLookup(t, task, r, "www.example", "2001:db8::1 192.0.2.1")
	})
}

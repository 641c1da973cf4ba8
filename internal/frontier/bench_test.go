package frontier_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// benchURLs returns n URLs, spread over hosts.
func benchURLs(b *testing.B, n, hosts int) []frontier.URL {
	b.Helper()
	urls := make([]frontier.URL, n)
	for i := range urls {
		parsed, err := weburl.Parse(fmt.Sprintf("http://h%d.example/section/page-%d.html", i%hosts, i))
		if err != nil {
			b.Fatal(err)
		}
		urls[i] = frontier.URL{URL: parsed, From: "http://h0.example/", Depth: 1 + i%3}
	}
	return urls
}

// BenchmarkAdd adds a new URL, or one seen before, to a frontier that has many.
func BenchmarkAdd(b *testing.B) {
	for _, hosts := range []int{1, 1000} {
		b.Run(fmt.Sprintf("new/hosts=%d", hosts), func(b *testing.B) {
			urls := benchURLs(b, b.N, hosts)
			f := frontier.New(frontier.Config{})
			b.ReportAllocs()
			b.ResetTimer()
			for _, u := range urls {
				f.Add(u)
			}
		})
	}
	b.Run("seen", func(b *testing.B) {
		urls := benchURLs(b, 10_000, 100)
		f := frontier.New(frontier.Config{})
		for _, u := range urls {
			f.Add(u)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f.Add(urls[i%len(urls)])
		}
	})
}

// BenchmarkLease leases a URL and ends the lease, 16 at a time, with all hosts due.
func BenchmarkLease(b *testing.B) {
	for _, hosts := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			f := frontier.New(frontier.Config{PerHost: 16})
			for _, u := range benchURLs(b, max(b.N, hosts), hosts) {
				f.Add(u)
			}
			now := time.Unix(0, 0)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; {
				for _, u := range f.Lease(now, 16) {
					f.Done(now, u, frontier.Result{})
					n++
				}
			}
		})
	}
}

// BenchmarkShared leases a URL and ends the lease, 16 at a time, of hosts that share one address,
// one registrable domain, or both. A delay of the group is over at its next turn.
func BenchmarkShared(b *testing.B) {
	for _, c := range []struct {
		name  string
		url   string // of a host
		addrs int    // that the hosts have
	}{
		{"address", "http://h%d.example/%d", 1},
		{"domain", "http://h%d.site.example/%d", 1 << 20},
		{"both", "http://h%d.site.example/%d", 1},
		{"domain on 300 addresses", "http://h%d.site.example/%d", 300},
	} {
		for _, hosts := range []int{1000, 100_000} {
			for _, delay := range []time.Duration{0, time.Second} {
				b.Run(fmt.Sprintf("%s/hosts=%d/delay=%v", c.name, hosts, delay), func(b *testing.B) {
					f := frontier.New(frontier.Config{Resolve: true, PerHost: 16, PerDomain: 16, PerAddress: 16, DomainDelay: 2 * delay, AddressDelay: delay})
					for i := range max(b.N, hosts) {
						parsed, err := weburl.Parse(fmt.Sprintf(c.url, i%hosts, i))
						if err != nil {
							b.Fatal(err)
						}
						f.Add(frontier.URL{URL: parsed, From: "http://h0.example/"})
					}
					now := time.Unix(0, 0)
					resolved := 0
					for resolved < hosts {
						for _, u := range f.Lease(now, 1000) {
							if !u.Resolve {
								f.Postpone(now, u, frontier.Result{}, now)
								continue
							}
							f.Addresses().Resolved(now, u, netip.AddrFrom4([4]byte{10, byte(resolved % c.addrs >> 16), byte(resolved % c.addrs >> 8), byte(resolved % c.addrs)}))
							resolved++
						}
						now = now.Add(2 * delay)
					}
					b.ReportAllocs()
					b.ResetTimer()
					for n := 0; n < b.N; {
						for _, u := range f.Lease(now, 16) {
							f.Done(now, u, frontier.Result{})
							n++
						}
						now = now.Add(2 * delay)
					}
				})
			}
		}
	}
}

// BenchmarkHosts measures the memory of a host with nothing pending, each its own domain, 300 on
// an address, without the URL and its fingerprint.
func BenchmarkHosts(b *testing.B) {
	const hosts = 1_000_000
	for _, c := range []struct{ name, url string }{
		{"apex", "http://h%d.example/"},
		{"www", "http://www.h%d.example/"},
	} {
		b.Run(c.name, func(b *testing.B) {
			urls := make([]frontier.URL, hosts)
			for i := range urls {
				parsed, err := weburl.Parse(fmt.Sprintf(c.url, i))
				if err != nil {
					b.Fatal(err)
				}
				urls[i] = frontier.URL{URL: parsed, From: "http://h0.example/"}
			}
			var f *frontier.Frontier
			for b.Loop() {
				f = nil
				r := frontier.Restore(frontier.Config{Resolve: true, Robots: true})
				for _, u := range urls {
					r.Seen(u.URL.Fingerprint())
				}
				before := heapInUse()
				f = r.Frontier()
				now := time.Unix(0, 0)
				for i := range urls {
					r.Origin(now, frontier.OriginState{Name: urls[i].URL.Origin(), Most: 2}, robots.Rules{})
				}
				for i := range urls {
					f.Locate(urls[i].URL, netip.AddrFrom4([4]byte{10, 0, byte(i / 300 >> 8), byte(i / 300)}))
				}
				b.ReportMetric(float64(heapInUse()-before)/hosts, "heap-B/host")
			}
			runtime.KeepAlive(urls)
			runtime.KeepAlive(f)
		})
	}
}

// BenchmarkMemory measures the memory of a pending URL and a host: one URL on each, and many on
// one.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct{ urls, hosts int }{{100_000, 100_000}, {500_000, 100}} {
		b.Run(fmt.Sprintf("urls=%d/hosts=%d", c.urls, c.hosts), func(b *testing.B) {
			urls := benchURLs(b, c.urls, c.hosts)
			var f *frontier.Frontier
			before := heapInUse()
			for b.Loop() {
				f = frontier.New(frontier.Config{})
				for _, u := range urls {
					f.Add(u)
				}
			}
			b.ReportMetric(float64(heapInUse()-before)/float64(c.urls), "heap-B/URL")
			runtime.KeepAlive(urls)
			runtime.KeepAlive(f)
		})
	}
}

// BenchmarkRestore restarts with many URLs and hosts, without reading them.
func BenchmarkRestore(b *testing.B) {
	for _, c := range []struct{ urls, hosts int }{{1_000_000, 1}, {1_000_000, 100_000}} {
		b.Run(fmt.Sprintf("urls=%d/hosts=%d", c.urls, c.hosts), func(b *testing.B) {
			names := make([]string, c.hosts)
			for i := range names {
				names[i] = fmt.Sprintf("http://h%d.example", i)
			}
			var f *frontier.Frontier
			before := heapInUse()
			for b.Loop() {
				r := frontier.Restore(frontier.Config{Robots: true, Heads: 100})
				f = r.Frontier()
				r.Reserve(c.urls)
				for i := range c.urls {
					// Spread as fingerprints are.
					r.Seen([16]byte(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15), uint64(i))))
				}
				for _, name := range names {
					r.Origin(time.Unix(0, 0), frontier.OriginState{Name: name, Pending: 5, Most: 2}, robots.Rules{})
				}
			}
			b.ReportMetric(float64(heapInUse()-before)/float64(c.urls), "heap-B/URL")
			runtime.KeepAlive(f)
		})
	}
}

// BenchmarkHeads adds a URL to a host with only the heads in memory, leases it and ends the lease.
// The store is a slice.
func BenchmarkHeads(b *testing.B) {
	urls := benchURLs(b, b.N, 1)
	for i := range urls {
		urls[i].Depth, urls[i].Seq = 1, uint64(i+1)
	}
	f := frontier.New(frontier.Config{PerHost: 16, Heads: 1000})
	f.SetJournal(silent{})
	b.ReportAllocs()
	b.ResetTimer()
	for _, u := range urls {
		f.Add(u)
	}
	now := time.Unix(0, 0)
	for n := 0; n < b.N; {
		for _, u := range f.Lease(now, 16) {
			f.Done(now, u, frontier.Result{})
			n++
		}
		for _, r := range f.Reads() {
			f.NoteOrigins()
			after := int(r.After.Seq)
			end := min(after+r.N, len(urls))
			f.Provide(now, frontier.Page{Request: r, URLs: urls[after:end], More: end < len(urls)})
		}
	}
}

// silent records nothing.
type silent struct{}

func (silent) Pending(frontier.URL)                    {}
func (silent) Retried(frontier.URL, frontier.QueueKey) {}
func (silent) Nearer(frontier.URL, bool)               {}
func (silent) Moved(frontier.URL, frontier.QueueKey)   {}
func (silent) Done(frontier.URL)                       {}
func (silent) Refused(frontier.Refusal, time.Time)     {}
func (silent) Dropped(frontier.URL, frontier.Drop)     {}
func (silent) Variants(string, [16]byte, int)          {}
func (silent) OverLimit(string)                        {}
func (silent) Rules(string, robots.Rules)              {}
func (silent) Redirected([16]byte, int, *frontier.URL) {}
func (silent) Origin(frontier.OriginState)             {}
func (silent) Counts(frontier.Stats)                   {}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkSlowest looks at the slowest hosts, as a display does each second.
func BenchmarkSlowest(b *testing.B) {
	for _, hosts := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			f := frontier.New(frontier.Config{})
			for _, u := range benchURLs(b, hosts, hosts) {
				f.Add(u)
			}
			b.ReportAllocs()
			for b.Loop() {
				f.View().Slowest(5)
			}
		})
	}
}

// BenchmarkIdle measures the memory of an evicted host, and what eviction and return cost without
// the read.
func BenchmarkIdle(b *testing.B) {
	const hosts = 1_000_000
	urls := make([]weburl.URL, hosts)
	for i := range urls {
		parsed, err := weburl.Parse(fmt.Sprintf("http://www.h%d.example/", i))
		if err != nil {
			b.Fatal(err)
		}
		urls[i] = parsed
	}
	now := time.Unix(0, 0)
	var f *frontier.Frontier
	var back time.Duration
	returned := 0
	for b.Loop() {
		f = nil
		before := heapInUse()
		r := frontier.Restore(frontier.Config{Resolve: true, Robots: true, HostBytes: 30 << 20})
		f = r.Frontier()
		f.SetJournal(silent{})
		for i := range urls {
			r.Origin(now, frontier.OriginState{Name: urls[i].Origin(), Most: 2, Answered: 1, Robots: frontier.RobotsState{Have: true}}, robots.Rules{})
		}
		b.ReportMetric(float64(heapInUse()-before)/hosts, "heap-B/host")
		start := time.Now()
		for i := 0; i < 200_000; i += 256 {
			batch := urls[hosts-1-i-256 : hosts-1-i]
			r, ok := f.Prepare(slices.Values(batch), noURLs)
			if !ok {
				continue
			}
			page := frontier.Page{Request: r}
			for _, name := range r.Names {
				page.Origins = append(page.Origins, frontier.StoredOrigin{OriginState: frontier.OriginState{Name: "http://" + name, Most: 2, Answered: 1}})
				returned++
			}
			f.Provide(now, page)
		}
		back += time.Since(start)
	}
	b.ReportMetric(float64(back.Nanoseconds())/float64(returned), "ns/return")
	b.ReportMetric(float64(f.View().Evicted()), "left")
	runtime.KeepAlive(f)
	runtime.KeepAlive(urls)
}

// BenchmarkWaiting measures the memory of a host with one pending URL that is only in the store.
func BenchmarkWaiting(b *testing.B) {
	const hosts = 1_000_000
	var f *frontier.Frontier
	for b.Loop() {
		f = nil
		before := heapInUse()
		r := frontier.Restore(frontier.Config{Resolve: true, Robots: true, HostBytes: math.MaxInt, Heads: 512, InMemory: 30 << 20})
		f = r.Frontier()
		for i := range hosts {
			r.Origin(time.Unix(0, 0), frontier.OriginState{Name: fmt.Sprintf("http://www.h%d.example", i), Most: 2, Pending: 1}, robots.Rules{})
		}
		b.ReportMetric(float64(heapInUse()-before)/hosts, "heap-B/host")
		b.ReportMetric(float64(f.View().Bytes().Hosts)/hosts, "counted-B/host")
	}
	runtime.KeepAlive(f)
}

// BenchmarkLimit takes the lease that reaches Limit, and looks for more; then again with a retry
// whose host has its turn after all others.
func BenchmarkLimit(b *testing.B) {
	for _, hosts := range []int{1000, 100_000} {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("hosts=%d/again=%t", hosts, again), func(b *testing.B) {
				urls := benchURLs(b, 2*hosts, hosts)
				now := time.Unix(0, 0)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					f := frontier.New(frontier.Config{Limit: 1})
					for _, u := range urls {
						f.Add(u)
					}
					b.StartTimer()
					u := f.Lease(now, 1)[0]
					if _, ok := f.Next(); ok || len(f.Lease(now, 1)) > 0 {
						b.Fatal("more than Limit")
					}
					if again {
						f.Retry(now, u, frontier.Result{}, now)
					} else {
						f.Done(now, u, frontier.Result{})
					}
					for !f.View().Stopped() {
						for _, u := range f.Lease(now, 1) {
							f.Done(now, u, frontier.Result{})
						}
					}
				}
			})
		}
	}
}

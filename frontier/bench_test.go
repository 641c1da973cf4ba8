package frontier_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// benchURLs are n URLs, spread over hosts.
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

// BenchmarkAdd is a new URL, or one seen before, added to a frontier that has many.
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

// BenchmarkLease is a URL leased and done, 16 at a time, all hosts due.
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
					f.Done(now, u, frontier.Answer{})
					n++
				}
			}
		})
	}
}

// BenchmarkMemory is what a pending URL and a host take: a URL each, and many on one.
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

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

package weburl

import (
	"net/url"
	"runtime"
	"testing"
	"time"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/sys/unix"
)

// BenchmarkResolve is what a crawler needs of a link, over all links of two documentation
// sites, beside the parser of the standard library, which is none of the Web's, and that
// of whatwg-url. An operation is a link.
func BenchmarkResolve(b *testing.B) {
	pages := siteLinks(b)
	perLink := func(name string, page func(sitePage)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			runtime.GC()
			b.ResetTimer()
			began := cpuTime(b)
			defer func() { b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N), "cpu-ns/op") }()
			for left := b.N; left > 0; {
				for _, p := range pages {
					if left <= 0 {
						break
					}
					p.ends = p.ends[:min(left, len(p.ends))]
					page(p)
					left -= max(1, len(p.ends))
				}
			}
		})
	}
	var r Resolver
	known := NewMemo(1 << 12)
	perLink("weft", func(p sitePage) {
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				known.Add(u)
			}
		}
	})
	perLink("weft-no-memo", func(p sitePage) {
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				print128 = u.Canonical().Fingerprint()
			}
		}
	})
	perLink("weft-resolve", func(p sitePage) {
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				sinkURL = u
			}
		}
	})
	perLink("weft-canonical-hash", func(p sitePage) {
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				sinkHash = u.Canonical().Hash()
			}
		}
	})
	perLink("net-url", func(p sitePage) {
		base, err := url.Parse(p.base.String())
		if err != nil {
			b.Fatal(err)
		}
		for ref := range p.refs {
			if u, err := base.Parse(ref); err == nil {
				sink = u.String()
			}
		}
	})
	perLink("whatwg-url", func(p sitePage) {
		base, err := whatwg.Parse(p.base.String())
		if err != nil {
			b.Fatal(err)
		}
		for ref := range p.refs {
			if u, err := base.Parse(ref); err == nil {
				sink = u.Href(false)
			}
		}
	})
}

// cpuTime is what this process has used so far. It does not grow while others run.
func cpuTime(b *testing.B) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var (
	sink     string
	sinkURL  URL
	sinkHash uint64
	print128 [16]byte
)

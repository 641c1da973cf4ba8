package weburl

import (
	"net/url"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"github.com/weftcrawl/weft/internal/cost"
)

// BenchmarkResolve measures what a crawler needs of a link, over all links of two documentation
// sites: weft resolves it, makes it canonical and computes its fingerprint; the standard library's
// parser, which does not follow the WHATWG, and whatwg-url resolve it and write it out. An
// operation is a link; mallocs/op is allocs/op, not rounded. On a shared machine use cpu-ns/op.
func BenchmarkResolve(b *testing.B) {
	pages := siteLinks(b, 1)
	perLink := func(name string, page func(sitePage)) {
		b.Run(name, func(b *testing.B) {
			m := cost.Start(b)
			defer func() { m.Report(b.N, "op") }()
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
	known := NewMemo(1<<12, 0)
	perLink("weft", func(p sitePage) {
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				known.Add(u, 0)
			}
		}
	})
	perLink("weft-first", func(p sitePage) { // the cost of a link that was not seen lately
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				printed = u.Fingerprint()
			}
		}
	})
	perLink("weft-alone", func(p sitePage) {
		r.Reset(p.base)
		for ref := range p.refs {
			if u, err := r.ResolveString(ref); err == nil {
				resolved = u
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
				href = u.String()
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
				href = u.Href(false)
			}
		}
	})
}

// Benchmarks store their results here, so that they are computed.
var (
	href     string
	resolved URL
	printed  [16]byte
)

func BenchmarkRegistrableDomain(b *testing.B) {
	for _, host := range []string{"www.example.org", "a.b.example.co.uk", "www.xn--bcher-kva.example", "127.0.0.1"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				RegistrableDomain(host)
			}
		})
	}
}

func BenchmarkRules(b *testing.B) {
	all := RuleSet(1<<len(rules) - 1)
	for _, c := range []struct {
		name  string
		url   string
		rules RuleSet
	}{
		{"none", "https://www.example.org/a/b?c=1&d=2#e", 0},
		{"all", "https://www.example.org/a/b?d=1&utm_source=2&c=2#e", all},
		{"all, nothing to do", "https://docs.example.org/a/b?c=1&d=2#e", all},
	} {
		u := mustParse(b, c.url)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resolved = c.rules.Apply(u)
			}
		})
	}
}

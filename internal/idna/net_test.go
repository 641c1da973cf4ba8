//go:build go1.27

package idna_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/idna"
	net "golang.org/x/net/idna"
)

// TestNet: from Go 1.27 on, golang.org/x/net has the same tables: all characters, and labels made
// of those that rules speak of, have the same ASCII form there.
func TestNet(t *testing.T) {
	if net.UnicodeVersion != "17.0.0" {
		t.Skipf("golang.org/x/net has Unicode %s", net.UnicodeVersion)
	}
	options := []net.Option{net.MapForLookup(), net.StrictDomainName(false), net.CheckHyphens(false), net.CheckJoiners(true), net.VerifyDNSLength(false)}
	mapping, profile := net.New(options...), net.New(append(options, net.BidiRule())...)
	compare := func(domain string) {
		t.Helper()
		got, err := idna.ToASCII(domain)
		// It looks for right-to-left characters before it maps.
		mapped, failed := mapping.ToUnicode(domain)
		want := ""
		if failed == nil {
			want, failed = profile.ToASCII(mapped)
		}
		if (err == nil) != (failed == nil) || err == nil && got != want {
			t.Errorf("%+q: %q, %v, expected %q, %v", domain, got, err, want, failed)
		}
	}
	for r := rune(0x80); r <= 0x10ffff; r++ {
		if r < 0xd800 || r > 0xdfff {
			compare(string(r))
			compare("é" + string(r) + "1")
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	pool := []rune("aZ1-.ßẞéא\u0628\u0629\u0644٠۱\u0301\u0610\u094d\u0dca\u200c\u200d\u3002\ufdfaǄ\u1806\U0001e900\U00010d50\U00010ec2\ua872\u0300\u0323")
	for range 300_000 {
		var b strings.Builder
		b.WriteString("é.")
		for range 1 + rng.IntN(6) {
			if rng.IntN(4) == 0 {
				b.WriteRune(rng.Int32N(0x11fff))
			} else {
				b.WriteRune(pool[rng.IntN(len(pool))])
			}
		}
		compare(b.String())
	}
}

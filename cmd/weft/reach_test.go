package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// TestReach: the given host may be at any address, until it was at a public one: then a redirect
// to itself does not reach where its name has moved to.
func TestReach(t *testing.T) {
	parse := func(s string) weburl.URL {
		u, err := weburl.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	given, other := parse("http://site.example/"), parse("http://other.example/")
	at := netip.MustParseAddrPort
	for _, c := range []struct {
		name    string
		first   string // address of the given host; !: and a public one, too
		then    weburl.URL
		at      string
		allowed bool
	}{
		{"public, and stays", "93.184.216.34:80", given, "93.184.216.35:80", true},
		{"public, then on this machine", "93.184.216.34:80", given, "127.0.0.1:80", false},
		{"public, then private", "93.184.216.34:80", given, "10.0.0.1:80", false},
		{"private, and moves", "10.0.0.1:80", given, "192.168.0.1:80", true},
		{"private, another there", "10.0.0.1:80", other, "10.2.3.4:80", true},
		{"private, another elsewhere", "10.0.0.1:80", other, "192.168.0.1:80", false},
		{"public, another on this machine", "93.184.216.34:80", other, "127.0.0.1:80", false},
		{"private beside a public one, another there", "!10.0.0.1:80", other, "10.0.0.1:80", false},
	} {
		r := reach{given: given}
		if r.allow(given) != nil {
			t.Errorf("%s: the given host is judged", c.name)
		}
		first, mixed := strings.CutPrefix(c.first, "!")
		r.answered(given, at(first), !mixed && !guard.IsPublic(at(first).Addr()))
		var err error
		if judge := r.allow(c.then); judge != nil {
			err = judge(at(c.at))
		}
		if (err == nil) != c.allowed {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

package webtest_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/webtest"
)

func TestNameServer(t *testing.T) {
	web, err := webtest.New(webtest.Config{Hosts: 200})
	if err != nil {
		t.Fatal(err)
	}
	s, err := webtest.ListenDNS(web, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	dead := 0
	for dead < web.Hosts() && !web.Dead(dead) {
		dead++
	}
	addr, _ := web.Addr(7)
	for _, transport := range []string{"udp", "tcp"} {
		for _, tt := range []struct {
			name, ask, network string
			want               string // empty: no such name
		}{
			{"living", web.Name(7), "ip4", addr.String()},
			{"in capitals", strings.ToUpper(web.Name(7)), "ip4", addr.String()},
			{"dead", web.Name(dead), "ip4", ""},
			{"beyond the last", "h000200.s000200.test", "ip4", ""},
			{"other spelling of the number", "h7.s000007.test", "ip4", ""},
			{"elsewhere", "www.example", "ip4", ""},
			{"no IPv6", web.Name(7), "ip6", ""},
			{"both", web.Name(7), "ip", addr.String()},
		} {
			t.Run(transport+" "+tt.name, func(t *testing.T) {
				r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, transport, s.Addr())
				}}
				ips, err := r.LookupIP(t.Context(), tt.network, tt.ask+".")
				var dns *net.DNSError
				if tt.want == "" {
					if !errors.As(err, &dns) || !dns.IsNotFound {
						t.Errorf("%v, %v, expected no such host", ips, err)
					}
				} else if err != nil || len(ips) != 1 || ips[0].String() != tt.want {
					t.Errorf("%v, %v, expected %s", ips, err, tt.want)
				}
			})
		}
	}
	if n := s.Asked(7); n != 6 {
		t.Errorf("the living host's A records got %d queries, expected 6", n)
	}
	if n := s.Asked(dead); n != 2 {
		t.Errorf("the dead host's A records got %d queries, expected 2", n)
	}
}

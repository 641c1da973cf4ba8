package httpclient_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
)

// fixed is a resolver that always returns the same.
type fixed struct {
	addrs []netip.Addr
	err   error
}

func (f fixed) Lookup(*aio.Task, string) ([]netip.Addr, error) { return f.addrs, f.err }

// TestResolver checks that a resolver's error decides the kind of the request's error, and whether
// the request may succeed later.
func TestResolver(t *testing.T) {
	for _, c := range []struct {
		name      string
		response  fixed
		kind      httpclient.Kind
		temporary bool
	}{
		{"addresses, where nobody listens", fixed{addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}, httpclient.KindConnect, true},
		{"no such name", fixed{err: &net.DNSError{Err: "no such host", IsNotFound: true}}, httpclient.KindDNS, false},
		{"servers that fail", fixed{err: &net.DNSError{Err: "the server failed", IsTemporary: true}}, httpclient.KindDNS, true},
		{"servers that are silent", fixed{err: &net.DNSError{Err: "no answer", IsTimeout: true, IsTemporary: true}}, httpclient.KindDNS, true},
		{"no descriptor", fixed{err: &net.OpError{Op: "dial", Net: "udp", Err: syscall.EMFILE}}, httpclient.KindResource, true},
		{"cancelled", fixed{err: aio.ErrCanceled}, httpclient.KindCanceled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			aiotest.Run(t, func(task *aio.Task) error {
				client := httpclient.NewClient(task.Loop(), httpclient.Options{Resolver: c.response})
				defer client.Close()
				_, err := client.Do(task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/"})
				expectKind(t, err, c.kind)
				var e *httpclient.Error
				if errors.As(err, &e) && e.Temporary() != c.temporary {
					t.Errorf("%v: temporary is %t", err, e.Temporary())
				}
				return nil
			})
		})
	}
}

// TestPinned checks that a pinned address is tried even if the resolver returns others, which
// count if it does not respond.
func TestPinned(t *testing.T) {
	pin, resolved := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	n := aiotest.NewNet(aiotest.NetOptions{})
	n.Run(t, func(task *aio.Task) error {
		for _, pinned := range []bool{false, true} {
			client := httpclient.NewClient(task.Loop(), httpclient.Options{Resolver: fixed{addrs: []netip.Addr{resolved}}})
			_, err := client.Do(task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/", Prefer: pin, Pinned: pinned})
			expectKind(t, err, httpclient.KindConnect)
			first, second := strings.Index(err.Error(), pin.String()), strings.Index(err.Error(), resolved.String())
			if pinned != (first >= 0) || second < first {
				t.Errorf("pinned: %t: %v", pinned, err)
			}
			client.Close()
		}
		return nil
	})
}

func TestOverride(t *testing.T) {
	for _, c := range []struct {
		// reaches: the address connected to; "": the name service is asked.
		text, host, reaches string
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
			o, err := httpclient.ParseOverride(c.text)
			if err != nil || o.String() != c.text {
				t.Fatalf("got %v, %v", o, err)
			}
			last, err := httpclient.ParseOverride("*:80:192.0.2.99") // the first match counts
			if err != nil {
				t.Fatal(err)
			}
			want := c.reaches
			if want == "" {
				want = "192.0.2.99:80"
			}
			n := aiotest.NewNet(aiotest.NetOptions{})
			n.Run(t, func(task *aio.Task) error {
				client := httpclient.NewClient(task.Loop(), httpclient.Options{Resolve: []httpclient.Override{o, last}})
				defer client.Close()
				if to, err := client.Lookup(task, "http", c.host); err != nil || len(to) != 1 || to[0].String() != want {
					t.Errorf("Lookup: %v, %v, want %s", to, err, want)
				}
				_, err := client.Do(task, httpclient.Request{Scheme: "http", Host: c.host, Target: "/"})
				expectKind(t, err, httpclient.KindConnect)
				if !strings.Contains(err.Error(), want+":") {
					t.Errorf("connected to %v, want %s", err, want)
				}
				return nil
			})
		})
	}
}

// TestLookup checks that a name that does not exist is an error of kind dns, and that nothing is
// looked up behind a proxy.
func TestLookup(t *testing.T) {
	n := aiotest.NewNet(aiotest.NetOptions{})
	n.Run(t, func(task *aio.Task) error {
		direct := httpclient.NewClient(task.Loop(), httpclient.Options{DialTimeout: time.Second})
		defer direct.Close()
		var e *httpclient.Error
		if to, err := direct.Lookup(task, "http", "nobody.example"); !errors.As(err, &e) || e.Kind != httpclient.KindDNS {
			t.Errorf("a name that does not exist: %v, %v", to, err)
		}
		if to, err := direct.Lookup(task, "https", "192.0.2.7:8443"); err != nil || len(to) != 1 || to[0].String() != "192.0.2.7:8443" {
			t.Errorf("an address: %v, %v", to, err)
		}
		proxied := httpclient.NewClient(task.Loop(), httpclient.Options{Proxy: func(string, string) *httpclient.Proxy {
			return &httpclient.Proxy{Scheme: "http", Host: "192.0.2.1", Port: 80}
		}})
		defer proxied.Close()
		if to, err := proxied.Lookup(task, "http", "nobody.example"); err != nil || len(to) > 0 {
			t.Errorf("behind a proxy: %v, %v", to, err)
		}
		return nil
	})
}

func TestOverrideErrors(t *testing.T) {
	for _, text := range []string{
		"", "www.example", "www.example:80", "www.example:80:", ":80:192.0.2.1", "www.example::192.0.2.1", "www.example:0:192.0.2.1",
		"www.example:65536:192.0.2.1", "www.example:http:192.0.2.1", "www.example:80:other.example", "www.example:80:2001:db8::1",
		"www.example:80:[2001:db8::1", "www.example:80:[2001:db8::1]8080", "www.example:80:192.0.2.1:0", "www.example:80:192.0.2.1:8080:1",
		"a b:80:192.0.2.1", "www.example:80:192.0.2.1,192.0.2.2",
	} {
		if o, err := httpclient.ParseOverride(text); err == nil {
			t.Errorf("%q is %v", text, o)
		} else if !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %v, want what was expected", text, err)
		}
	}
}

package dns

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// text formats what a resolv.conf contains, one line for each non-default.
func (c *conf) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ask")
	for _, server := range c.servers {
		fmt.Fprintf(&b, " %v", server)
	}
	if c.search != nil {
		fmt.Fprintf(&b, "; search %q", c.search)
	}
	if c.ndots != 1 {
		fmt.Fprintf(&b, "; ndots %d", c.ndots)
	}
	if c.timeout != 5*time.Second || c.attempts != 2 {
		fmt.Fprintf(&b, "; %v, %d times", c.timeout, c.attempts)
	}
	if c.rotate {
		b.WriteString("; in turn")
	}
	if c.tcp {
		b.WriteString("; over TCP")
	}
	if c.single {
		b.WriteString("; one at a time")
	}
	return b.String()
}

func TestResolvConf(t *testing.T) {
	const ours = "ask 127.0.0.1:53 [::1]:53"
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", ours},
		{"servers", "nameserver 192.0.2.1\nnameserver\t2001:db8::1\n", "ask 192.0.2.1:53 [2001:db8::1]:53"},
		{"no end of line", "nameserver 192.0.2.1", "ask 192.0.2.1:53"},
		{"ends of lines of another system", "nameserver 192.0.2.1\r\nsearch a.example\r\n", `ask 192.0.2.1:53; search ["a.example"]`},
		{"a zone", "nameserver fe80::1%eth0\n", "ask [fe80::1%eth0]:53"},
		{"more than three", strings.Repeat("nameserver 192.0.2.1\n", 5), "ask 192.0.2.1:53 192.0.2.1:53 192.0.2.1:53"},
		{"comments", "# nameserver 192.0.2.1\n; nameserver 192.0.2.2\nnameserver 192.0.2.3 # here\n", "ask 192.0.2.3:53"},
		{"bad lines", "nameserver\nnameserver ns.example\n nameserver 192.0.2.1\nnameservers 192.0.2.1\nNAMESERVER 192.0.2.1\nsortlist 1.2.3.4\n\x00\xff\n", ours},
		{"search", "search A.example. b.example\n", ours + `; search ["a.example" "b.example"]`},
		{"domain", "domain a.example b.example\n", ours + `; search ["a.example"]`},
		{"the last of both", "domain a.example\nsearch b.example\n", ours + `; search ["b.example"]`},
		{"the other way round", "search b.example c.example\ndomain a.example\n", ours + `; search ["a.example"]`},
		{"the root", "search .\n", ours + "; search []"},
		{"domains that are none", "search a..b " + strings.Repeat("x", 64) + " ok\n", ours + `; search ["ok"]`},
		{"options", "options ndots:2 timeout:3 attempts:4 rotate use-vc edns0 trust-ad\n", ours + "; ndots 2; 3s, 4 times; in turn; over TCP"},
		{"options on several lines", "options ndots:2\noptions rotate\n", ours + "; ndots 2; in turn"},
		{"one question at a time", "options single-request-reopen\n", ours + "; one at a time"},
		{"options beyond", "options ndots:99 timeout:99 attempts:99\n", ours + "; ndots 15; 30s, 5 times"},
		{"options below", "options ndots:0 timeout:0 attempts:-1\n", ours + "; ndots 0; 1s, 1 times"},
		{"options that are none", "options ndots ndots: ndots:x timeout:5s rotate:\n", ours + "; in turn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parseConf(c.file).text(); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// hostsOf returns what a hosts file says of each of its names.
func hostsOf(t testing.TB, text string) map[string][]netip.Addr {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	filter, ok := hostsIn(path, int64(len(text)))
	if !ok {
		t.Fatal("not read")
	}
	all := make(map[string][]netip.Addr)
	err := eachHost(strings.NewReader(text), func(name string, _ netip.Addr) {
		if !filter.has(name) {
			t.Errorf("%s is passed over", name)
		}
		all[name] = nil
	})
	for name := range all {
		if all[name], err = addrsIn(path, name); err != nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHosts(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", ""},
		{"a name", "192.0.2.1 www.example\n", "www.example[192.0.2.1]"},
		{"several names", "192.0.2.1\twww.example  WWW web.example.", "web.example[192.0.2.1] www[192.0.2.1] www.example[192.0.2.1]"},
		{"several addresses", "192.0.2.1 a\n2001:db8::1 A\n192.0.2.1 a\n::ffff:192.0.2.2 a", "a[192.0.2.1 2001:db8::1 192.0.2.2]"},
		{"comments", "# all\n192.0.2.1 a # b\n#192.0.2.1 c\n192.0.2.1#d", "a[192.0.2.1]"},
		{"spaces before", "  192.0.2.1 a\r\n", "a[192.0.2.1]"},
		{"a zone", "fe80::1%lo0 a\n", "a[fe80::1%lo0]"},
		{"a zone that is too long", "fe80::1%" + strings.Repeat("z", 65) + " a\n", ""},
		{"a long line", "192.0.2.1" + strings.Repeat(" a.example", 20_000) + " b\n192.0.2.2 c", "a.example[192.0.2.1] b[192.0.2.1] c[192.0.2.2]"},
		{"bad lines", "a 192.0.2.1\n192.0.2 b\n192.0.2.256 c\n192.0.2.1\n192.0.2.1 d..e\n\x00\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			all := hostsOf(t, c.file)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				lines = append(lines, fmt.Sprint(name, all[name]))
			}
			if got := strings.Join(lines, " "); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNumbers checks that the number of a question cannot be predicted from earlier ones.
func TestNumbers(t *testing.T) {
	seen := make(map[uint16]bool)
	q := newQuestions("www.example.")[0]
	for range 1000 {
		q.pack()
		seen[q.id] = true
	}
	if len(seen) < 900 { // 992 on average
		t.Errorf("%d numbers in 1,000 questions", len(seen))
	}
}

// FuzzResolvConf checks that there is always a server to ask, and that the number of questions for
// a name is bounded.
func FuzzResolvConf(f *testing.F) {
	f.Add("nameserver 192.0.2.1\nnameserver ::1%lo\nsearch a.example b\ndomain c.\noptions ndots:2 timeout:1 attempts:3 rotate use-vc\n", "www.example")
	f.Fuzz(func(t *testing.T, file, name string) {
		c := parseConf(file)
		if len(c.servers) < 1 || len(c.servers) > 3 || c.attempts < 1 || c.attempts > 5 || c.timeout < time.Second || c.timeout > 30*time.Second || c.ndots < 0 || c.ndots > 15 {
			t.Errorf("%s", c.text())
		}
		if len(c.search) > maxSearch {
			t.Errorf("%d domains", len(c.search))
		}
		bare := strings.TrimSuffix(name, ".")
		if !valid(bare) {
			return
		}
		names := c.names(name)
		if !slices.Contains(names, bare+".") {
			t.Errorf("%q is not queried as it is: %q", name, names)
		}
		for _, absolute := range names {
			for _, q := range newQuestions(absolute) {
				var m dnsmessage.Message
				if err := m.Unpack(q.pack()[2:]); err != nil || m.Questions[0].Name.String() != absolute {
					t.Errorf("the question for %q is %v (%v)", absolute, m, err)
				}
			}
		}
	})
}

// FuzzHosts checks that names are valid and in lower case, and that each has some addresses, not
// too many and no duplicates.
func FuzzHosts(f *testing.F) {
	f.Add("127.0.0.1 localhost\n::1 ip6-localhost Loopback # so\n192.0.2.1 a a a. b\nfe80::1%lo a\n")
	f.Fuzz(func(t *testing.T, file string) {
		for name, addrs := range hostsOf(t, file) {
			if !valid(name) || name != strings.ToLower(name) || len(addrs) < 1 || len(addrs) > maxHostAddrs {
				t.Errorf("%q: %v", name, addrs)
			}
			for i, addr := range addrs {
				if slices.Contains(addrs[:i], addr) {
					t.Errorf("%q: %v twice", name, addr)
				}
			}
		}
	})
}

// FuzzMessage checks that a message from a server changes a question only if it has its number,
// name and type; that its result is bounded; that addresses have the requested type; and that
// questions come to an end.
func FuzzMessage(f *testing.F) {
	const id = 0x1234
	for _, answers := range [][]string{
		{"A"}, {"CNAME", "A"}, {"CNAME"}, {"AAAA"}, {"SOA"}, {"TXT", "A", "A"},
	} {
		for _, code := range []dnsmessage.RCode{0, 1, 2, 3, 5} {
			f.Add(sample(id, dnsmessage.TypeA, code, answers), id, false)
			f.Add(sample(id, dnsmessage.TypeAAAA, code, answers), id, true)
		}
	}
	f.Fuzz(func(t *testing.T, message []byte, number int, ip6 bool) {
		q := newQuestions("www.example.")[0]
		if ip6 {
			q = newQuestions("www.example.")[1]
		}
		q.pack()
		q.id = uint16(number)
		asked := *q
		for rounds := 0; q.verdict == unknown && !q.failed; rounds++ {
			if rounds > maxRounds {
				t.Fatalf("asked %d times", rounds)
			}
			before := *q
			if !q.take(message) {
				if fmt.Sprint(*q) != fmt.Sprint(before) {
					t.Errorf("ignored, and changed from %v to %v", before, *q)
				}
				return
			}
			if len(message) < 12 || message[0] != byte(q.id>>8) || message[1] != byte(q.id) || message[2]&0xf8 != 0x80 {
				t.Fatalf("%x was taken for an answer", message)
			}
			if fmt.Sprint(*q) == fmt.Sprint(before) {
				t.Fatal("taken, and nothing learnt")
			}
		}
		if (q.verdict == found) != (len(q.addrs) > 0) || len(q.addrs) > maxAddrs || q.aliases > maxAliases || q.ttl > asked.ttl {
			t.Errorf("%+v", q)
		}
		for _, addr := range q.addrs {
			if !addr.IsValid() || !ip6 && !addr.Is4() {
				t.Errorf("address %v", addr)
			}
		}
		a := questions{q, q}.answer("www.example")
		if (a.err == nil) != (len(a.addrs) > 0) || a.keep < minKeep || a.keep > maxKeep {
			t.Errorf("%+v", a)
		}
	})
}

// sample returns an answer for www.example with records of some types; records after a CNAME to
// web.example belong to that name.
func sample(id uint16, asked dnsmessage.Type, code dnsmessage.RCode, types []string) []byte {
	name := dnsmessage.MustNewName("www.example.")
	other := dnsmessage.MustNewName("web.example.")
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, Response: true, RecursionAvailable: true, RCode: code},
		Questions: []dnsmessage.Question{{Name: name, Type: asked, Class: dnsmessage.ClassINET}},
	}
	for _, kind := range types {
		r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: 60}}
		switch kind {
		case "A":
			r.Body = &dnsmessage.AResource{A: netip.MustParseAddr("192.0.2.1").As4()}
		case "AAAA":
			r.Body = &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr("2001:db8::1").As16()}
		case "CNAME":
			r.Body = &dnsmessage.CNAMEResource{CNAME: other}
			name = other
		case "TXT":
			r.Body = &dnsmessage.TXTResource{TXT: []string{"x"}}
		case "SOA":
			r.Body = &dnsmessage.SOAResource{NS: other, MBox: other, MinTTL: 30}
			m.Authorities = append(m.Authorities, r)
			continue
		}
		m.Answers = append(m.Answers, r)
	}
	b, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return b
}

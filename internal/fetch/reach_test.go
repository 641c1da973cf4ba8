package fetch_test

import (
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// dialNet is a network in which port 80 of every address accepts connections. It notes which
// addresses are dialed, and a name may resolve to another address at each lookup.
type dialNet struct {
	*aiotest.Net
	names  map[string][]string // "A B" is one answer with two addresses; the last answer repeats
	dialed map[string]bool
}

func newDialNet(names map[string][]string) *dialNet {
	all := map[string][]string{"pub.test": {"93.184.215.14"}, "other.test": {"93.184.215.15"}, "localhost": {"127.0.0.1"}, "x.localhost.": {"127.0.0.1"}}
	maps.Copy(all, names)
	return &dialNet{aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond}), all, make(map[string]bool)}
}

func (n *dialNet) Lookup(task *aio.Task, host string) ([]net.IP, error) {
	if answers := n.names[host]; len(answers) > 0 {
		n.Host(host, strings.Fields(answers[0])...)
		if len(answers) > 1 {
			n.names[host] = answers[1:]
		}
	}
	return n.Net.Lookup(task, host)
}

func (n *dialNet) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	n.dialed[to.String()] = true
	return n.Net.Connect(task, to)
}

const blocked = "blocked-address"

// TestReach checks where links, redirects and robots.txt may lead, and which addresses are dialed.
func TestReach(t *testing.T) {
	// Addresses of this machine, a local network and a cloud, in all their spellings.
	private := map[string]string{ // URL as linked → URL as recorded
		"http://10.0.0.7/x": "http://10.0.0.7/x", "http://192.168.1.1/": "http://192.168.1.1/", "http://172.16.0.1/": "http://172.16.0.1/",
		"http://127.0.0.1/a": "http://127.0.0.1/a", "http://2130706433/b": "http://127.0.0.1/b", "http://0x7f.1/c": "http://127.0.0.1/c",
		"http://127.1/d": "http://127.0.0.1/d", "http://0/": "http://0.0.0.0/", "http://127.0.0.1:9200/": "http://127.0.0.1:9200/",
		"http://[::1]/": "http://[::1]/", "http://[::]/": "http://[::]/", "http://[::ffff:127.0.0.1]/": "http://[::ffff:7f00:1]/",
		"http://[64:ff9b::10.0.0.1]/": "http://[64:ff9b::a00:1]/", "http://[fe80::1]/": "http://[fe80::1]/", "http://[fd00::1]/": "http://[fd00::1]/",
		"http://localhost/": "http://localhost/", "http://x.localhost./": "http://x.localhost./", "http://224.0.0.1/": "http://224.0.0.1/",
		"http://169.254.169.254/latest/": "http://169.254.169.254/latest/", "http://[fd00:ec2::254]/": "http://[fd00:ec2::254]/",
		"http://100.100.100.200/": "http://100.100.100.200/", "http://in.test/": "http://in.test/", "http://mapped.test/": "http://mapped.test/",
	}
	inside := map[string][]string{"in.test": {"10.0.0.1"}, "mapped.test": {"::ffff:10.0.0.1"}, "wiki.test": {"10.9.9.9"}}
	fate := func(kind string) map[string]string {
		want := map[string]string{"http://pub.test/": ""}
		for _, u := range private {
			want[u] = kind
		}
		return want
	}
	type test struct {
		name  string
		web   crawltest.Web
		names map[string][]string
		o     weft.Options
		want  map[string]string // URL → error kind
		dials []string          // all dialed addresses; nil: not checked
	}
	public := []string{"93.184.215.14:80"}
	pub := []string{"http://pub.test/"}
	tests := []test{
		{"link", crawltest.Web{"http://pub.test/": crawltest.Links(slices.Sorted(maps.Keys(private))...)}, inside, weft.Options{Seeds: pub}, fate(blocked), public},
		{"link, without robots.txt", crawltest.Web{"http://pub.test/": crawltest.Links(slices.Sorted(maps.Keys(private))...)}, inside, weft.Options{Seeds: pub, Reach: weft.Reach{NoRobots: true}}, fate(blocked), public},
		{"redirect of a seed", crawltest.Web{"http://pub.test/": "302 http://127.0.0.1/admin"}, nil, weft.Options{Seeds: pub},
			map[string]string{"http://pub.test/": "", "http://127.0.0.1/admin": blocked}, public},
		{"redirect of a page", crawltest.Web{"http://pub.test/": crawltest.Links("/r"), "http://pub.test/r": "302 http://in.test/admin"}, inside, weft.Options{Seeds: pub},
			map[string]string{"http://pub.test/": "", "http://pub.test/r": "", "http://in.test/admin": blocked}, public},
		{"meta refresh", crawltest.Web{"http://pub.test/": `<meta http-equiv=refresh content="0;url=http://169.254.169.254/">`}, nil, weft.Options{Seeds: pub},
			map[string]string{"http://pub.test/": "", "http://169.254.169.254/": blocked}, public},
		{"sitemaps", crawltest.Web{"http://pub.test/": "a page", "http://pub.test/robots.txt": "Sitemap: http://127.0.0.1/s.xml\nSitemap: /s.xml\nSitemap: /r.xml", "http://pub.test/r.xml": "302 http://10.0.0.7/r.xml",
			"http://pub.test/s.xml": index("http://in.test/i.xml") + crawltest.URLSet("http://169.254.169.254/latest/"), "http://127.0.0.1/s.xml": crawltest.URLSet("http://pub.test/2"), "http://10.0.0.7/r.xml": crawltest.URLSet("http://pub.test/2")}, inside,
			weft.Options{Seeds: pub, Reach: weft.Reach{Sitemaps: true}}, map[string]string{"http://pub.test/": "", "http://pub.test/s.xml": "", "http://pub.test/r.xml": "", "http://127.0.0.1/s.xml": blocked,
				"http://10.0.0.7/r.xml": blocked, "http://in.test/i.xml": blocked, "http://169.254.169.254/latest/": blocked}, public},
		{"sitemaps on this machine", crawltest.Web{"http://127.0.0.1/": "a page", "http://127.0.0.1/robots.txt": "Sitemap: http://127.0.0.2/s.xml", "http://127.0.0.2/s.xml": crawltest.URLSet("http://127.0.0.3/"), "http://127.0.0.3/": "a page"}, nil,
			weft.Options{Seeds: []string{"http://127.0.0.1/"}, Reach: weft.Reach{Sitemaps: true}}, map[string]string{"http://127.0.0.1/": "", "http://127.0.0.2/s.xml": "", "http://127.0.0.2/sitemap.xml": "", "http://127.0.0.3/": "", "http://127.0.0.3/sitemap.xml": ""}, nil},
		{"redirect of robots.txt", crawltest.Web{"http://pub.test/": "a page", "http://pub.test/robots.txt": "302 http://127.0.0.1/robots.txt", "http://127.0.0.1/robots.txt": ""}, nil,
			weft.Options{Seeds: pub}, map[string]string{"http://pub.test/": blocked}, public},
		{"two addresses", crawltest.Web{"http://pub.test/": crawltest.Links("http://both.test/"), "http://both.test/": "a page"}, map[string][]string{"both.test": {"10.0.0.1 93.184.215.20 127.0.0.1"}},
			weft.Options{Seeds: pub}, map[string]string{"http://pub.test/": "", "http://both.test/": ""}, append(public, "93.184.215.20:80")},
		{"another answer each time", crawltest.Web{"http://pub.test/": crawltest.Links("http://evil.test/1"), "http://evil.test/1": crawltest.Links("/2"), "http://evil.test/2": "a page"},
			// The delay is longer than an answer is cached.
			map[string][]string{"evil.test": {"93.184.215.66", "127.0.0.1"}}, weft.Options{Seeds: pub, Pace: weft.Pace{Delay: 6 * time.Minute}},
			map[string]string{"http://pub.test/": "", "http://evil.test/1": blocked}, append(public, "93.184.215.66:80")},
		{"a public seed that moves inside", crawltest.Web{"http://evil.test/": crawltest.Links("/2"), "http://evil.test/2": "a page"},
			map[string][]string{"evil.test": {"93.184.215.66", "93.184.215.66", "127.0.0.1"}}, weft.Options{Seeds: []string{"http://evil.test/"}, Pace: weft.Pace{Delay: 6 * time.Minute}},
			map[string]string{"http://evil.test/": "", "http://evil.test/2": blocked}, []string{"93.184.215.66:80"}},
		{"private addresses allowed", crawltest.Web{"http://pub.test/": crawltest.Links("http://in.test/", "http://127.0.0.1/"), "http://in.test/": "a page"}, inside, weft.Options{Seeds: pub, HTTP: weft.HTTP{AllowPrivate: true}},
			map[string]string{"http://pub.test/": "", "http://in.test/": "", "http://127.0.0.1/": ""}, nil},
		{"a private seed opens its network", crawltest.Web{"http://in.test/": crawltest.Links("/2", "http://wiki.test/", "http://127.0.0.1/", "http://169.254.169.254/", "http://192.168.0.1/", "http://[fd00::1]/")},
			inside, weft.Options{Seeds: []string{"http://in.test/"}},
			map[string]string{"http://in.test/": "", "http://in.test/2": "", "http://wiki.test/": "", "http://127.0.0.1/": blocked, "http://169.254.169.254/": blocked,
				"http://192.168.0.1/": blocked, "http://[fd00::1]/": blocked}, []string{"10.0.0.1:80", "10.9.9.9:80"}},
		{"a seed with public and private addresses", crawltest.Web{"http://evil.test/": crawltest.Links("/2", "http://10.0.0.1/", "http://127.0.0.1:81/", "http://127.0.0.1/", "http://169.254.169.254/")},
			map[string][]string{"evil.test": {"10.0.0.1 93.184.215.66 127.0.0.1 169.254.169.254"}}, weft.Options{Seeds: []string{"http://evil.test/"}, Pace: weft.Pace{Retries: -1}},
			map[string]string{"http://evil.test/": "", "http://evil.test/2": "", "http://10.0.0.1/": blocked, "http://127.0.0.1/": blocked, "http://127.0.0.1:81/": blocked, "http://169.254.169.254/": blocked}, nil},
		{"a seed with public and private addresses that redirects", crawltest.Web{"http://evil.test/": "302 http://10.0.0.1/admin"},
			map[string][]string{"evil.test": {"10.0.0.1 93.184.215.66"}}, weft.Options{Seeds: []string{"http://evil.test/"}},
			map[string]string{"http://evil.test/": "", "http://10.0.0.1/admin": blocked}, nil},
		{"a private seed beside a public one", crawltest.Web{"http://10.0.0.1/": "a page", "http://pub.test/": crawltest.Links("http://wiki.test/", "http://127.0.0.1/")}, inside,
			weft.Options{Seeds: []string{"http://10.0.0.1/", "http://pub.test/"}},
			map[string]string{"http://10.0.0.1/": "", "http://pub.test/": "", "http://wiki.test/": "", "http://127.0.0.1/": blocked}, nil},
		{"a seed on this machine", crawltest.Web{"http://127.0.0.1/": crawltest.Links("/2", "http://localhost/", "http://[::1]:81/", "http://other.test/", "http://10.0.0.1/", "http://169.254.169.254/"),
			"http://other.test/": crawltest.Links("http://127.0.0.1/3", "http://localhost:9200/")}, nil, weft.Options{Seeds: []string{"http://127.0.0.1/"}, Pace: weft.Pace{Retries: -1}},
			map[string]string{"http://127.0.0.1/": "", "http://127.0.0.1/2": "", "http://localhost/": "", "http://[::1]:81/": "connect", "http://other.test/": "", "http://10.0.0.1/": blocked,
				"http://169.254.169.254/": blocked, "http://127.0.0.1/3": "", "http://localhost:9200/": blocked}, nil},
		{"a seed at a metadata service", crawltest.Web{"http://169.254.169.254/": crawltest.Links("http://169.254.170.2/")}, nil, weft.Options{Seeds: []string{"http://169.254.169.254/"}},
			map[string]string{"http://169.254.169.254/": "", "http://169.254.170.2/": blocked}, nil},
		{"a list of seeds", crawltest.Web{"http://in.test/": crawltest.Links("/2", "http://wiki.test/")}, inside, weft.Options{SeedSeq: crawltest.List("http://in.test/")},
			map[string]string{"http://in.test/": "", "http://in.test/2": "", "http://wiki.test/": blocked}, []string{"10.0.0.1:80"}},
		{"seeds that others wrote", crawltest.Web{"http://pub.test/": crawltest.Links("http://wiki.test/")}, inside,
			weft.Options{Seeds: []string{"http://in.test/", "http://127.0.0.1/", "http://169.254.169.254/", "http://pub.test/"}, HTTP: weft.HTTP{Distrust: true}},
			map[string]string{"http://in.test/": blocked, "http://127.0.0.1/": blocked, "http://169.254.169.254/": blocked, "http://pub.test/": "", "http://wiki.test/": blocked}, public},
		{"a list that others wrote", crawltest.Web{"http://pub.test/": "a page"}, inside, weft.Options{SeedSeq: crawltest.List("http://in.test/", "http://10.0.0.1/", "http://pub.test/"), HTTP: weft.HTTP{Distrust: true}},
			map[string]string{"http://in.test/": blocked, "http://10.0.0.1/": blocked, "http://pub.test/": ""}, public},
		{"an override for the host", crawltest.Web{"http://pub.test/": crawltest.Links("/2", "http://other.test/", "http://127.0.0.1/")}, inside,
			weft.Options{Seeds: pub, HTTP: weft.HTTP{Resolve: crawltest.Overrides(t, "pub.test:80:127.0.0.1", "other.test:80:10.0.0.1")}},
			map[string]string{"http://pub.test/": "", "http://pub.test/2": "", "http://other.test/": "", "http://127.0.0.1/": blocked}, []string{"127.0.0.1:80", "10.0.0.1:80"}},
		{"an override for every host", crawltest.Web{"http://pub.test/": crawltest.Links("http://in.test/", "http://10.0.0.1/", "http://localhost/")}, inside,
			weft.Options{Seeds: pub, HTTP: weft.HTTP{Resolve: crawltest.Overrides(t, "*:80:127.0.0.1")}},
			map[string]string{"http://pub.test/": "", "http://in.test/": "", "http://10.0.0.1/": blocked, "http://localhost/": blocked}, []string{"127.0.0.1:80"}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			n := newDialNet(c.names)
			c.o.Reach.Scope = weft.ScopeAny
			got, _, _ := c.web.CrawlOver(t, n, c.o)
			for u, kind := range c.want {
				r, ok := got[u]
				if !ok || r.ErrorKind != kind {
					t.Errorf("%s: %q %s, expected %q", u, r.ErrorKind, r.Error, kind)
				}
				if kind == blocked && (r.IP != "" || r.Bytes != 0 || r.Tries > 1) {
					t.Errorf("%s was requested: %+v", u, r)
				}
			}
			for u := range got {
				if _, ok := c.want[u]; !ok {
					t.Errorf("%s has a record, expected none", u)
				}
			}
			if dials := slices.Sorted(maps.Keys(n.dialed)); c.dials != nil && !slices.Equal(dials, slices.Sorted(slices.Values(c.dials))) {
				t.Errorf("dialed %q, expected %q", dials, c.dials)
			}
		})
	}
}

// TestBlockedPorts checks that links, redirects and a redirected robots.txt do not reach a port
// that browsers block, not even by a hook, and that a seed does, with the pages of its host.
func TestBlockedPorts(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/": crawltest.Links("http://b.test:25/", "http://c.test/", "/r", "/304"), "http://a.test/r": "302 http://b.test:6379/",
		"http://c.test/": "a page", "http://c.test/robots.txt": "302 http://b.test:22/robots.txt", "http://a.test/304": "304 http://a.test/not", "http://a.test/not": "a page",
		"http://seed.test:6000/": crawltest.Links("/2"), "http://seed.test:6000/2": "a page",
	}
	o := weft.Options{Seeds: []string{"http://a.test/", "http://seed.test:6000/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, HTTP: weft.HTTP{AllowPrivate: true}}
	o.Hooks.OnLink = func(weburl.URL, links.Link) weft.Verdict { return weft.Verdict{Decision: weft.Follow} }
	got, sum, seen := w.Crawl(t, o)
	want := map[string]string{
		"http://a.test/": "", "http://a.test/r": "", "http://a.test/304": "", "http://c.test/": weft.KindNoRobots,
		"http://seed.test:6000/": "", "http://seed.test:6000/2": "",
	}
	for u, r := range got {
		if kind, ok := want[u]; !ok || kind != r.ErrorKind {
			t.Errorf("%s: %q %s, expected %q", u, r.ErrorKind, r.Error, kind)
		}
	}
	if len(got) != len(want) || sum.NotFollowed["blocked-port"] != 2 {
		t.Errorf("%d records, expected %d; not followed: %v", len(got), len(want), sum.NotFollowed)
	}
	for _, u := range seen.URLs() {
		if strings.HasPrefix(u, "http://b.test") {
			t.Errorf("requested %s", u)
		}
	}
}

// TestReachAcrossRuns checks that the network that a private seed opens, and the hosts of seeds,
// are remembered in later runs.
func TestReachAcrossRuns(t *testing.T) {
	names := map[string][]string{"in.test": {"10.0.0.1"}, "wiki.test": {"10.9.9.9"}, "list.test": {"192.168.0.1"}}
	o := weft.Options{
		Reach: weft.Reach{Scope: weft.ScopeAny, NoRobots: true}, Job: filepath.Join(t.TempDir(), "job"),
		Seeds: []string{"http://in.test/"}, SeedSeq: crawltest.List("http://list.test/"),
	}
	crawltest.Web{"http://in.test/": "no link", "http://list.test/": "none"}.CrawlOver(t, newDialNet(names), o)
	// The job has the seeds, and the list was read to its end.
	o.Seeds, o.SeedSeq, o.Rerun.Update = nil, nil, true
	w := crawltest.Web{"http://in.test/": crawltest.Links("http://wiki.test/", "http://127.0.0.1/"), "http://list.test/": crawltest.Links("/2")}
	got, _, _ := w.CrawlOver(t, newDialNet(names), o)
	for u, kind := range map[string]string{
		"http://in.test/": "", "http://wiki.test/": "", "http://127.0.0.1/": blocked, "http://list.test/": "", "http://list.test/2": "",
	} {
		if r, ok := got[u]; !ok || r.ErrorKind != kind {
			t.Errorf("%s: %q %s, expected %q", u, r.ErrorKind, r.Error, kind)
		}
	}
}

// TestReachError checks that the error names the host, its address and the blocked network.
func TestReachError(t *testing.T) {
	w := crawltest.Web{"http://pub.test/": crawltest.Links("http://in.test/", "http://[::ffff:10.0.0.1]/")}
	got, sum, _ := w.CrawlOver(t, newDialNet(map[string][]string{"in.test": {"10.0.0.1"}}), weft.Options{
		Seeds: []string{"http://pub.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny, NoRobots: true},
	})
	for u, want := range map[string]string{
		"http://in.test/":        "in.test: 10.0.0.1 is private (10.0.0.0/8)",
		"http://[::ffff:a00:1]/": "::ffff:10.0.0.1 is private, as 10.0.0.1 is (10.0.0.0/8)",
	} {
		if r := got[u]; r.Error != want || r.Tries != 1 {
			t.Errorf("%s: error %q after %d tries, expected %q after one", u, r.Error, r.Tries, want)
		}
	}
	if n := sum.Errors[blocked].URLs; n != 2 {
		t.Errorf("the summary counts %d URLs, expected 2", n)
	}
}

// TestNamesAreAskedOnce checks that several loops do not each ask for the addresses of every host.
func TestNamesAreAskedOnce(t *testing.T) {
	const hosts = 200
	served := webtest.Start(t, webtest.Config{Seed: 5, Hosts: hosts, Pages: 4, Latency: 5 * time.Millisecond, Clean: true})
	c, err := weft.New(weft.Options{
		Seeds: []string{served.Web.Home(0)}, Job: filepath.Join(t.TempDir(), "job"), Reach: weft.Reach{Scope: weft.ScopeAny},
		Loops: 2, HTTP: weft.HTTP{DNS: crawltest.NameServer(served)},
	})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked, queries := 0, 0
	for i := range hosts {
		n := served.DNS.Asked(i)
		asked, queries = asked+min(n, 1), queries+n
	}
	t.Logf("%d URLs of %d hosts, whose names were asked for %d times", sum.Recorded(), asked, queries)
	if asked < hosts/2 || queries > asked*3/2 {
		t.Errorf("the names of %d hosts were asked for %d times", asked, queries)
	}
}

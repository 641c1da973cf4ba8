package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/flat"
)

func begun(t *testing.T) *remote {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	c, err := Dial(t.Context(), Options{Servers: []string{s.ClientURL()}, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		s.Shutdown()
		s.WaitForShutdown()
	})
	return c.remote
}

// TestPlan: one node begins a crawl, whoever is first; others have its plan, or are refused by the
// option that differs.
func TestPlan(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if _, err := c.plan(t.Context()); !errors.Is(err, ErrNoCrawl) {
		t.Fatal(err)
	}
	if _, _, err := c.begin(t.Context(), &weft.Options{Job: "job"}, 16); !errors.Is(err, ErrNoCrawl) {
		t.Fatal(err)
	}
	first := weft.Options{Job: "job", Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Depth: 3}}
	var plans [4]Plan
	var all sync.WaitGroup
	for i := range plans {
		all.Go(func() {
			var err error
			o := first
			if plans[i], _, err = c.begin(t.Context(), &o, 16); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	joined, _, err := c.begin(t.Context(), &weft.Options{Job: "job", HTTP: weft.HTTP{UserAgent: weft.DefaultUserAgent}}, 99)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(plans[:], joined) {
		if p.ID != plans[0].ID || p.Partitions != 16 || p.Options.Depth != 3 || p.Options.Seeds[0] != "http://a.test/" {
			t.Errorf("%+v", p)
		}
	}
	for want, o := range map[string]weft.Options{
		`option Depth "2": expected 3, as the job began with`:                                            {Job: "job", Reach: weft.Reach{Depth: 2}},
		`option Seeds "http://b.test/": expected http://a.test/, as the job began with`:                  {Job: "job", Reach: weft.Reach{Depth: 3}, Seeds: []string{"http://b.test/"}},
		`option Scope "any": expected host, as the job began with`:                                       {Job: "job", Reach: weft.Reach{Scope: weft.ScopeAny}, Seeds: first.Seeds},
		`option Depth "none": expected 3, as the job began with; option Sitemaps "true": expected false`: {Job: "job", Reach: weft.Reach{Depth: -1, Sitemaps: true}},
	} {
		if _, _, err := c.begin(t.Context(), &o, 16); err == nil || err.Error() != want {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
}

// TestCommonOptions: nodes ask sites alike. Who leaves an option out takes that of the plan, and is
// refused with another; secrets are not on the servers, and each node brings them along.
func TestCommonOptions(t *testing.T) {
	t.Parallel()
	c := begun(t)
	token := httpclient.Field{Name: "X-Token", Value: "swordfish"}
	key := httpclient.Credential{Host: "a.test", User: "ada", Password: "swordfish"}
	first := weft.Options{
		Job: "job", Seeds: []string{"http://a.test/"}, Pace: weft.Pace{Delay: 20 * time.Millisecond, Retries: -1, Concurrency: 7}, HTTP: weft.HTTP{UserAgent: "bot/1", HTTP1: true, Header: httpclient.Header{{Name: "Accept-Language", Value: "de"}, token}, Auth: []httpclient.Credential{key}},
		Limits: weft.Limits{Limit: 5},
	}
	o := first
	p, _, err := c.begin(t.Context(), &o, 16)
	if err != nil || !reflect.DeepEqual(o.HTTP.Header, first.HTTP.Header) {
		t.Fatalf("%v, %v", err, o.HTTP.Header)
	}
	if text, _ := json.Marshal(p); bytes.Contains(text, []byte("swordfish")) || bytes.Contains(text, []byte("ada")) {
		t.Errorf("%s", text)
	}
	brings := weft.Options{Job: "job", Seeds: []string{"http://ada:swordfish@a.test/"}, HTTP: weft.HTTP{Header: httpclient.Header{token}}}
	o = brings
	if _, _, err := c.begin(t.Context(), &o, 16); err != nil {
		t.Fatal(err)
	}
	if o.Pace.Delay != first.Pace.Delay || o.Pace.Retries != -1 || o.HTTP.UserAgent != "bot/1" || !o.HTTP.HTTP1 || !reflect.DeepEqual(o.HTTP.Header, first.HTTP.Header) || o.Pace.Concurrency != 0 {
		t.Errorf("%+v", o)
	}
	for want, change := range map[string]func(*weft.Options){
		`option Delay "1s": expected 20ms, as the job began with; option Timeout "5s": expected 30s`: func(o *weft.Options) { o.Pace.Delay, o.HTTP.Timeout = time.Second, 5*time.Second },
		`option UserAgent "bot/2": expected bot/1, as the job began with`:                            func(o *weft.Options) { o.HTTP.UserAgent = "bot/2" },
		`option Header "none": expected x-token, as the job began with`:                              func(o *weft.Options) { o.HTTP.Header = nil },
		`option Auth "b.test": expected a.test, as the job began with`: func(o *weft.Options) {
			o.Seeds, o.HTTP.Auth = nil, []httpclient.Credential{{Host: "b.test", Token: "x"}}
		},
	} {
		o := brings
		change(&o)
		if _, _, err := c.begin(t.Context(), &o, 16); err == nil || err.Error() != want || !errors.Is(err, weft.ErrPlan) {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
	o = brings
	// These are the defaults.
	o.HTTP.Timeout, o.Pace.Retries, o.HTTP.UserAgent = 30*time.Second, -1, weft.DefaultUserAgent
	if _, _, err := c.begin(t.Context(), &o, 16); err != nil {
		t.Error(err)
	}
}

// TestConfirmedOptions: what decides who gets the secrets of a node is never taken from the
// servers. A node that was not given the same is refused, whoever is more careful.
func TestConfirmedOptions(t *testing.T) {
	t.Parallel()
	host := func(addr string) []httpclient.Override {
		return []httpclient.Override{{Host: "a.test", Port: 443, Addr: netip.MustParseAddr(addr)}}
	}
	for want, set := range map[string][2]weft.Options{
		`option Insecure "no": expected yes, as the job began with`:                                   {{HTTP: weft.HTTP{Insecure: true}}, {}},
		`option Insecure "yes": expected no, as the job began with`:                                   {{}, {HTTP: weft.HTTP{Insecure: true}}},
		`option AllowPrivate "no": expected yes, as the job began with`:                               {{HTTP: weft.HTTP{AllowPrivate: true}}, {}},
		`option AllowPrivate "yes": expected no, as the job began with`:                               {{}, {HTTP: weft.HTTP{AllowPrivate: true}}},
		`option Resolve "none": expected a.test:443:127.0.0.9, as the job began with`:                 {{HTTP: weft.HTTP{Resolve: host("127.0.0.9")}}, {}},
		`option Resolve "a.test:443:127.0.0.1": expected a.test:443:127.0.0.9, as the job began with`: {{HTTP: weft.HTTP{Resolve: host("127.0.0.9")}}, {HTTP: weft.HTTP{Resolve: host("127.0.0.1")}}},
	} {
		c := begun(t)
		for i, o := range []weft.Options{set[0], set[0], set[1]} {
			o.Job, o.Seeds = "job", []string{"http://a.test/"}
			_, _, err := c.begin(t.Context(), &o, 16)
			if i < 2 && err != nil || i == 2 && (errorText(err) != want || !errors.Is(err, weft.ErrPlan) || o.HTTP.Insecure != set[1].HTTP.Insecure) {
				t.Errorf("node %d: %v\nexpected the third: %s", i, err, want)
			}
		}
	}
}

// TestOptionsAreClassified: every option is of the job's plan, common to the nodes, or of one
// machine.
func TestOptionsAreClassified(t *testing.T) {
	class := make(map[string]int)
	for _, name := range weft.FrozenOptions() {
		class[name]++
	}
	for _, c := range common {
		if class[c.name]++; c.check != "" {
			delete(class, c.name) // see TestCommonCheck
		}
	}
	class["UserAgent"]-- // its token is the job's, the rest is common
	for _, name := range []string{
		"Seeds", "SeedSeq", "Posts", // of the plan, too
		"Auth", "Cookies", // secret: each node has to bring them along
		"Update", "UpdateOnly", "OlderThan", // of a run, as are
		"Limit", "MaxTime", "Fresh", "Amend", "RetryFailed", // of a run
		"Concurrency", "RateLimit", "Memory", "Loops", "Loop", "Hooks", // of a process
		"Job", "MinFree", "ArchiveSize", "Output", "Format", "Fields", // of a disk
		"Proxy", "RootCAs", "DNS", // of a network
		// Of a single machine: see join. (Session is of the job's plan, too.)
		"Browser", "Wait", "Scroll", "Click", "Screenshot", "PDF", "Block", "RenderPost",
	} {
		class[name]++
	}
	for f := range flat.Fields(reflect.TypeFor[weft.Options]()) {
		if f.IsExported() && class[f.Name] != 1 {
			t.Errorf("option %s is listed %d times, expected once", f.Name, class[f.Name])
		}
		delete(class, f.Name)
	}
	if len(class) > 0 {
		t.Errorf("no options: %v", class)
	}
}

// TestCommonCheck: nodes request alike what a crawl does not follow, all of it; External, which the
// plan has, decides about what lies beyond.
func TestCommonCheck(t *testing.T) {
	t.Parallel()
	c := begun(t)
	whole := fetch.Check{All: true, HTTPS: true, Body: 7}
	first := weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}
	*first.Unfollowed() = whole
	if _, _, err := c.begin(t.Context(), &first, 16); err != nil {
		t.Fatal(err)
	}
	joins := weft.Options{Job: "job"}
	if _, _, err := c.begin(t.Context(), &joins, 16); err != nil || *joins.Unfollowed() != whole {
		t.Errorf("%v: %+v, expected %+v", err, *joins.Unfollowed(), whole)
	}
	other := weft.Options{Job: "job"}
	other.Unfollowed().Body = 8
	want := `option ExternalBody "8": expected 7, as the job began with`
	if _, _, err := c.begin(t.Context(), &other, 16); err == nil || err.Error() != want {
		t.Errorf("%v\nexpected %s", err, want)
	}
	for f := range reflect.TypeFor[fetch.Check]().Fields() {
		if f.Name != "Beyond" && !slices.ContainsFunc(common, func(s sharedOption) bool { return s.check == f.Name }) {
			t.Errorf("nodes do not agree on %s", f.Name)
		}
	}
}

// TestPlanOfOthers: a plan that this version cannot follow, or that is gone, is refused in one
// line.
func TestPlanOfOthers(t *testing.T) {
	t.Parallel()
	c := begun(t)
	begin := func() error {
		_, _, err := c.begin(t.Context(), &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}, 16)
		return err
	}
	if err := begin(); err != nil {
		t.Fatal(err)
	}
	bucket, err := c.bucket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for plan, want := range map[string]string{
		`{"layout": 99, "options": {"version": "v9.0.0"}}`:                                                                     "crawl test: begun by weft v9.0.0 with layout 99, expected layout 2",
		fmt.Sprintf(`{"layout": %d, "partitions": -1}`, layoutVersion):                                                         "crawl test: -1 partitions, expected 1 to 65536",
		fmt.Sprintf(`{"layout": %d, "partitions": 9, "options": {"version": "v9.0.0", "gzip": true}}`, layoutVersion):          `crawl test: begun by weft v9.0.0, which this weft ` + weft.Version + ` cannot follow: json: unknown field "gzip"`,
		fmt.Sprintf(`{"layout": %d, "partitions": 9, "options": {"version": "v9.0.0"}, "common": {"Gzip": 1}}`, layoutVersion): `option "Gzip" of the crawl, which weft v9.0.0 began: this weft ` + weft.Version + ` does not have it`,
		"not a plan": "crawl test: its plan: invalid character 'o' in literal null (expecting 'u')",
	} {
		if _, err := bucket.PutString(t.Context(), keyPlan, plan); err != nil {
			t.Fatal(err)
		}
		if err := begin(); err == nil || err.Error() != want {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
	if _, err := c.servers.js.Publish(t.Context(), c.name.log(3), nil); err != nil {
		t.Fatal(err)
	}
	if err := bucket.Purge(t.Context(), keyPlan); err != nil {
		t.Fatal(err)
	}
	want := "crawl test: stream weft_test_log is left of a crawl whose plan was deleted, expected another name, or that the stream is removed"
	if err := begin(); err == nil || err.Error() != want {
		t.Errorf("%v\nexpected %s", err, want)
	}
}

// TestSilentNodes: a crawl of which all processes were killed, so that nobody says so, has no
// nodes.
func TestSilentNodes(t *testing.T) {
	t.Parallel()
	c := begun(t)
	if _, _, err := c.begin(t.Context(), &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}}, 16); err != nil {
		t.Fatal(err)
	}
	bucket, err := c.bucket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.PutString(t.Context(), "node.x", `{"state": "alive"}`); err != nil {
		t.Fatal(err)
	}
	state := func(beat time.Duration) string {
		c.beat = beat
		s, err := (&Client{c}).Status(t.Context())
		if err != nil || len(s.Nodes) != 1 {
			t.Fatal(s.Nodes, err)
		}
		return s.Nodes[0].State
	}
	if s := state(time.Hour); s != "alive" {
		t.Error(s)
	}
	if err := (&Client{c}).Remove(t.Context(), false); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
	if s := state(time.Nanosecond); s != "silent" {
		t.Error(s)
	}
	if err := (&Client{c}).Remove(t.Context(), false); err != nil {
		t.Error(err)
	}
}

package weft

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"iter"
	"net/http/cookiejar"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/flat"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/leaves"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// basic are options that leave room for each to be another.
func basic() Options {
	return Options{Seeds: []string{"http://a.test/"}, Job: "job", Memory: 64_000_000, Pace: Pace{Concurrency: 300}, Loops: 2, HTTP: HTTP{MaxBody: 1 << 20}}
}

// others change one option of basic each.
var others = map[string]func(*Options){
	"Seeds":   func(o *Options) { o.Seeds = []string{"http://b.test/"} },
	"Posts":   func(o *Options) { o.Posts = []Post{PostForm("http://a.test/", nil)} },
	"SeedSeq": func(o *Options) { o.SeedSeq = func(func(string, error) bool) {} },
	"Scope":   func(o *Options) { o.Reach.Scope = ScopeAny },
	"Include": func(o *Options) { o.Reach.Include = []*regexp.Regexp{regexp.MustCompile("a")} },
	"Exclude": func(o *Options) { o.Reach.Exclude = []*regexp.Regexp{regexp.MustCompile("a")} },
	"Canon":   func(o *Options) { o.Reach.Canon, _ = weburl.ParseRules("sort-query") },
	"Assets":  func(o *Options) { o.Reach.Assets = AssetsAny },

	"Rendering": func(o *Options) { o.Render.Rendering = RenderAuto },
	"Wait":      func(o *Options) { o.Render.Wait = "5s" },
	"Block": func(o *Options) {
		list, _ := ReadBlockList(strings.NewReader("ads.test"))
		o.Render.Block = []*BlockList{list}
	},
	"Screenshot": func(o *Options) { o.Render.Screenshot = ScreenshotFull },

	"Header":  func(o *Options) { o.HTTP.Header = httpclient.Header{{Name: "X-A", Value: "b"}} },
	"Cookies": func(o *Options) { o.HTTP.Cookies, _ = cookiejar.New(nil) },
	"Session": func(o *Options) { o.HTTP.Session = new(Session) },
	"Auth":    func(o *Options) { o.HTTP.Auth = []httpclient.Credential{{Scheme: "http", Host: "a.test", User: "b"}} },
	"Proxy":   func(o *Options) { o.HTTP.Proxy = func(string, string) *httpclient.Proxy { return nil } },
	"RootCAs": func(o *Options) { o.HTTP.RootCAs = x509.NewCertPool() },
	"Resolve": func(o *Options) {
		o.HTTP.Resolve = []httpclient.Override{{Host: "a.test", Port: 80, Addr: netip.IPv6Loopback()}}
	},
	"DNS":         func(o *Options) { o.HTTP.DNS = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")} },
	"RetryFailed": func(o *Options) { o.Rerun.RetryFailed = MayPass },
	"UpdateOnly":  func(o *Options) { o.Rerun.Update, o.Rerun.UpdateOnly = true, MayPass },
	"OlderThan":   func(o *Options) { o.Rerun.Update, o.Rerun.OlderThan = true, time.Hour },
	"Extract": func(o *Options) {
		o.Keep.Extract = []extract.Rule{{Fields: []extract.Field{{Name: "a", Select: "h1"}}}}
	},

	"HeaderFields":  func(o *Options) { o.Keep.HeaderFields = []string{"Server"} },
	"ArchiveDigest": func(o *Options) { o.Keep.ArchiveDigest = warc.SHA1 },
	"Output":        func(o *Options) { o.Output = io.Discard },
	"Format":        func(o *Options) { o.Format = FormatCSV },
	"Fields":        func(o *Options) { o.Fields = []string{"url"} },
	"Duplicates":    func(o *Options) { o.Keep.Duplicates = DuplicatesNear },
	"Loop":          func(o *Options) { o.Loop = aio.Options{Trace: func(aio.TraceEvent) {}} },
	"Hooks": func(o *Options) {
		o.Hooks = Hooks{
			OnRequest: func(*Request) error { return nil }, OnLink: func(weburl.URL, links.Link) Verdict { return Verdict{} },
			OnItem: func(context.Context, *Item) error { return nil }, OnPage: func(context.Context, *Page) error { return nil }, OnRecord: func(*Record) {}, OnError: func(*Record) {}, OnWarning: func(error) {},
		}
	},
	"Job":         func(o *Options) { o.Job = "" },
	"unfollowed":  func(o *Options) { *o.Unfollowed() = fetch.Check{All: true, HTTPS: true, Body: 1 << 10} },
	"Memory":      func(o *Options) { o.Memory = 2 * leastBrowser },
	"Concurrency": func(o *Options) { o.Pace.Concurrency = 400 },
}

// change makes one option of o another.
func change(t *testing.T, o *Options, option string) {
	t.Helper()
	if other := others[option]; other != nil {
		other(o)
		return
	}
	switch v := flat.Field(reflect.ValueOf(o).Elem(), option); v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 5)
	case reflect.Float64:
		v.SetFloat(5)
	case reflect.String:
		v.SetString("other")
	default:
		t.Fatalf("%s: what is another %v?", option, v.Type())
	}
}

// TestHandedOn checks where each option and each share of memory arrives, with what arrives always,
// and that no row can be deleted unseen. What arrives nowhere is lost, whatever the golden file
// says.
func TestHandedOn(t *testing.T) {
	var lines []string
	for what, paths := range arrivals(t, handedOn) {
		lines = append(lines, arrival(what, paths))
		if len(paths) == 0 {
			t.Errorf("%s is handed on to nobody", what)
		}
		name, ofShare := strings.CutPrefix(what, "share ")
		if in, whole := sharesOfRooms[name]; ofShare && whole {
			if tests, err := os.ReadFile(in); err != nil || !strings.Contains(string(tests), fmt.Sprintf("\t%q: ", name)) {
				t.Errorf("%s has no row of the share %s: %v", in, name, err)
			}
		} else if ofShare && len(paths) < 2 {
			t.Errorf("no room has the share %s", name)
		}
		frozen := slices.Contains(FrozenOptions(), what)
		for _, path := range paths {
			planned := strings.HasPrefix(path, "Job.Plan.") || strings.HasPrefix(path, "Job.Asked.")
			if planned != frozen && !slices.Contains(compared, what) {
				t.Errorf("%s is frozen: %t, and arrives at %s", what, frozen, path)
			}
		}
	}
	always := arrival("always", leaves.Changed(crawl.Config{}, *new(config).handOn(nil)))
	golden.Equal(t, "testdata/handed-on.txt", always+strings.Join(lines, ""))
	for i, row := range handedOn {
		n, seen := 0, false
		for what, paths := range arrivals(t, slices.Delete(slices.Clone(handedOn), i, i+1)) {
			if seen = arrival(what, paths) != lines[n]; seen {
				break
			}
			n++
		}
		if !seen {
			t.Errorf("row %d, of %s, can be deleted unseen", i, row.option)
		}
	}
}

func arrival(what string, paths []string) string {
	return fmt.Sprintf("%s: %s\n", what, strings.Join(paths, " "))
}

// arrivals returns where each option and each share arrives by rows of handedOn.
func arrivals(t *testing.T, rows []handing) iter.Seq2[string, []string] {
	t.Helper()
	checked := func(o Options) *config {
		c, err := o.check()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	arrived := func(c *config) *crawl.Config {
		to := c.handOn(rows)
		to.Job.Plan.Begun = time.Time{}
		return to
	}
	return func(yield func(string, []string) bool) {
		before := arrived(checked(basic()))
		for f := range flat.Fields(reflect.TypeFor[Options]()) {
			o := basic()
			change(t, &o, f.Name)
			if !yield(f.Name, leaves.Changed(*before, *arrived(checked(o)))) {
				return
			}
		}
		for f := range reflect.TypeFor[budget.Shares]().Fields() {
			c := checked(basic())
			share := reflect.ValueOf(&c.shares).Elem().FieldByIndex(f.Index)
			share.SetInt(share.Int() + 1)
			if !yield("share "+f.Name, leaves.Changed(*before, *arrived(c))) {
				return
			}
		}
	}
}

// compared are options that a job has by themselves, or of which it has that they are given: see
// job.Plan.
var compared = []string{"Seeds", "SeedSeq", "Posts", "Session"}

// TestFrozenOptions: users learn the whole table, in its order.
func TestFrozenOptions(t *testing.T) {
	names := FrozenOptions()
	if len(names) != len(job.Frozen) || names[0] != job.Frozen[0].Name {
		t.Errorf("%q", names)
	}
}

// sharesOfRooms are shares that a room takes from Engine.Shares, by the file with its TestShares: a
// row there for each share sees what the room makes of it.
var sharesOfRooms = map[string]string{
	"Scope":      "internal/engine/shares_test.go",
	"Bodies":     "internal/engine/shares_test.go",
	"Again":      "internal/engine/shares_test.go",
	"Shapes":     "internal/engine/shares_test.go",
	"Batch":      "internal/engine/shares_test.go",
	"Cookies":    "internal/crawl/crawl_test.go",
	"Originals":  "internal/crawl/crawl_test.go",
	"Duplicates": "internal/crawl/crawl_test.go",
}

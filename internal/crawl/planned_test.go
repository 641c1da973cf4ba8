package crawl

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/leaves"
	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/warc"
)

// ofJob are the fields of a plan that the job and its seeds go by, and no other room.
var ofJob = []string{"Version", "Begun", "Posts", "Guessed", "Added", "List"}

// plain is a plan that keeps and renders nothing, and full one that archives and renders: by one of
// them, each field of a plan arrives.
var (
	plain = job.Plan{Scope: scope.Host, Assets: scope.AssetsNone, Duplicates: "off", Seeds: []string{"http://a.test/"}}
	full  = job.Plan{Scope: scope.Host, Assets: scope.AssetsNone, Duplicates: "off", Seeds: []string{"http://a.test/"}, Archive: true, Rendering: "always"}
)

// TestPlanned checks where each field of a plan arrives, and all else that the plan's rows hand on.
// What arrives nowhere is lost, whatever the golden file says.
func TestPlanned(t *testing.T) {
	// Canon and Extract are text that is parsed, Scope has few values, and the seeds are those of a
	// job.
	others := map[string]func(*job.Plan){
		"Seeds":      func(p *job.Plan) { p.Seeds = []string{"http://b.test/"} },
		"Scope":      func(p *job.Plan) { p.Scope = scope.Any },
		"Assets":     func(p *job.Plan) { p.Assets = scope.AssetsAny },
		"Canon":      func(p *job.Plan) { p.Canon = "sort-query" },
		"Extract":    func(p *job.Plan) { p.Extract = []string{`{"fields": [{"name": "a", "select": "h1"}]}`} },
		"Duplicates": func(p *job.Plan) { p.Duplicates = "near" },
		"Rendering":  func(p *job.Plan) { p.Rendering = "auto" },
	}
	var text strings.Builder
	say := func(what string, paths []string) {
		if len(paths) == 0 {
			t.Errorf("%s is handed on to nobody", what)
		}
		fmt.Fprintf(&text, "%s: %s\n", what, strings.Join(paths, " "))
	}
	for f := range reflect.TypeFor[job.Plan]().Fields() {
		if slices.Contains(ofJob, f.Name) {
			continue
		}
		other := others[f.Name]
		if other == nil {
			other = func(p *job.Plan) {
				switch v := reflect.ValueOf(p).Elem().FieldByIndex(f.Index); v.Kind() {
				case reflect.Bool:
					v.SetBool(true)
				case reflect.Int:
					v.SetInt(v.Int() + 5)
				case reflect.String:
					v.SetString("other")
				case reflect.Slice:
					v.Set(reflect.ValueOf([]string{"other"}))
				default:
					t.Fatalf("%s: what is another %v?", f.Name, v.Type())
				}
			}
		}
		var paths []string
		for _, p := range []job.Plan{plain, full} {
			before := followed(t, p, nil)
			other(&p)
			paths = append(paths, changed(before, followed(t, p, nil))...)
		}
		slices.Sort(paths)
		say(f.Name, slices.Compact(paths))
	}
	text.WriteString("\n")
	before := followed(t, full, nil)
	for _, beside := range besides {
		say(beside.name, changed(before, followed(t, full, beside.other)))
	}
	golden.Equal(t, "testdata/planned.txt", text.String())
}

// besides are other things that the rows of a plan hand on.
var besides = []struct {
	name  string
	other func(*Config)
}{
	{"Job", func(c *Config) { c.Engine.Job = nil }},
	{"Visit", func(c *Config) { c.Engine.Job.History.Summary.Visit = 3 }},
	{"Software", func(c *Config) { c.Software = "other" }},
	{"Metadata", func(c *Config) { c.Metadata = true }},
	{"Session", func(c *Config) { c.Engine.Fetch.Session = new(login.Session) }},
	{"Header", func(c *Config) {
		c.Engine.Fetch.HTTP.Header = httpclient.Header{{Name: "Authorization", Value: "a"}}
	}},
	{"Block", func(c *Config) { c.Block = blocklist.Lists{nil} }},
	{"RenderPost", func(c *Config) { c.RenderPost = true }},
	{"Steps", func(c *Config) { c.Steps = render.Steps{Scroll: 1, Click: "a", Wait: render.Wait{Selector: "b"}} }},
	{"Screenshot", func(c *Config) { c.Screenshot = "full" }},
	{"PDF", func(c *Config) { c.PDF = true }},
}

// changed returns where two crawls differ.
func changed(before, after *Config) []string {
	type rooms struct {
		Engine  engine.Config
		Browser render.Options
	}
	return leaves.Changed(rooms{before.Engine, before.Browser}, rooms{after.Engine, after.Browser})
}

// TestArchived: the captures of a job have its salt, and digests as they are asked for.
func TestArchived(t *testing.T) {
	x := &warc.Exchange{URL: "http://a.test/", Response: []byte("a"), Parts: &warc.Parts{Status: 200, Payload: []byte("a")}}
	ids := make(map[warc.ID]bool)
	for salt, digest := range []warc.Algorithm{warc.SHA1, warc.SHA256, ""} {
		c := followed(t, full, func(c *Config) { c.Digest, c.Engine.Job.Salt[0] = digest, byte(salt) })
		a := c.Engine.Fetch.Archive
		ids[a.ID(x.URL, time.Time{})] = true
		want := string(cmp.Or(digest, warc.SHA256))
		if got := a.Encode(x, frontier.Capture{}, "text/html").Index.Digest; !strings.HasPrefix(got, want+":") {
			t.Errorf("digest %s, expected one of %s", got, want)
		}
	}
	if len(ids) != 3 {
		t.Errorf("%d identifiers of three jobs", len(ids))
	}
}

// TestRendering: pages are rendered by a browser, and what they share is in a cache that takes a
// sixteenth of the memory.
func TestRendering(t *testing.T) {
	r := followed(t, full, func(c *Config) { c.Engine.Memory = 16 << 10 }).Engine.Fetch.Render
	if cache := reflect.ValueOf(r.Cache).Elem().FieldByName("most").Int(); r.Browser == nil || cache != 1<<10 {
		t.Errorf("a cache of %d bytes: %+v", cache, r)
	}
}

// TestTabs: the engine counts the tabs that the browser has, which may be fewer than it asks for.
func TestTabs(t *testing.T) {
	c := &Config{Engine: engine.Config{Shares: budget.Split(budget.Default, 1)}, Browser: render.Options{Memory: 1}}
	if err := c.follow(&job.Plan{Scope: scope.Host, Assets: scope.AssetsNone, Rendering: "auto"}); err != nil {
		t.Fatal(err)
	}
	if c.Engine.Tabs != 1 {
		t.Errorf("%d tabs, expected 1", c.Engine.Tabs)
	}
}

// followed returns what the rooms get from the plan of a job, and from a change of their
// configuration.
func followed(t *testing.T, p job.Plan, change func(*Config)) *Config {
	t.Helper()
	c := &Config{Engine: engine.Config{Job: new(job.Job), Shares: budget.Split(budget.Default, 1)}}
	if change != nil {
		change(c)
	}
	if err := c.follow(&p); err != nil {
		t.Fatal(err)
	}
	return c
}

package crawl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/leaves"
	"github.com/weftcrawl/weft/internal/scope"
)

// ofJob are the fields of a plan that the job and its seeds go by, and no other room.
var ofJob = []string{"Version", "Begun", "Posts", "Guessed", "Added", "List"}

// TestPlanned checks where each field of a plan arrives. What arrives nowhere is lost, whatever the
// golden file says.
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
	before := followed(t, func(*job.Plan) {})
	var text strings.Builder
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
		paths := leaves.Changed(before.Engine, followed(t, other).Engine)
		if len(paths) == 0 {
			t.Errorf("%s is handed on to nobody", f.Name)
		}
		fmt.Fprintf(&text, "%s: %s\n", f.Name, strings.Join(paths, " "))
	}
	golden.Equal(t, "testdata/planned.txt", text.String())
}

// followed returns what the rooms get from the plan of a job.
func followed(t *testing.T, change func(*job.Plan)) *Config {
	t.Helper()
	p := job.Plan{Scope: scope.Host, Assets: scope.AssetsNone, Duplicates: "off", Seeds: []string{"http://a.test/"}}
	change(&p)
	c := &Config{Engine: engine.Config{Job: new(job.Job), Shares: budget.Split(budget.Default, 1)}}
	if err := c.follow(&p); err != nil {
		t.Fatal(err)
	}
	return c
}

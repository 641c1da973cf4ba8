package weft

import (
	"encoding/json"
	"reflect"
	"regexp"
	"time"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/flat"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/weburl"
)

// plan returns the frozen options of o, with its seeds.
func (o *Options) plan(seeds []engine.Seed) job.Plan {
	p := job.Plan{Version: Version, Begun: time.Now().UTC().Truncate(time.Second), List: o.SeedSeq != nil}
	for _, s := range seeds {
		p.Seeds = append(p.Seeds, s.URL.String())
		if s.Guessed {
			p.Guessed = append(p.Guessed, s.URL.String())
		}
	}
	p.Seeds, p.Posts = job.Union(p.Seeds), o.plannedPosts()
	from, to := reflect.ValueOf(o).Elem(), reflect.ValueOf(&p).Elem()
	for _, f := range job.Frozen {
		to.FieldByName(f.Name).Set(freeze(flat.Field(from, f.Name), to.FieldByName(f.Name).Type()))
	}
	return p
}

// plannedPosts returns Posts without what is secret in their URLs.
func (o *Options) plannedPosts() []Post {
	var all []Post
	for _, p := range o.Posts {
		if s, err := p.Read(); err == nil { // else the options are checked elsewhere
			p.URL = s.URL.Canonical().String()
		}
		all = append(all, p)
	}
	return all
}

// freeze returns an option as a plan has it: expressions and rules as text.
func freeze(v reflect.Value, as reflect.Type) reflect.Value {
	switch v := v.Interface().(type) {
	case []*regexp.Regexp:
		var texts []string
		for _, re := range v {
			texts = append(texts, re.String())
		}
		return reflect.ValueOf(job.Union(texts))
	case *Session:
		return reflect.ValueOf(v != nil)
	case weburl.RuleSet:
		return reflect.ValueOf(v.String())
	case []extract.Rule:
		var texts []string
		for _, r := range v {
			text, _ := json.Marshal(r) // texts and switches alone
			texts = append(texts, string(text))
		}
		return reflect.ValueOf(texts)
	}
	return v.Convert(as)
}

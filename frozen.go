package weft

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/weburl"
)

// frozen are the options that a job freezes, by the name of their fields: job.Frozen. What a plan
// has as text is converted: expressions, and the rules of Canon.

// Plan returns the frozen options of o: as given, and with the defaults filled in. Its error is an
// *OptionError.
func (o Options) Plan() (asked, plan job.Plan, err error) {
	c, err := o.check()
	if err != nil {
		return asked, plan, err
	}
	return c.asked.plan(nil), c.plan(c.seeds), nil
}

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
		to.FieldByName(f.Name).Set(freeze(from.FieldByName(f.Name), to.FieldByName(f.Name).Type()))
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

// thaw takes the frozen options of a plan into o. Its error is that of a damaged plan.
func (o *Options) thaw(p *job.Plan) error {
	from, to := reflect.ValueOf(p).Elem(), reflect.ValueOf(o).Elem()
	for _, f := range job.Frozen {
		v, err := unfreeze(from.FieldByName(f.Name), to.FieldByName(f.Name).Type())
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		to.FieldByName(f.Name).Set(v)
	}
	late, err := p.LateExclusions()
	o.Exclude = append(o.Exclude, late...)
	return err
}

// freeze returns an option as a plan has it.
func freeze(v reflect.Value, as reflect.Type) reflect.Value {
	switch v := v.Interface().(type) {
	case []*regexp.Regexp:
		var texts []string
		for _, re := range v {
			texts = append(texts, re.String())
		}
		return reflect.ValueOf(job.Union(texts))
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

// unfreeze is the reverse of freeze.
func unfreeze(v reflect.Value, as reflect.Type) (reflect.Value, error) {
	switch as {
	case reflect.TypeFor[[]*regexp.Regexp]():
		var all []*regexp.Regexp
		for _, s := range v.Interface().([]string) {
			re, err := regexp.Compile(s)
			if err != nil {
				return v, err
			}
			all = append(all, re)
		}
		return reflect.ValueOf(all), nil
	case reflect.TypeFor[[]extract.Rule]():
		var rules []extract.Rule
		for _, s := range v.Interface().([]string) {
			var r extract.Rule
			if err := json.Unmarshal([]byte(s), &r); err != nil {
				return v, err
			}
			rules = append(rules, r)
		}
		return reflect.ValueOf(rules), nil
	case reflect.TypeFor[weburl.RuleSet]():
		rules, err := weburl.ParseRules(v.String())
		return reflect.ValueOf(rules), err
	}
	return v.Convert(as), nil
}

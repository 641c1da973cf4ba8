package firecrawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/scrape"
)

// page has the formats that are made of a page. A crawl keeps it for those who ask for its pages.
type page struct {
	Formats  []scrape.Format `json:"formats,omitempty"`
	Whole    bool            `json:"whole,omitempty"`
	FullPage bool            `json:"full_page,omitempty"`
	Rules    []extract.Rule  `json:"rules,omitempty"`
}

// formats are those that need nothing but their name.
var formats = map[string]scrape.Format{
	"markdown": scrape.Markdown, "html": scrape.HTML, "rawHtml": scrape.Raw, "links": scrape.Links, "screenshot": scrape.Screenshot,
}

// others has the reasons for which there is no format, by its name.
var others = map[string]string{
	"summary": "there is no language model", "question": "there is no language model", "highlights": "there is no language model", "query": "there is no language model",
	"changeTracking": "a page is fetched once", "images": "expected links", "attributes": "expected json with a selector such as img::attr(src)",
	"branding": "there is no such profile", "product": "there is no such profile", "menu": "there is no such profile",
	"audio": "media are not read", "video": "media are not read",
}

// readFormats reads formats: names, or objects with a type.
func (p *page) readFormats(all []json.RawMessage) error {
	for _, raw := range all {
		var name string
		var o struct {
			Type     string          `json:"type"`
			FullPage bool            `json:"fullPage"`
			Quality  json.RawMessage `json:"quality"`
			Viewport json.RawMessage `json:"viewport"`
			Prompt   string          `json:"prompt"`
			Schema   json.RawMessage `json:"schema"`
			Checked  bool            `json:"checkPromptInjection"`
		}
		if json.Unmarshal(raw, &name) != nil {
			if err := json.Unmarshal(raw, &o); err != nil {
				return errors.New(expected(err, "names, or objects with a type"))
			}
			name = o.Type
		}
		format, known := formats[name]
		switch why := others[name]; {
		case name == "json":
			if o.Prompt != "" {
				return unsupported("formats: json with a prompt", "there is no language model: give properties of the schema a selector")
			}
			rule, err := ruleOf(o.Schema)
			if err != nil {
				return err
			}
			format, p.Rules = scrape.Items, []extract.Rule{rule}
		case why != "":
			return unsupported("formats: "+name, why)
		case !known:
			return unsupported("formats: "+short(name), "Weft knows no such format")
		case o.Quality != nil || o.Viewport != nil:
			return unsupported("formats: screenshot with a quality or viewport", "it is a PNG of 1280 by 800 pixels")
		}
		p.FullPage = p.FullPage || o.FullPage
		if !slices.Contains(p.Formats, format) {
			p.Formats = append(p.Formats, format)
		}
	}
	return nil
}

// schema is the part of a JSON Schema that fields are made of. Selector is Weft's own.
type schema struct {
	Type       json.RawMessage   `json:"type"`
	Format     string            `json:"format"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Required   []string          `json:"required"`
	Selector   string            `json:"selector"`
	Pattern    string            `json:"match"`
}

// ruleOf makes a rule of a JSON Schema whose properties have a selector.
func ruleOf(raw json.RawMessage) (extract.Rule, error) {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return extract.Rule{}, wrong("formats: json: schema: %s", expected(err, "a JSON Schema of an object"))
	}
	fields, err := s.fields("", 0)
	if err == nil && len(fields) == 0 {
		err = wrong("formats: json: schema: expected properties with a selector")
	}
	rule := extract.Rule{Fields: fields}
	if err == nil {
		if _, bad := extract.New([]extract.Rule{rule}, false); bad != nil {
			err = wrong("formats: json: schema: %s", bad)
		}
	}
	return rule, err
}

// mostDepth bounds objects in objects: extraction has the same bound.
const mostDepth = 8

// fields are those of the properties of an object.
func (s *schema) fields(path string, depth int) (all []extract.Field, err error) {
	if depth > mostDepth {
		return nil, wrong("formats: json: schema: objects more than %d deep", mostDepth)
	}
	required := make(map[string]bool, len(s.Required))
	for _, name := range s.Required {
		required[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		at := path + short(name)
		f := extract.Field{Name: name, Select: p.Selector, Match: p.Pattern, Required: required[name]}
		if f.Select == "" {
			return nil, unsupported("formats: json: schema: "+at+" without a selector", `there is no language model: give it "selector", in CSS or XPath`)
		}
		of := &p
		if p.kind() == "array" {
			if f.List = true; p.Items == nil {
				return nil, wrong("formats: json: schema: %s: expected items", at)
			}
			of = p.Items
		}
		switch kind := of.kind(); kind {
		case "object":
			if f.Fields, err = of.fields(at+".", depth+1); err != nil {
				return nil, err
			}
		case "number", "integer":
			f.Type = extract.Number
		case "string", "":
			f.Type = map[string]extract.Type{"uri": extract.URL, "date": extract.Date, "date-time": extract.Date}[of.Format]
		default:
			return nil, unsupported(fmt.Sprintf("formats: json: schema: %s of type %s", at, short(kind)), "expected string, number, integer, array or object")
		}
		all = append(all, f)
	}
	return all, nil
}

// kind is the type of a value, without null.
func (s *schema) kind() string {
	var one string
	var many []string
	if json.Unmarshal(s.Type, &one) == nil {
		return one
	}
	if json.Unmarshal(s.Type, &many) == nil {
		many = slices.DeleteFunc(many, func(t string) bool { return t == "null" })
		if len(many) == 1 {
			return many[0]
		}
	}
	if s.Type == nil {
		return ""
	}
	return string(s.Type)
}

package record

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Item is a line of items.jsonl: what rules have found on a page. See package extract.
type Item struct {
	URL        string      `json:"url"`
	Type       string      `json:"type,omitempty"` // name of the rule; absent if it has none
	Fields     Fields      `json:"fields,omitempty"`
	Missing    []string    `json:"missing,omitempty"`    // required fields without a value
	Structured *Structured `json:"structured,omitempty"` // the page's own words for machines
	Notes      []string    `json:"notes,omitempty"`      // cuts and faults
	Visit      int         `json:"visit,omitempty"`      // from the second on
}

// FieldName returns the name of a field after that of the rule.
func (i *Item) FieldName(name string) string {
	if i.Type == "" {
		return name
	}
	return i.Type + "." + name
}

// JSONLine returns the item as a line of JSON. It fails if a program has put a value into Fields
// that JSON does not have.
func (i *Item) JSONLine() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(i)
	return b.Bytes(), err
}

// Structured is the structured data of a page, by format. Absent: it has none of a
// format.
type Structured struct {
	JSONLD    []json.RawMessage   `json:"json_ld,omitempty"`   // objects, one by one
	Microdata []Thing             `json:"microdata,omitempty"` // items of their own
	RDFa      []Thing             `json:"rdfa,omitempty"`      // of RDFa Lite
	OpenGraph map[string][]string `json:"open_graph,omitempty"`
	Twitter   map[string][]string `json:"twitter,omitempty"`
	// DublinCore has the elements and terms of Dublin Core: dc.title, dcterms.created.
	DublinCore map[string][]string `json:"dublin_core,omitempty"`
	Meta       map[string]string   `json:"meta,omitempty"` // by name, in lower case: the first of each
}

// Empty reports whether a page says nothing.
func (s *Structured) Empty() bool {
	return len(s.JSONLD)+len(s.Microdata)+len(s.RDFa)+len(s.OpenGraph)+len(s.Twitter)+len(s.DublinCore)+len(s.Meta) == 0
}

// Thing is an item of microdata, or a resource of RDFa.
type Thing struct {
	Type       []string `json:"type,omitempty"`
	ID         string   `json:"id,omitempty"`
	Properties Fields   `json:"properties,omitempty"` // each a list of texts and Things
}

// Fields are values by their names, in order. A value is a string, a json.Number, a Fields, a
// Thing, or a list of these.
type Fields []Value

// Value is one of Fields.
type Value struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Get returns the value of a name; nil: there is none.
func (f Fields) Get(name string) any {
	for _, v := range f {
		if v.Name == name {
			return v.Value
		}
	}
	return nil
}

// Text returns the value of a name if it is a text or a number; "": it is not.
func (f Fields) Text(name string) string {
	switch v := f.Get(name).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// MarshalJSON writes an object.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, v := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(v.Name); err != nil {
			return nil, err
		}
		b.Bytes()[b.Len()-1] = ':'
		if err := e.Encode(v.Value); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object.
func (f *Fields) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errors.New("expected an object of fields"))
	}
	*f = Fields{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		v, err := valueOf(raw)
		if err != nil {
			return err
		}
		*f = append(*f, Value{name.(string), v})
	}
	return nil
}

// valueOf reads a value of Fields.
func valueOf(raw json.RawMessage) (any, error) {
	switch {
	case len(raw) > 0 && raw[0] == '{':
		var f Fields
		err := json.Unmarshal(raw, &f)
		return f, err
	case len(raw) > 0 && raw[0] == '[':
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return nil, err
		}
		list := []any{}
		for _, part := range parts {
			v, err := valueOf(part)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

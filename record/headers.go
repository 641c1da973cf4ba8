package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Bounds on the header fields of a record.
const (
	MaxHeaderFields = 32      // names
	maxHeaderValues = 16      // of a name
	maxHeaderValue  = 1 << 10 // bytes
	maxHeaderBytes  = 8 << 10 // of all values of a record
)

// Headers are some header fields of a response: the values of each by its name in lower case. JSON
// has one value as a text, several as a list.
type Headers map[string][]string

// tokenCharacters are those of a token, in lower case: RFC 9110, section 5.6.2.
const tokenCharacters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"

// HeaderNames returns the names of header fields in lower case. Errors: one is no name, or twice
// there, or they are too many.
func HeaderNames(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case lower == "" || strings.Trim(lower, tokenCharacters) != "":
			return nil, fmt.Errorf("%.64q, expected the name of a header field, such as Server", name)
		case slices.Contains(all, lower):
			return nil, fmt.Errorf("header field %s is named twice", name)
		case len(all) == MaxHeaderFields:
			return nil, fmt.Errorf("%d header fields, expected at most %d", len(names), MaxHeaderFields)
		}
		all = append(all, lower)
	}
	return all, nil
}

// Add adds values of a field, whose name is in lower case, as far as a record keeps them. A nil map
// becomes one.
func (h *Headers) Add(name string, values []string) {
	if len(values) == 0 {
		return
	}
	if *h == nil {
		*h = make(Headers)
	}
	left := maxHeaderBytes
	for _, had := range *h {
		for _, value := range had {
			left -= len(value)
		}
	}
	for _, value := range values[:min(len(values), maxHeaderValues)] {
		if most := min(maxHeaderValue, left); len(value) > most {
			value = strings.ToValidUTF8(value[:most], "")
		}
		left -= len(value)
		(*h)[name] = append((*h)[name], value)
	}
}

// Text returns the values of a field, joined as RFC 9110, section 5.2, joins them; "" for none.
func (h Headers) Text(name string) string { return strings.Join(h[name], ", ") }

// UnmarshalJSON reads an object.
func (h *Headers) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*h = nil
	for name, raw := range all {
		values := make([]string, 1)
		into := any(&values[0])
		if len(raw) > 0 && raw[0] == '[' {
			into = &values
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return err
		}
		if *h == nil {
			*h = make(Headers)
		}
		(*h)[name] = values
	}
	return nil
}

package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/record"
)

// structured adds structured data: each value with the path of its property. Their order does not
// count.
func (f *facts) structured(s *record.Structured) {
	if s == nil {
		return
	}
	for _, object := range s.JSONLD {
		var v any
		d := json.NewDecoder(bytes.NewReader(object))
		d.UseNumber()
		if d.Decode(&v) == nil {
			f.value(typeOfObject(v), v, 0)
		}
	}
	for _, things := range [][]record.Thing{s.Microdata, s.RDFa} {
		for i := range things {
			f.thing("", &things[i], 0)
		}
	}
	for _, metas := range []map[string][]string{s.OpenGraph, s.Twitter, s.DublinCore} {
		for name, values := range metas {
			for _, value := range values {
				f.datum(name, value)
			}
		}
	}
}

// deepest bounds the nesting of structured data that is compared.
const deepest = 16

func typeOfObject(v any) string {
	if object, ok := v.(map[string]any); ok {
		switch of := object["@type"].(type) {
		case string:
			return of
		case []any:
			if len(of) > 0 {
				return fmt.Sprint(of[0])
			}
		}
	}
	return "json-ld"
}

func (f *facts) value(path string, v any, depth int) {
	if depth > deepest || len(path) > 200 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, inside := range v {
			if name != "@context" {
				f.value(path+"."+name, inside, depth+1)
			}
		}
	case []any:
		for _, inside := range v {
			f.value(path, inside, depth+1)
		}
	case nil:
	default:
		f.datum(path, fmt.Sprint(v))
	}
}

func (f *facts) thing(path string, t *record.Thing, depth int) {
	if depth > deepest || len(path) > 200 {
		return
	}
	of := "item"
	if len(t.Type) > 0 {
		of = t.Type[0][strings.LastIndexAny(t.Type[0], "/#")+1:]
	}
	if path == "" {
		path = of
	}
	for _, property := range t.Properties {
		values, isList := property.Value.([]any)
		if !isList {
			values = []any{property.Value}
		}
		for _, v := range values {
			if inside, is := v.(record.Thing); is {
				f.thing(path+"."+property.Name, &inside, depth+1)
				continue
			}
			f.datum(path+"."+property.Name, fmt.Sprint(v))
		}
	}
}

// datum adds a value. A token is none, as nobody reads it.
func (f *facts) datum(name, value string) {
	value = oneLine(value)
	if isOpaque(value) {
		return
	}
	if strings.Contains(value, "://") {
		value = stable(value)
	}
	f.add(Data, name, value)
}

// isPrice reports whether a property is an amount of money.
func isPrice(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"price", "amount", "salary", "fee"}, func(word string) bool { return strings.Contains(name, word) })
}

// bodyInWords describes a body that is no text.
func bodyInWords(mediaType string, body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%s, %s, SHA-256 %s", mediaType, humanize.Bytes(uint64(len(body))), hex.EncodeToString(sum[:8]))
}

// wordsInWords is "1,204 words".
func wordsInWords(n int) string {
	if n == 1 {
		return "1 word"
	}
	return humanize.Comma(int64(n)) + " words"
}

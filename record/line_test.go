package record_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/weftcrawl/weft/record"
)

// A line is the output of encoding/json for a record, whichever of its fields are empty.
func TestLine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var r record.Record
		v := reflect.ValueOf(&r).Elem()
		for i := range v.NumField() {
			if random.IntN(3) > 0 {
				fillIn(t, random, v.Field(i))
			}
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&r); err != nil {
			t.Fatal(err)
		}
		if got := r.Line(); !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("line\n%swant\n%s", got, want.Bytes())
		}
	}
}

// texts are strings that JSON writes in different ways.
var texts = []string{"", "a", "?a=1&b=<c>", "\"\\\"", "a\tb\n\x00\x1f", "\x7f", "~ ", "ü€😀", "\xff\xc3", "\u2028\u2029\ufeff"}

// fillIn sets a field of a record to any value that it may have.
func fillIn(t *testing.T, random *rand.Rand, field reflect.Value) {
	switch v := field.Addr().Interface().(type) {
	case *float64:
		*v = record.Milliseconds(time.Duration(random.Int64N(int64(1) << random.IntN(63))))
	case *time.Time:
		*v = time.Unix(random.Int64N(1<<33), random.Int64N(2)*random.Int64N(1e9)).UTC()
	case *[]string:
		*v = texts[random.IntN(len(texts)):]
	case *record.Headers:
		for i := range random.IntN(3) {
			v.Add(texts[random.IntN(len(texts))], texts[i+random.IntN(len(texts)-i):])
		}
	case *bool:
		*v = true
	case **record.Rendered:
		if *v = nil; random.IntN(2) == 0 {
			*v = &record.Rendered{Reason: texts[random.IntN(len(texts))], MS: random.Int64N(1000), Failed: texts}
		}
	default:
		switch field.Kind() {
		case reflect.String:
			field.SetString(texts[random.IntN(len(texts))])
		case reflect.Int, reflect.Int64:
			field.SetInt(int64(random.Uint64() >> (1 + random.IntN(62))))
		default:
			t.Fatalf("a field of type %s, which the line may not have", field.Type())
		}
	}
}

package http2

import (
	"bytes"
	"slices"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// FuzzFieldLen: blocks that the decoder takes are passed over field by field to their very end, and
// so resizing of the table is found where it is.
func FuzzFieldLen(f *testing.F) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.SetMaxDynamicTableSize(100)
	for _, field := range []Field{
		{Name: ":status", Value: "200"}, {Name: "a", Value: "b"}, {Name: "a", Value: "b"}, {Name: "server", Value: "x"},
		{Name: "cookie", Value: "secret", Sensitive: true}, {Name: "long", Value: string(make([]byte, 5000))},
	} {
		e.WriteField(field)
	}
	f.Add(block.Bytes())
	f.Add([]byte("\x3f\x45\x20\x88\x00\x01a\x00\x1f\x02\x01b"))
	f.Fuzz(func(t *testing.T, block []byte) {
		var parts []int
		for rest := block; len(rest) > 0; rest = rest[parts[len(parts)-1]:] {
			parts = append(parts, fieldLen(rest))
			if n := parts[len(parts)-1]; n < 1 || n > len(rest) {
				t.Fatalf("a field of %d bytes of %d", n, len(rest))
			}
		}
		decode := func(lens []int) (fields []Field, err error) {
			d := hpack.NewDecoder(tableSize, func(f Field) { fields = append(fields, f) })
			for rest := block; len(lens) > 0 && err == nil; lens = lens[1:] {
				_, err = d.Write(rest[:lens[0]])
				if rest = rest[lens[0]:]; err == nil {
					err = d.Close()
				}
			}
			return fields, err
		}
		whole, err := decode([]int{len(block)})
		if err != nil {
			return
		}
		if each, err := decode(parts); err != nil || !slices.Equal(each, whole) {
			t.Errorf("in parts of %v: %v, %v; expected %v", parts, each, err, whole)
		}
	})
}

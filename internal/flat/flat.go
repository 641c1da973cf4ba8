// Package flat finds options by their names, which leave out their groups: "MaxBody" is the field
// HTTP.MaxBody.
package flat

import (
	"fmt"
	"iter"
	"reflect"
)

// Fields yields the options of a struct: its fields, but those of a group in its place. Their Index
// leads from the struct.
func Fields(options reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for f := range options.Fields() {
			if !isGroup(f) {
				if !yield(f) {
					return
				}
				continue
			}
			for in := range f.Type.Fields() {
				in.Index = append(f.Index[:len(f.Index):len(f.Index)], in.Index...)
				if !yield(in) {
					return
				}
			}
		}
	}
}

// Field returns an option of a struct, which must have it.
func Field(options reflect.Value, name string) reflect.Value {
	for f := range Fields(options.Type()) {
		if f.Name == name {
			return options.FieldByIndex(f.Index)
		}
	}
	panic(fmt.Sprintf("%s has no option %s", options.Type(), name))
}

// isGroup reports whether a field is a group, which has the name of its type. Hooks are one option.
func isGroup(f reflect.StructField) bool {
	return f.Type.Kind() == reflect.Struct && f.Name == f.Type.Name() && f.Name != "Hooks"
}

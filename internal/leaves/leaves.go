// Package leaves compares structs of options by their leaves, so that a test sees where each option
// arrives.
package leaves

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Changed returns the paths of the exported leaves in which two structs of one type differ, sorted.
// Of a function, an interface and a pointer it sees only whether it is nil.
func Changed(a, b any) []string {
	was, is := make(map[string]string), make(map[string]string)
	collect(reflect.ValueOf(a), "", was)
	collect(reflect.ValueOf(b), "", is)
	maps.DeleteFunc(is, func(path, text string) bool { return was[path] == text })
	return slices.Sorted(maps.Keys(is))
}

func collect(v reflect.Value, path string, into map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		if v.NumField() == 0 {
			into[path] = ""
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				under := path + "." + f.Name
				if path == "" {
					under = f.Name
				}
				collect(v.Field(i), under, into)
			}
		}
	case reflect.Func, reflect.Interface, reflect.Pointer:
		into[path] = fmt.Sprint(v.IsNil())
	default:
		into[path] = fmt.Sprint(v.Interface())
	}
}

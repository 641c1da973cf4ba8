// Package leaves compares structs of options by their leaves, so that a test sees where each option
// arrives.
package leaves

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Changed returns the paths of the exported leaves in which two structs of one type differ, sorted.
// Of a function and an interface it sees only whether it is nil; of a pointer that, too, and what
// both have behind it if that is a struct. It knows no circles.
func Changed(a, b any) []string {
	was, is := make(map[string]string), make(map[string]string)
	collect(reflect.ValueOf(a), "", was)
	collect(reflect.ValueOf(b), "", is)
	var changed []string
	for path, text := range is {
		if before, had := was[path]; had && before != text {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

func collect(v reflect.Value, path string, into map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				collect(v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), into)
			}
		}
	case reflect.Pointer:
		into[path] = fmt.Sprint(v.IsNil())
		if v.Type().Elem().Kind() == reflect.Struct && !v.IsNil() {
			collect(v.Elem(), path, into)
		}
	case reflect.Func, reflect.Interface:
		into[path] = fmt.Sprint(v.IsNil())
	default:
		into[path] = fmt.Sprint(v.Interface())
	}
}

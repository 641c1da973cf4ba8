package flat_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/flat"
)

type Limits struct{ Pages, Bytes int }

type Hooks struct{ OnPage func() }

type options struct {
	Seeds  []string
	Limits Limits
	Hooks  Hooks
	Other  Limits
}

func TestFields(t *testing.T) {
	o := options{Limits: Limits{Pages: 1, Bytes: 2}}
	v := reflect.ValueOf(&o).Elem()
	var names []string
	for f := range flat.Fields(v.Type()) {
		names = append(names, f.Name)
		if v.FieldByIndex(f.Index).Type() != f.Type {
			t.Errorf("the index of %s leads to another field", f.Name)
		}
	}
	if want := []string{"Seeds", "Pages", "Bytes", "Hooks", "Other"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	flat.Field(v, "Bytes").SetInt(3)
	if o.Limits.Bytes != 3 {
		t.Errorf("got %+v", o)
	}
}

// TestFieldUnknown: a name that a table has and the options have not is a mistake of this program.
func TestFieldUnknown(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an option that the struct does not have")
		}
	}()
	flat.Field(reflect.ValueOf(options{}), "Limits")
}

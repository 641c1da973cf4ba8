package httpclient_test

import (
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/httpclient"
)

// TestHeader: Header has the methods of http.Header, with the same results, and becomes one.
func TestHeader(t *testing.T) {
	type header interface {
		Add(name, value string)
		Set(name, value string)
		Del(name string)
		Get(name string) string
		Values(name string) []string
	}
	for _, do := range []func(h header){
		func(header) {},
		func(h header) { h.Set("accept", "x") },
		func(h header) { h.Set("X-New", "x") },
		func(h header) { h.Add("Link", "c"); h.Add("x-new", "y") },
		func(h header) { h.Set("LINK", "only") },
		func(h header) { h.Del("link"); h.Del("none") },
		func(h header) { h.Del("Accept"); h.Set("Accept", ""); h.Add("Accept", "z") },
	} {
		ours := httpclient.Header{{Name: "Link", Value: "a"}, {Name: "accept", Value: "*/*"}, {Name: "Link", Value: "b"}}
		theirs := http.Header{"Link": {"a", "b"}, "Accept": {"*/*"}}
		do(&ours)
		do(theirs)
		for _, name := range []string{"Link", "ACCEPT", "x-new", "none"} {
			if ours.Get(name) != theirs.Get(name) || !slices.Equal(ours.Values(name), theirs.Values(name)) {
				t.Errorf("%s: %q, expected %q", name, ours.Values(name), theirs.Values(name))
			}
		}
		if got := ours.HTTP(); !reflect.DeepEqual(got, theirs) {
			t.Errorf("%v, expected %v", got, theirs)
		}
		if again := httpclient.HeaderOf(theirs); !reflect.DeepEqual(again.HTTP(), theirs) {
			t.Errorf("%v, expected %v", again, theirs)
		}
	}
	if got, want := httpclient.HeaderOf(http.Header{"B": {"1", "2"}, "A": {"3"}}), (httpclient.Header{{Name: "A", Value: "3"}, {Name: "B", Value: "1"}, {Name: "B", Value: "2"}}); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	var none httpclient.Header
	none.Set("A", "b")
	if none.Get("a") != "b" {
		t.Errorf("%v", none)
	}
}

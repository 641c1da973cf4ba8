package fetch

import (
	"testing"

	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// TestCacheKey: what a page asks for in other words than another is not shared with it.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	u, err := weburl.Parse("http://a.test/api")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, f := range []render.Field{{Name: "X-A", Value: "a"}, {Name: "Accept", Value: "b"}, {Name: "Accept-Language", Value: "b"}, {Name: "Origin", Value: "b"}, {Name: "accept", Value: "c"}} {
		key := cacheKey(u.String(), &render.Request{Method: "GET", Header: []render.Field{f}}, false)
		if other, known := keys[key]; known || key == "" {
			t.Errorf("%v: the key %q, as of %s", f, key, other)
		}
		keys[key] = f.Name
	}
	if a, b := cacheKey(u.String(), &render.Request{Method: "GET"}, false), cacheKey(u.String(), &render.Request{Method: "GET", Header: []render.Field{{Name: "X-A", Value: "x"}}}, false); a != b {
		t.Errorf("keys %q and %q", a, b)
	}
	for _, q := range []render.Request{{Method: "POST"}, {Method: "GET", Header: []render.Field{{Name: "Range", Value: "bytes=0-1"}}}} {
		if key := cacheKey(u.String(), &q, false); key != "" {
			t.Errorf("%+v: key %q", q, key)
		}
	}
}

package links

import (
	"slices"
	"testing"
)

func TestRobotsTag(t *testing.T) {
	for name, c := range map[string]struct {
		values     []string
		index      bool
		follow     bool
		directives []string
	}{
		"no field":              {nil, true, true, nil},
		"one":                   {[]string{"noindex"}, false, true, []string{"noindex"}},
		"several in a field":    {[]string{"NoFollow , noarchive,,nofollow"}, true, false, []string{"nofollow", "noarchive"}},
		"several fields":        {[]string{"noindex", "nofollow"}, false, false, []string{"noindex", "nofollow"}},
		"none":                  {[]string{"none"}, false, false, []string{"noindex", "nofollow"}},
		"another's":             {[]string{"googlebot: none"}, true, true, nil},
		"ours":                  {[]string{"Weft : nofollow"}, true, false, nil},
		"everybody's by *":      {[]string{"*: noindex"}, false, true, []string{"noindex"}},
		"a list of another's":   {[]string{"googlebot: noindex, nofollow", "noarchive"}, true, true, []string{"noarchive"}},
		"two in a field":        {[]string{"googlebot: noindex, weft: nofollow, noarchive"}, true, false, nil},
		"a date is no agent":    {[]string{"unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"}, false, true, []string{"noindex"}},
		"nor one with a comma":  {[]string{"unavailable_after: Saturday, 25-Jun-26 15:00:00 UTC, nofollow"}, true, false, []string{"nofollow"}},
		"nor for one crawler":   {[]string{"weft: unavailable_after: Sat, 25 Jun 2026 15:00:00 GMT, nofollow"}, true, false, nil},
		"nor for another":       {[]string{"googlebot: unavailable_after: Sat, 25 Jun 2026 15:00:00 GMT, nofollow"}, true, true, nil},
		"nor a time alone":      {[]string{"unavailable_after: 25 Jun 2026, 15:00:00, none"}, false, false, []string{"noindex", "nofollow"}},
		"nor an unknown limit":  {[]string{"max-foo: 3, nofollow"}, true, false, []string{"nofollow"}},
		"nor are two words":     {[]string{"some text: x, nofollow"}, true, false, []string{"nofollow"}},
		"nor is nothing":        {[]string{": x, nofollow"}, true, false, []string{"nofollow"}},
		"nor is a value":        {[]string{"max-snippet: 20, nofollow"}, true, false, []string{"max-snippet:20", "nofollow"}},
		"unknown words":         {[]string{"nothing, \x00\xff, noindexx"}, true, true, nil},
		"white space separates": {[]string{"noindex nofollow"}, false, false, []string{"noindex", "nofollow"}},
	} {
		r := RobotsTag(c.values, "weft/1.0 (+https://example.org/)")
		if r.NoIndex == c.index || r.NoFollow == c.follow || !slices.Equal(r.Directives, c.directives) {
			t.Errorf("%s: %q: %+v", name, c.values, r)
		}
	}
	if r := RobotsTag([]string{": none", "weft: none"}, ""); r.NoIndex || r.NoFollow {
		t.Errorf("without a name: %+v", r)
	}
	both := RobotsTag([]string{"noindex, noarchive"}, "")
	both.Add(RobotsTag([]string{"noarchive, nofollow"}, ""))
	if want := []string{"noindex", "noarchive", "nofollow"}; !both.NoIndex || !both.NoFollow || !slices.Equal(both.Directives, want) {
		t.Errorf("added: %+v", both)
	}
}

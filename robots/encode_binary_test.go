package robots_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/robots"
)

func TestBinary(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":               "",
		"no rules for us":       "User-agent: other\nDisallow: /",
		"rules":                 "User-agent: *\nDisallow: /a*b$ # why\n\nallow : /a/%7e/é\nDisallow:\nDISALLOW:/ \xff x:y",
		"a delay of 0":          "User-agent: *\nCrawl-delay: 0",
		"a delay":               "User-agent: *\nCrawl-delay: 2.5\nDisallow: /",
		"two groups":            "User-agent: weft\nAllow: /long\nUser-agent: *\nDisallow: /\nUser-agent: weft\nDisallow: /lo\nAllow: /lo",
		"a very long rule":      "User-agent: *\nDisallow: /" + strings.Repeat("a%2f", 100_000),
		"spaces that are wider": "User-agent: *\nDisallow:\u00a0/a\u00a0",
	} {
		t.Run(name, func(t *testing.T) {
			want := rules(body)
			data, err := want.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > len(body)+20 {
				t.Errorf("%d bytes for a file of %d", len(data), len(body))
			}
			got := rules("User-agent: *\nCrawl-delay: 1\nDisallow: /") // all of this goes
			if err := got.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			for cut := range min(len(data), 100) {
				before := got
				if err := got.UnmarshalBinary(data[:cut]); err == nil || !reflect.DeepEqual(got, before) {
					t.Errorf("of the first %d of %d bytes: %v, %+v", cut, len(data), err, got)
				}
			}
		})
	}
}

func TestDamagedBinary(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "robots: encoded rules: cut short"},
		{"of a later version", "\x02\x00\x00", "robots: rules of version 2, expected 1"},
		{"more rules than bytes", "\x01\x00\x7f", "robots: encoded rules: 127 where at most 3 is expected"},
		{"fewer rules than announced", "\x01\x00\x02\x01\x06allow:", "robots: encoded rules: cut short"},
		{"a text longer than the rest", "\x01\x00\x01\x01\x08allow:", "robots: encoded rules: cut short"},
		{"a number without end", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "robots: encoded rules: cut short"},
		{"no rule", "\x01\x00\x01\x01\x06allows", `robots: encoded rules: "allows" where a rule is expected`},
		{"more after the end", "\x01\x00\x00\x00", "robots: encoded rules: 1 bytes after the last rule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r robots.Rules
			if err := r.UnmarshalBinary([]byte(c.data)); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// FuzzBinary: encoding and decoding leaves the rules of any robots.txt the same; any bytes decode
// to an error or to rules of which that is true as well.
func FuzzBinary(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /%7e\nCrawl-delay: 1.5"), []byte("\x01\x00\x01\x01\x08allow:/x"))
	f.Add([]byte("User-agent: weft\rUser-agent: x\r\n\r\nAllow: /\xff\nDisallow:/"), []byte("\x01\x05\x02\x09\x09disallow:\x02\x0fAllow : /\xff%7e*$"))
	f.Fuzz(func(t *testing.T, body, data []byte) {
		same := func(want robots.Rules) {
			encoded, err := want.AppendBinary([]byte("before"))
			if err != nil {
				t.Fatal(err)
			}
			var got robots.Rules
			if err := got.UnmarshalBinary(encoded[len("before"):]); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v; %+v, want %+v", err, got, want)
			}
		}
		same(robots.Parse(body).Agent("weft"))
		var decoded robots.Rules
		if decoded.UnmarshalBinary(data) == nil {
			same(decoded)
		}
	})
}

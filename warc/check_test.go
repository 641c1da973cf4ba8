package warc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// checked returns the faults of a file.
func checked(t *testing.T, file []byte) (faults []string) {
	t.Helper()
	c := NewChecker()
	report := func(f Fault) { faults = append(faults, f.Err.Error()) }
	if err := c.File("a.warc", bytes.NewReader(file), report); err != nil {
		t.Fatal(err)
	}
	c.End(report)
	return faults
}

// record writes a record with some fields.
func record(id int, fields ...string) string {
	head := "WARC/1.1\r\n"
	for _, f := range fields {
		head += f + "\r\n"
	}
	return fmt.Sprintf("%sWARC-Record-ID: <urn:%d>\r\nContent-Length: 0\r\n\r\n\r\n\r\n", head, id)
}

// TestCheckFields: the fields that the standard demands, once, and dates in UTC.
func TestCheckFields(t *testing.T) {
	const date, url = "WARC-Date: 2026-11-22T08:00:00Z", "WARC-Target-URI: http://example.org/"
	of := func(kind string) string { return "WARC-Type: " + kind }
	for name, c := range map[string]struct {
		fields []string
		want   string
	}{
		"a response":             {[]string{of("response"), date, url}, ""},
		"a response without URL": {[]string{of("response"), date}, "no WARC-Target-URI"},
		"a request":              {[]string{of("request"), date}, "no WARC-Target-URI"},
		"a resource":             {[]string{of("resource"), date}, "no WARC-Target-URI"},
		"a conversion":           {[]string{of("conversion"), date}, "no WARC-Target-URI"},
		"a continuation":         {[]string{of("continuation"), date}, "no WARC-Target-URI"},
		"warcinfo needs none":    {[]string{of("warcinfo"), date}, ""},
		"nor does metadata":      {[]string{of("metadata"), date}, ""},
		"another type":           {[]string{of("x-own"), date}, ""},
		"no type":                {[]string{date, url}, "no WARC-Type"},
		"no date":                {[]string{of("response"), url}, "no WARC-Date"},
		"an offset": {[]string{of("response"), url, "WARC-Date: 2026-11-22T08:00:00+01:00"},
			`WARC-Date "2026-11-22T08:00:00+01:00", expected a date in UTC such as 2026-11-22T12:00:00Z`},
		"an offset of zero": {[]string{of("response"), url, "WARC-Date: 2026-11-22T08:00:00+00:00"},
			`WARC-Date "2026-11-22T08:00:00+00:00", expected a date in UTC such as 2026-11-22T12:00:00Z`},
		"no zone": {[]string{of("response"), url, "WARC-Date: 2026-11-22T08:00:00"},
			`WARC-Date "2026-11-22T08:00:00", expected a date in UTC such as 2026-11-22T12:00:00Z`},
		"no date at all": {[]string{of("response"), url, "WARC-Date: yesterday"},
			`WARC-Date "yesterday", expected a date in UTC such as 2026-11-22T12:00:00Z`},
		"a day":         {[]string{of("response"), url, "WARC-Date: 2026-11-22"}, ""},
		"a minute":      {[]string{of("response"), url, "WARC-Date: 2026-11-22T08:00Z"}, ""},
		"nanoseconds":   {[]string{of("response"), url, "WARC-Date: 2026-11-22T08:00:00.123456789Z"}, ""},
		"a URL twice":   {[]string{of("response"), date, url, url}, "2 fields WARC-Target-URI, expected one"},
		"several other": {[]string{of("response"), date, url, "WARC-Concurrent-To: <urn:a>", "WARC-Concurrent-To: <urn:b>", "WARC-Protocol: h2", "WARC-Protocol: tls/1.3"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(checked(t, []byte(record(1, c.fields...))), "; "); got != c.want {
				t.Errorf("%s, expected %s", got, c.want)
			}
		})
	}
}

// TestCheckPacked: plain records and gzip members do not make one file.
func TestCheckPacked(t *testing.T) {
	fields := []string{"WARC-Type: metadata", "WARC-Date: 2026-11-22T08:00:00Z"}
	one, two, three := record(1, fields...), record(2, fields...), record(3, fields...)
	member := func(s string) string { return string(zipped(s)) }
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"plain":                    {one + two + three, nil},
		"members":                  {member(one) + member(two) + member(three), nil},
		"plain behind members":     {member(one) + two + three, []string{"plain record behind a gzip member, expected a member"}},
		"a member behind plain":    {one + member(two) + member(three), []string{"gzip member behind a plain record, expected a plain record"}},
		"a plain one amid members": {member(one) + two + member(three), []string{"plain record behind a gzip member, expected a member", "gzip member behind a plain record, expected a plain record"}},
	} {
		if got := checked(t, []byte(c.file)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}

// TestCheckRevisits: a revisit whose original can be found is no fault; one of an original that is
// in no file is.
func TestCheckRevisits(t *testing.T) {
	const date, url, sum = "WARC-Date: 2026-11-22T08:00:00Z", "WARC-Target-URI: http://example.org/", "WARC-Payload-Digest: md5:900150983cd24fb0d6963f7d28e17f72"
	const same, unchanged = "WARC-Profile: " + SamePayload, "WARC-Profile: " + NotModified
	original := record(1, "WARC-Type: response", date, url, "WARC-Payload-Digest: md5:d41d8cd98f00b204e9800998ecf8427e") +
		record(2, "WARC-Type: revisit", date, url, same, "WARC-Refers-To: <urn:1>")
	for name, c := range map[string]struct {
		fields []string
		gone   bool
	}{
		"identifier":              {[]string{url, same, "WARC-Refers-To: <urn:1>"}, false},
		"identifier of a revisit": {[]string{url, same, "WARC-Refers-To: <urn:2>"}, true},
		"URL and date":            {[]string{url, same, "WARC-Refers-To-Target-URI: http://example.org/", "WARC-Refers-To-Date: 2026-11-22T08:00:00.5Z"}, false},
		"not modified":            {[]string{url, unchanged, sum}, false},
		"that of WARC 1.0":        {[]string{url, strings.Replace(unchanged, "1.1", "1.0", 1), sum}, false},
		"its URL alone":           {[]string{url, same}, false},
		"another digest":          {[]string{url, same, sum}, true},
		"another identifier":      {[]string{url, same, "WARC-Refers-To: <urn:9>"}, true},
		"another URL":             {[]string{url + "x", unchanged}, true},
	} {
		got := checked(t, []byte(original+record(3, append(c.fields, "WARC-Type: revisit", date)...)))
		if gone := len(got) == 1 && strings.Contains(got[0], "no whole response of it is here"); gone != c.gone || !gone && got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

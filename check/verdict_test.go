package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// TestVerdicts: what a record says of its URL.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		r      record.Record
		accept string
		want   Verdict
		rule   string
	}{
		"ok":                {record.Record{Status: 200}, "", OK, ""},
		"no content":        {record.Record{Status: 204}, "", OK, ""},
		"not modified":      {record.Record{Status: 304, UnchangedBy: record.SameNotModified}, "", OK, ""},
		"missing":           {record.Record{Status: 404}, "", Broken, ""},
		"server error":      {record.Record{Status: 500}, "", Broken, ""},
		"bad gateway":       {record.Record{Status: 502}, "", Broken, ""},
		"overloaded":        {record.Record{Status: 503}, "", Unknown, ""},
		"too many":          {record.Record{Status: 429}, "", Unknown, ""},
		"forbidden":         {record.Record{Status: 403}, "", Unknown, ""},
		"accepted":          {record.Record{Status: 403}, "200..299,403", OK, ""},
		"not accepted":      {record.Record{Status: 200}, "403", Broken, ""},
		"bot wall":          {record.Record{Status: 200, Title: "Just a moment..."}, "", Unknown, ""},
		"no such name":      {record.Record{ErrorKind: "dns", Error: "no such host"}, "", Broken, ""},
		"no address":        {record.Record{ErrorKind: "dns", Error: "lookup x.test on 192.0.2.1:53: the host has no IP address"}, "", Broken, ""},
		"a name with time":  {record.Record{ErrorKind: "dns", Error: "lookup time.test on 192.0.2.1:53: no such host"}, "", Broken, ""},
		"no name server":    {record.Record{ErrorKind: "dns", Error: "lookup x.test on 192.0.2.1:53: the server failed (SERVFAIL)"}, "", Unknown, ""},
		"no word of it":     {record.Record{ErrorKind: "dns", Error: "lookup x.test on 192.0.2.1:53: i/o timeout"}, "", Unknown, ""},
		"refused":           {record.Record{ErrorKind: "connect"}, "", Broken, ""},
		"slow to connect":   {record.Record{ErrorKind: "dial-timeout"}, "", Unknown, ""},
		"slow to answer":    {record.Record{ErrorKind: "first-byte-timeout"}, "", Unknown, ""},
		"reset":             {record.Record{ErrorKind: "reset"}, "", Unknown, ""},
		"no answer":         {record.Record{ErrorKind: "early-end"}, "", Unknown, ""},
		"robots.txt":        {record.Record{ErrorKind: record.KindRobots}, "", Unknown, ""},
		"certificate":       {record.Record{ErrorKind: "tls", Error: "x509: certificate has expired"}, "", Broken, Certificate},
		"handshake":         {record.Record{ErrorKind: "tls", Error: "handshake failure"}, "", Broken, ""},
		"10 GB":             {record.Record{ErrorKind: "too-large", Status: 200}, "", OK, ""},
		"a large 404":       {record.Record{ErrorKind: "too-large", Status: 404}, "", Broken, ""},
		"many redirects":    {record.Record{ErrorKind: record.KindRedirects, Status: 302}, "", Broken, RedirectLoop},
		"excluded":          {record.Record{ErrorKind: record.KindExcluded}, "", Unchecked, ""},
		"a kind to come":    {record.Record{ErrorKind: "x"}, "", Unknown, ""},
		"a private address": {record.Record{ErrorKind: "blocked-address"}, "", Unknown, ""},
	} {
		var accept []Range
		if c.accept != "" {
			var err error
			if accept, err = ParseRanges(c.accept); err != nil {
				t.Fatal(err)
			}
		}
		if got, rule, message := judge(&c.r, accept); got != c.want || rule != c.rule || got != OK && got != Unchecked && message == "" {
			t.Errorf("%s: %s %s %q, want %s %s", name, got, rule, message, c.want, c.rule)
		}
	}
}

// TestNothingRead: a check that could read nothing does not say that nothing is broken.
func TestNothingRead(t *testing.T) {
	for status, want := range map[int]string{503: "nothing could be read", 404: "1 error", 200: "nothing is broken"} {
		seed := answer("http://a.test/", status, "")
		seed.From = ""
		r, err := Job(t.Context(), makeJob(t, seed), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := writeText(&out, r, Style{}); err != nil || !strings.Contains(out.String(), want) || r.Failed() != (status != 200) || r.Empty() != (status == 503) {
			t.Errorf("%d: %s, %v", status, out.String(), err)
		}
		r.Close()
	}
}

func TestParse(t *testing.T) {
	for list, want := range map[string][]Range{"200": {{200, 200}}, "200..299, 403": {{200, 299}, {403, 403}}, "200..=204": {{200, 204}}} {
		if got, err := ParseRanges(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"", "2xx", "299..200", "99", "1000", "200,"} {
		if got, err := ParseRanges(list); err == nil {
			t.Errorf("%s: %v", list, got)
		}
	}
	for list, has := range map[string]string{"site": Deep, "all": Deep, "deep,broken-link": Deep, "-unknown": BrokenLink, "all,-site": BrokenLink} {
		if s, err := ParseRules(list); err != nil || !s.Has(has) || s.Has(UnknownLink) != (list == "all" || list == "all,-site") {
			t.Errorf("%s: %b, %v", list, s, err)
		}
	}
	if s, err := ParseRules("-links"); err != nil || s.Has(BrokenLink) {
		t.Errorf("none: %b, %v", s, err)
	}
	if _, err := ParseRules("no"); err == nil {
		t.Error("an unknown rule")
	}
}

func TestMail(t *testing.T) {
	for url, ok := range map[string]bool{
		"mailto:a@b.test": true, "mailto:a@b.test,c@d.test": true, "mailto:": true, "mailto:?to=a@b.test": true, "mailto:a%2Bb@c.test?subject=a,b": true,
		"mailto:%22a%20b%22@c.test": true, "mailto:ä@b.test": true, "mailto:a@b.test#x": true,
		"mailto:a": false, "mailto:a@": false, "mailto:@b.test": false, "mailto:a@b@c": false, "mailto:a@b.test,,c@d.test": false,
		"mailto:a%zz@b.test": false, "mailto:a@b.test?cc=x": false, "mailto:a@b.test;c@d.test": false,
	} {
		u, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := mailError(u); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestFragmentOf(t *testing.T) {
	for fragment, want := range map[string]string{
		"": "", "top": "", "Top": "", "/a": "", "!a": "", ":~:text=a": "", "a:~:text=b": "a", "a%20b": "a b", "a%zz": "a%zz", "%FF": "%FF", "%C3%A9": "é",
	} {
		name, ok := fragmentOf(fragment)
		if ok && name != want || !ok && want != "" {
			t.Errorf("%q: %q %t, want %q", fragment, name, ok, want)
		}
	}
}

package httpclient_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/httpclient"
)

func TestValidators(t *testing.T) {
	const date = "Sat, 21 Nov 2026 19:00:00 GMT"
	for _, c := range []struct {
		name         string
		header, want httpclient.Header
	}{
		{"none", httpclient.Header{{"Date", date}}, nil},
		{"strong tag", httpclient.Header{{"etag", `"65a1-10"`}}, httpclient.Header{{"If-None-Match", `"65a1-10"`}}},
		{"weak tag", httpclient.Header{{"ETag", `W/"65a1-10"`}}, httpclient.Header{{"If-None-Match", `W/"65a1-10"`}}},
		{"empty tag", httpclient.Header{{"ETag", `""`}}, httpclient.Header{{"If-None-Match", `""`}}},
		{"tag of any bytes", httpclient.Header{{"ETag", "\"a,\\ä'\""}}, httpclient.Header{{"If-None-Match", "\"a,\\ä'\""}}},
		{"date", httpclient.Header{{"Last-Modified", date}}, httpclient.Header{{"If-Modified-Since", date}}},
		{"older forms of a date", httpclient.Header{{"Last-Modified", "Sun Nov  6 08:49:37 1994"}}, httpclient.Header{{"If-Modified-Since", "Sun Nov  6 08:49:37 1994"}}},
		{"both", httpclient.Header{{"Last-Modified", date}, {"ETag", `"1"`}}, httpclient.Header{{"If-None-Match", `"1"`}, {"If-Modified-Since", date}}},
		{"tag without quotes", httpclient.Header{{"ETag", "65a1-10"}}, nil},
		{"tag of one quote", httpclient.Header{{"ETag", `"`}}, nil},
		{"two tags", httpclient.Header{{"ETag", `"1", "2"`}}, nil},
		{"tag with a space", httpclient.Header{{"ETag", `"a b"`}}, nil},
		{"weak, in lower case", httpclient.Header{{"ETag", `w/"1"`}}, nil},
		{"any", httpclient.Header{{"ETag", "*"}}, nil},
		{"tag that is too long", httpclient.Header{{"ETag", `"` + strings.Repeat("x", 1100) + `"`}}, nil},
		{"no date", httpclient.Header{{"Last-Modified", "yesterday"}}, nil},
		{"epoch seconds", httpclient.Header{{"Last-Modified", "1763751600"}}, nil},
		{"a date of another zone", httpclient.Header{{"Last-Modified", "Sat, 21 Nov 2026 19:00:00 CET"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := httpclient.Response{Header: c.header}
			got := res.Validators()
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
			if err := got.Check(); err != nil {
				t.Errorf("cannot be sent: %v", err)
			}
		})
	}
}

// TestNotModified checks that a 304 has no body, even if its fields describe the body of a 200,
// and that its connection is used again.
func TestNotModified(t *testing.T) {
	const fields = "ETag: W/\"1\"\r\nLast-Modified: Sat, 21 Nov 2026 19:00:00 GMT\r\n"
	for name, says := range map[string]string{
		"nothing":            "",
		"a length":           "Content-Length: 5000\r\n",
		"a length of 0":      "Content-Length: 0\r\n",
		"over the limit":     "Content-Length: 99999999999\r\n",
		"chunked":            "Transfer-Encoding: chunked\r\n",
		"chunked and coded":  "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n",
		"an unknown coding":  "Content-Encoding: compress\r\n",
		"length and chunked": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			playBoth(t, httpclient.Options{}, func(s *site) {
				p := s.serve("/", response(fields, "hello"))
				got := p.request("/")
				if !strings.Contains(got, "\r\nIf-None-Match: W/\"1\"\r\nIf-Modified-Since: Sat, 21 Nov 2026 19:00:00 GMT\r\n") {
					t.Errorf("request %q", got)
				}
				p.send("HTTP/1.1 304 Not Modified\r\n" + says + "\r\n")
				p.serve("/next", ok("next"))
			}, func(b *browser) {
				first, err := b.get("/")
				if err != nil {
					t.Fatal(err)
				}
				asked := first.Validators()
				first.Close()
				second, err := b.do(httpclient.Request{Target: "/", Header: asked})
				if err != nil {
					t.Fatal(err)
				}
				if second.Status != 304 || len(second.Body) != 0 || second.Encoding != "" || !second.Reused {
					t.Errorf("status %d, body %q, encoding %q, reused %v", second.Status, second.Body, second.Encoding, second.Reused)
				}
				second.Close()
				b.reads("/next", "next")
			})
		})
	}
}

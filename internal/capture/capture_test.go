package capture_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/warc"
)

// exchange is one whose response has a body.
func exchange(url, body string) *warc.Exchange {
	response := []byte("HTTP/1.1 200 OK\r\n\r\n" + body)
	return &warc.Exchange{
		URL: url, Date: time.Date(2026, 11, 22, 0, 0, len(url), 0, time.UTC), Response: response,
		Parts: &warc.Parts{Status: 200, Head: len(response) - len(body), Payload: response[len(response)-len(body):]},
	}
}

// TestPlaced: a later capture refers to what was placed before, and to nothing else, although it
// has the memory of other captures.
func TestPlaced(t *testing.T) {
	a := capture.New(capture.Salt{}, warc.SHA256, 1<<20)
	long, short := strings.Repeat("long", 1000), strings.Repeat("x", capture.MinPayload-1)
	for i, c := range []struct {
		url, body, refers string
		keep              bool // it is not placed
	}{
		{url: "http://a.example/1", body: long, keep: true},
		{url: "http://a.example/22", body: long},
		{url: "http://a.example/333", body: long, refers: "http://a.example/22"},
		{url: "http://a.example/4444", body: short},
		{url: "http://a.example/55555", body: short},
		{url: "http://a.example/666666", body: long, refers: "http://a.example/22"},
	} {
		got := a.Encode(exchange(c.url, c.body), frontier.Capture{}, "text/html")
		r, err := warc.NewReader(bytes.NewReader(got.Records)).Next()
		if err != nil {
			t.Fatal(err)
		}
		if r.URL() != c.url || r.Header.Get("WARC-Refers-To-Target-URI") != c.refers || got.Index.URL != c.url {
			t.Errorf("%d: %v, indexed as %v, expected to refer to %q", i, r.Header, got.Index, c.refers)
		}
		sum := sha256.Sum256([]byte(c.body))
		if c.refers == "" && !bytes.Equal(got.Past.Payload[:], sum[:16]) || c.refers != "" && got.Past != (frontier.Capture{}) {
			t.Errorf("%d: leaves %v", i, got.Past)
		}
		if !c.keep {
			a.Placed(got)
		}
	}
}

func TestPublic(t *testing.T) {
	a := capture.Archive{Secret: []string{"X-Key"}}
	request := "GET /cookie:a HTTP/1.1\r\nHost: a.example\r\ncookie: a=b\r\nAUTHORIZATION: Basic x\r\nProxy-Authorization:y\r\nx-key: z\r\nX-Keys: 1\r\n\r\n"
	const want = "before GET /cookie:a HTTP/1.1\r\nHost: a.example\r\nX-Keys: 1\r\n\r\n"
	if got := string(a.Public([]byte("before "), request)); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	a.Holds = func(field string) bool { return strings.Contains(field, "t0ken") }
	if got := string(a.Public([]byte("before "), strings.Replace(request, "\r\n\r\n", "\r\nX-Auth: Bearer t0ken\r\n\r\n", 1))); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	// A site may store its own name, or its language.
	a.Holds = func(field string) bool { return strings.Contains(field, "a.example") }
	if got := string(a.Public([]byte("before "), request)); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

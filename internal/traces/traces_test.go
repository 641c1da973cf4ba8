package traces

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/record"
)

// collector takes spans.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	spans  []taken
	bodies []string
	answer func(request int) int // status
}

// taken is a span as a collector reads it.
type taken struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []struct {
		Key   string
		Value map[string]string
	}
	Status *struct {
		Code    int
		Message string
	}
}

func (s *taken) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			for _, v := range a.Value {
				return v
			}
		}
	}
	return ""
}

func newCollector(t *testing.T, answer func(request int) int) *collector {
	t.Helper()
	c := &collector{answer: answer}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var got struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []taken } }
		}
		if err := json.Unmarshal(body, &got); err != nil || r.URL.Path != "/v1/traces" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v: %s", r.Method, r.URL, err, body)
		}
		c.mu.Lock()
		c.bodies = append(c.bodies, string(body))
		status := c.answer(len(c.bodies))
		if status == http.StatusOK {
			for _, r := range got.ResourceSpans {
				for _, s := range r.ScopeSpans {
					c.spans = append(c.spans, s.Spans...)
				}
			}
		}
		c.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(c.Close)
	return c
}

func always(status int) func(int) int { return func(int) int { return status } }

func start(t *testing.T, o Options) *Exporter {
	t.Helper()
	if o.Sample == 0 {
		o.Sample = 1
	}
	e, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func page(url string) *record.Record {
	return &record.Record{URL: url, Status: 200, Tries: 1, Started: began, TotalMS: 50, TTFBMS: 40, Protocol: "http/1.1"}
}

// TestSpans: a fetch is a span by the conventions, and each of its steps one below it.
func TestSpans(t *testing.T) {
	c := newCollector(t, always(http.StatusOK))
	e := start(t, Options{URL: c.URL, Crawl: "a.test", Version: "1.2"})
	e.Note(&record.Record{
		URL: "https://a.test:8443/x?y", Status: 503, Tries: 3, Started: began, Depth: 2, IP: "192.0.2.1", Protocol: "h2", Bytes: 100, BodyBytes: 300,
		DNSMS: 1, ConnectMS: 2, TLSMS: 3, TTFBMS: 10, TotalMS: 20, Rendered: &record.Rendered{MS: 400, ErrorKind: "time", Error: "late"},
	})
	e.Note(&record.Record{URL: "http://gone.test/", ErrorKind: "dns", Error: "no such host \xff", Tries: 1, Started: began, TotalMS: 7})
	e.Note(&record.Record{URL: "http://a.test/private", ErrorKind: "robots"}) // it has no request
	e.Close()
	if f := e.Figures(); f != (record.Traces{Sent: 2}) {
		t.Errorf("%+v", f)
	}
	if len(c.bodies) != 1 || !strings.Contains(c.bodies[0], `{"key":"service.name","value":{"stringValue":"weft"}}`) || !strings.Contains(c.bodies[0], `{"key":"weft.crawl","value":{"stringValue":"a.test"}}`) {
		t.Errorf("bodies %s", c.bodies)
	}
	ids, want := make(map[string]bool), map[string][2]time.Duration{
		"GET": {0, 20}, "dns": {0, 1}, "connect": {1, 3}, "tls": {3, 6}, "wait": {6, 16}, "body": {16, 20}, "render": {20, 420},
	}
	if len(c.spans) != len(want)+1 {
		t.Fatalf("%d spans: %s", len(c.spans), c.bodies)
	}
	whole, failed := c.spans[0], c.spans[len(want)]
	for _, s := range c.spans[:len(want)] {
		at := func(ns string) time.Duration {
			n, _ := strconv.ParseInt(ns, 10, 64)
			return time.Duration(n - began.UnixNano())
		}
		w := want[s.Name]
		if at(s.StartTimeUnixNano) != w[0]*time.Millisecond || at(s.EndTimeUnixNano) != w[1]*time.Millisecond {
			t.Errorf("%s from %v to %v, expected %v ms", s.Name, at(s.StartTimeUnixNano), at(s.EndTimeUnixNano), w)
		}
		if ids[s.SpanID] || len(s.SpanID) != 16 || len(s.TraceID) != 32 || s.TraceID != whole.TraceID || s.Name != "GET" && (s.ParentSpanID != whole.SpanID || s.Kind != kindInternal) {
			t.Errorf("%+v", s)
		}
		if s.Name == "render" && (s.Status == nil || s.Status.Message != "late") {
			t.Errorf("%+v", s)
		}
		ids[s.SpanID] = true
	}
	if whole.Kind != kindClient || whole.ParentSpanID != "" || whole.Status == nil || whole.Status.Code != statusError || failed.TraceID == whole.TraceID {
		t.Errorf("%+v, %+v", whole, failed)
	}
	for key, want := range map[string]string{
		"http.request.method": "GET", "url.full": "https://a.test:8443/x?y", "server.address": "a.test", "server.port": "8443",
		"network.peer.address": "192.0.2.1", "network.protocol.name": "http", "network.protocol.version": "2",
		"http.response.status_code": "503", "http.response.size": "100", "http.response.body.size": "300",
		"http.request.resend_count": "2", "error.type": "503", "weft.depth": "2",
	} {
		if got := whole.attribute(key); got != want {
			t.Errorf("%s is %q, expected %q", key, got, want)
		}
	}
	if failed.attribute("error.type") != "dns" || failed.Status == nil || failed.attribute("server.port") != "80" || failed.attribute("http.response.status_code") != "" {
		t.Errorf("%+v", failed)
	}
}

// TestAgain: what a collector cannot take now it gets later; what it refuses, never.
func TestAgain(t *testing.T) {
	var mu sync.Mutex
	var warned []string
	warn := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		warned = append(warned, err.Error())
	}
	again := make(chan bool, 1)
	busy := newCollector(t, func(request int) int {
		if request == 1 {
			return http.StatusServiceUnavailable
		}
		again <- true
		return http.StatusOK
	})
	e := start(t, Options{URL: busy.URL, Warn: warn})
	for i := range mostBatch { // which are sent at once
		e.Note(page("http://a.test/" + strconv.Itoa(i)))
	}
	<-again
	e.Close()
	if f := e.Figures(); f != (record.Traces{Sent: mostBatch}) {
		t.Errorf("busy: %+v", f)
	}
	refuses := newCollector(t, always(http.StatusBadRequest))
	e = start(t, Options{URL: refuses.URL, Warn: warn})
	e.Note(page("http://a.test/"))
	e.Close()
	if f := e.Figures(); f != (record.Traces{Dropped: 1}) || len(refuses.bodies) != 1 {
		t.Errorf("refused: %+v, %d requests", f, len(refuses.bodies))
	}
	if len(warned) != 2 || !strings.Contains(warned[0]+warned[1], "traces: the collector answers 400 Bad Request") {
		t.Errorf("warned %q", warned)
	}
}

// TestAway: a collector that is away or hangs holds nothing up: what it cannot take is dropped, and
// counted.
func TestAway(t *testing.T) {
	away := newCollector(t, always(http.StatusOK))
	away.Close()
	hung := make(chan bool)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-hung
	}))
	defer hangs.Close()
	defer close(hung)
	for name, url := range map[string]string{"away": away.URL, "hangs": hangs.URL} {
		e := start(t, Options{URL: url})
		const n = 3 * mostWaiting
		at := time.Now()
		for i := range n {
			e.Note(page("http://a.test/" + strconv.Itoa(i)))
		}
		if took := time.Since(at); took > 5*time.Second {
			t.Errorf("%s: %d fetches took %v", name, n, took)
		}
		if f := e.Figures(); f.Dropped < n-mostWaiting-2*mostBatch || f.Waiting > mostWaiting {
			t.Errorf("%s: %+v", name, f)
		}
		at = time.Now()
		e.Close()
		if f := e.Figures(); f != (record.Traces{Dropped: n}) {
			t.Errorf("%s, closed: %+v", name, f)
		}
		if took := time.Since(at); took > farewell+10*time.Second {
			t.Errorf("%s: the end took %v", name, took)
		}
	}
}

// TestSample: the part that is asked for is traced.
func TestSample(t *testing.T) {
	c := newCollector(t, always(http.StatusOK))
	e := start(t, Options{URL: c.URL, Sample: 0.1})
	for range 10_000 {
		e.Note(page("http://a.test/"))
	}
	e.Close()
	if f := e.Figures(); f.Sent < 700 || f.Sent > 1300 {
		t.Errorf("%+v of 10,000", f)
	}
}

func TestCheckURL(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:4318":         "http://127.0.0.1:4318/v1/traces",
		"http://127.0.0.1:4318/":        "http://127.0.0.1:4318/v1/traces",
		"https://c.test/otlp/v1/traces": "https://c.test/otlp/v1/traces",
		"127.0.0.1:4318":                "",
		"grpc://c.test":                 "",
		"http:///x":                     "",
		"":                              "",
	} {
		if got, err := CheckURL(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

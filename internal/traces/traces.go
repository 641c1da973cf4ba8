package traces

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

const (
	mostWaiting = 2048 // fetches that wait to be sent
	mostBatch   = 256  // fetches in a request
	gathers     = 2 * time.Second
	sendTakes   = 10 * time.Second
	lastPause   = 30 * time.Second // between two tries, which begin at firstPause and double
	firstPause  = time.Second
	farewell    = 3 * time.Second // for what waits at the end
)

// Options are those of an exporter.
type Options struct {
	URL     string  // of the collector; without a path, that of traces is added
	Sample  float64 // part of the fetches that is traced: 0 to 1
	Crawl   string  // name of the crawl
	Version string  // of Weft
	Warn    func(error)
}

// Exporter sends traces to a collector, from Start to Close.
type Exporter struct {
	o       Options
	url     string
	waiting chan *fetch
	client  http.Client

	sent, dropped atomic.Int64

	closing  context.Context
	end      context.CancelFunc // of closing
	cut      context.Context    // of requests
	breakOff context.CancelFunc // of cut
	finished chan struct{}

	fails bool // the last request has failed. Owner: run
}

// fetch is a fetch to be sent.
type fetch struct {
	record record.Record // as far as it is needed
	id     uint64        // of its trace, with the time of its start
}

// ErrURL is returned for the URL of a collector that is none.
var ErrURL = errors.New("expected the URL of a collector, such as http://127.0.0.1:4318")

// CheckURL returns where traces are sent to a collector.
func CheckURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return "", ErrURL
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// Start starts an exporter.
func Start(o Options) (*Exporter, error) {
	at, err := CheckURL(o.URL)
	if err != nil {
		return nil, err
	}
	e := &Exporter{o: o, url: at, waiting: make(chan *fetch, mostWaiting), finished: make(chan struct{})}
	e.client.Timeout = sendTakes
	e.closing, e.end = context.WithCancel(context.Background())
	e.cut, e.breakOff = context.WithCancel(context.Background())
	go e.run()
	return e, nil
}

// Note takes the record of a URL, which it may not keep, and never waits.
func (e *Exporter) Note(r *record.Record) {
	if r.Tries == 0 || r.Started.IsZero() || rand.Float64() >= e.o.Sample {
		return
	}
	f := &fetch{record.Record{
		URL: strings.Clone(r.URL), Status: r.Status, ErrorKind: r.ErrorKind, Error: strings.Clone(r.Error), Depth: r.Depth, Bytes: r.Bytes, BodyBytes: r.BodyBytes, Protocol: r.Protocol,
		Tries: r.Tries, IP: strings.Clone(r.IP), Started: r.Started, DNSMS: r.DNSMS, ConnectMS: r.ConnectMS, TLSMS: r.TLSMS, TTFBMS: r.TTFBMS, TotalMS: r.TotalMS, Role: r.Role,
	}, rand.Uint64()}
	if page := r.Rendered; page != nil {
		f.record.Rendered = &record.Rendered{MS: page.MS, ErrorKind: page.ErrorKind, Error: strings.Clone(page.Error)}
	}
	select {
	case e.waiting <- f:
	default:
		e.dropped.Add(1)
	}
}

// Figures returns how many fetches were sent, dropped and wait.
func (e *Exporter) Figures() record.Traces {
	return record.Traces{Sent: e.sent.Load(), Dropped: e.dropped.Load(), Waiting: len(e.waiting)}
}

// Close sends what waits, for at most 3 s, and ends the exporter.
func (e *Exporter) Close() {
	e.end()
	defer time.AfterFunc(farewell, e.breakOff).Stop()
	<-e.finished
	e.breakOff()
	e.client.CloseIdleConnections()
}

// run sends batch after batch.
func (e *Exporter) run() {
	defer close(e.finished)
	for {
		batch := e.gather()
		if len(batch) == 0 {
			return
		}
		e.deliver(batch)
	}
}

// gather waits for a batch: a full one, or what has come within a while of its first fetch. An
// empty one means that the exporter is closed, and nothing waits.
func (e *Exporter) gather() (batch []*fetch) {
	var late <-chan time.Time
	for len(batch) < mostBatch {
		select {
		case f := <-e.waiting:
			batch = append(batch, f)
			if late == nil {
				late = time.After(gathers)
			}
		case <-late:
			return batch
		case <-e.closing.Done():
			if len(e.waiting) == 0 {
				return batch
			}
		}
	}
	return batch
}

// deliver sends a batch, again and again while the collector is away. What it refuses is dropped.
func (e *Exporter) deliver(batch []*fetch) {
	body := encode(&e.o, batch)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		again, err := e.send(body)
		if err == nil {
			e.sent.Add(int64(len(batch)))
			e.fails = false
			return
		}
		if !e.fails && e.o.Warn != nil {
			e.o.Warn(fmt.Errorf("traces: %w", err))
		}
		e.fails = true
		if !again || e.closing.Err() != nil {
			e.dropped.Add(int64(len(batch)))
			return
		}
		select {
		case <-time.After(pause):
		case <-e.closing.Done():
		}
	}
}

// send sends a request. If it fails, again says whether another may do better.
func (e *Exporter) send(body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(e.cut, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "weft/"+e.o.Version)
	resp, err := e.client.Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // the connection is kept
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector answers %s", resp.Status)
}

// encode returns a batch in the JSON encoding of an ExportTraceServiceRequest: numbers of 64 bits
// are strings, and IDs hexadecimal.
func encode(o *Options, batch []*fetch) []byte {
	var spans []span
	for _, f := range batch {
		spans = append(spans, f.spans()...)
	}
	resource := []attribute{text("service.name", "weft"), text("service.version", o.Version)}
	if o.Crawl != "" {
		resource = append(resource, text("weft.crawl", o.Crawl))
	}
	body, _ := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource": map[string]any{"attributes": resource},
		"scopeSpans": []any{map[string]any{
			"scope": map[string]any{"name": "github.com/weftcrawl/weft", "version": o.Version},
			"spans": spans,
		}},
	}}}) // it has no value without an encoding
	return body
}

// span is a Span of the protocol.
type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      int64       `json:"startTimeUnixNano,string"`
	End        int64       `json:"endTimeUnixNano,string"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

// status says that a span is that of an error.
type status struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

// attribute is a KeyValue of the protocol.
type attribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

func text(key, value string) attribute {
	return attribute{key, map[string]any{"stringValue": strings.ToValidUTF8(value, "\uFFFD")}}
}

func number(key string, n int64) attribute {
	return attribute{key, map[string]any{"intValue": fmt.Sprint(n)}}
}

// spans returns the span of a fetch, and those of its steps.
func (f *fetch) spans() []span {
	trace, id := fmt.Sprintf("%016x%016x", uint64(f.record.Started.UnixNano()), f.id), f.spanID(0)
	at := func(ms float64) int64 { return f.record.Started.UnixNano() + int64(ms*1e6) }
	whole := span{Trace: trace, ID: id, Name: f.method(), Kind: kindClient, Start: at(0), End: at(f.record.TotalMS), Attributes: f.attributes()}
	if kind := f.errorType(); kind != "" {
		whole.Status = &status{statusError, f.record.Error}
	}
	all, began := []span{whole}, 0.0
	for i, step := range []struct {
		name string
		ms   float64
	}{
		{"dns", f.record.DNSMS}, {"connect", f.record.ConnectMS}, {"tls", f.record.TLSMS}, {"wait", f.record.TTFBMS},
		{"body", f.record.TotalMS - f.record.DNSMS - f.record.ConnectMS - f.record.TLSMS - f.record.TTFBMS},
	} {
		if step.ms > 0 && (step.name != "body" || f.record.TTFBMS > 0) {
			all = append(all, span{Trace: trace, ID: f.spanID(i + 1), Parent: id, Name: step.name, Kind: kindInternal, Start: at(began), End: at(began + step.ms)})
			began += step.ms
		}
	}
	if r := f.record.Rendered; r != nil {
		// It begins when the page has come, and may wait for a tab.
		render := span{Trace: trace, ID: f.spanID(6), Parent: id, Name: "render", Kind: kindInternal, Start: at(f.record.TotalMS), End: at(f.record.TotalMS + float64(r.MS))}
		if r.ErrorKind != "" {
			render.Status = &status{statusError, r.Error}
		}
		all = append(all, render)
	}
	return all
}

// spanID returns the ID of the span of the fetch, 0, or of a step.
func (f *fetch) spanID(i int) string { return fmt.Sprintf("%016x", f.id&^7|uint64(i+1)) }

// method is that of the request: a record does not have it.
func (f *fetch) method() string {
	switch u, err := weburl.Parse(f.record.URL); {
	case err == nil && u.Post() != "":
		return http.MethodPost
	case f.record.Role == record.RoleExternal: // unless the server refuses it
		return http.MethodHead
	}
	return http.MethodGet
}

// attributes are those of the semantic conventions for HTTP clients, and two of Weft's own.
func (f *fetch) attributes() []attribute {
	all := []attribute{text("http.request.method", f.method()), text("url.full", f.record.URL), number("weft.depth", int64(f.record.Depth))}
	if f.record.Role != "" {
		all = append(all, text("weft.role", string(f.record.Role)))
	}
	if u, err := url.Parse(f.record.URL); err == nil {
		port := int64(map[string]int{"http": 80, "https": 443}[u.Scheme])
		if p := u.Port(); p != "" {
			_, _ = fmt.Sscan(p, &port) // a canonical URL has a number there
		}
		all = append(all, text("server.address", u.Hostname()), number("server.port", port))
	}
	if f.record.IP != "" {
		all = append(all, text("network.peer.address", f.record.IP))
	}
	if f.record.Status != 0 {
		version := strings.TrimPrefix(f.record.Protocol, "http/")
		if f.record.Protocol == "h2" {
			version = "2"
		}
		all = append(all, number("http.response.status_code", int64(f.record.Status)), number("http.response.size", f.record.Bytes), number("http.response.body.size", int64(f.record.BodyBytes)),
			text("network.protocol.name", "http"), text("network.protocol.version", cmp.Or(version, "1.1")))
	}
	if f.record.Tries > 1 {
		all = append(all, number("http.request.resend_count", int64(f.record.Tries-1)))
	}
	if kind := f.errorType(); kind != "" {
		all = append(all, text("error.type", kind))
	}
	return all
}

// errorType is the error kind, or a status of 4xx or 5xx: as the conventions have it for clients.
func (f *fetch) errorType() string {
	if f.record.ErrorKind == "" && f.record.Status >= 400 {
		return fmt.Sprint(f.record.Status)
	}
	return f.record.ErrorKind
}

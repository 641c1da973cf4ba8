// Package traces sends traces of fetches to a collector, in the JSON encoding of the OpenTelemetry
// Protocol over HTTP.
//
// # Spans
//
// A fetch is a span of kind client, by the semantic conventions of HTTP, with a span for each of
// its steps: dns, connect, tls, wait for the first byte, body; and one for its page in a browser,
// render, behind them. They are made from the record of a URL, which has the times of its last try;
// a fetch is not slower for being traced.
//
// # Limits
//
// A part of the fetches is traced, by chance. Those that wait to be sent are at most 2,048; while
// the collector is away or slow, further ones are dropped and counted.
//
// # Concurrency
//
// Any goroutine may use an Exporter. Note never blocks.
package traces

package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"sync"
)

// carrier is the response to the HTTP request that carries calls. The SDK would quote the content
// of an answer as JSON and go over it three times more. So a stand-in is in what the SDK writes:
// it gives way to the quoted content on its way out.
type carrier struct {
	http.ResponseWriter
	request context.Context

	mu       sync.Mutex
	contents map[string][]byte // quoted, by their stand-ins
}

// carry has a handler answer a request by a carrier.
func carry(h http.Handler, w http.ResponseWriter, r *http.Request) {
	c := &carrier{ResponseWriter: w, request: r.Context()}
	h.ServeHTTP(c, r.WithContext(context.WithValue(r.Context(), carrierKey{}, c)))
}

type carrierKey struct{}

// carrierOf returns what carries a call; nil: that is no HTTP request.
func carrierOf(ctx context.Context) *carrier {
	c, _ := ctx.Value(carrierKey{}).(*carrier)
	return c
}

// withCarrier returns a context that ends with the request that carries a call, too. That of the
// call does not; but nobody else gets the answer, as the server keeps no sessions.
func withCarrier(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if c := carrierOf(ctx); c != nil {
		context.AfterFunc(c.request, cancel)
	}
	return ctx, cancel
}

// standIn returns a text that stands for a content, which is quoted. No content has it.
func (c *carrier) standIn(content []byte) string {
	text := rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.contents == nil {
		c.contents = make(map[string][]byte)
	}
	c.contents[text] = content
	return text
}

// messages are the buffers of messages.
var messages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Write writes a message of the SDK, with contents in place of their stand-ins.
func (c *carrier) Write(message []byte) (int, error) {
	b := messages.Get().(*bytes.Buffer)
	defer messages.Put(b)
	b.Reset()
	rest := message
	c.mu.Lock()
	for text, content := range c.contents { // of one call, unless calls are in a batch
		if before, after, found := bytes.Cut(rest, []byte(text)); found {
			b.Write(before)
			b.Write(content)
			rest = after
			delete(c.contents, text)
		}
	}
	c.mu.Unlock()
	b.Write(rest)
	if _, err := c.ResponseWriter.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(message), nil
}

// Unwrap lets the SDK flush.
func (c *carrier) Unwrap() http.ResponseWriter { return c.ResponseWriter }

package weft_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weftcrawl/weft"
)

// framed is a server that takes HTTP/2 frame by frame.
type framed struct {
	*httptest.Server
	conns atomic.Int64
}

// framedConn is a connection to it.
type framedConn struct {
	*http2.Framer
	block bytes.Buffer
	hpack *hpack.Encoder
	open  []uint32 // streams without a response
	more  bool     // some have come since the last PING
}

// ask sends a PING, whose reply shows whether more requests were on their way.
func (c *framedConn) ask() { c.WritePing(false, [8]byte{}) }

// answer responds to a request with a page.
func (c *framedConn) answer(id uint32) {
	c.block.Reset()
	c.hpack.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	c.hpack.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
	c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block.Bytes(), EndHeaders: true})
	c.WriteData(id, true, []byte("<p>a page"))
}

// newFramed starts a server. It calls request for each, with those before it that have no response yet, and
// with a stream of 0 when all have come that were sent together; over ends the connection. Then a request
// that is open still is answered.
func newFramed(t *testing.T, request func(c *framedConn, id uint32, path string) (over bool)) *framed {
	t.Helper()
	s := &framed{Server: httptest.NewUnstartedServer(http.NotFoundHandler())}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
			defer conn.Close()
			s.conns.Add(1)
			c := &framedConn{Framer: http2.NewFramer(conn, conn)}
			c.hpack = hpack.NewEncoder(&c.block)
			c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
			c.WriteSettings()
			for over := false; ; {
				f, err := c.ReadFrame()
				if err != nil {
					return
				}
				switch f := f.(type) {
				case *http2.MetaHeadersFrame:
					c.open, c.more = append(c.open, f.StreamID), true
					if over = request(c, f.StreamID, f.PseudoValue("path")); len(c.open) == 1 {
						c.ask()
					}
				case *http2.PingFrame:
					switch over = !c.more && request(c, 0, ""); {
					case over:
					case !c.more && len(c.open) > 0:
						c.answer(c.open[0])
						c.open = c.open[1:]
					}
					if c.more = false; len(c.open) > 0 {
						c.ask()
					}
				}
				if over {
					conn.CloseWrite()
					io.Copy(io.Discard, conn)
					return
				}
			}
		},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// TestOverloadOverHTTP2: a server that asks for calm, or refuses requests, when there are more than ten at
// once loses no page, and is asked for few of them in vain.
func TestOverloadOverHTTP2(t *testing.T) {
	t.Parallel()
	const pages, most = 60, 10
	for name, object := range map[string]func(c *framedConn, id uint32) (over bool){
		"it asks for calm": func(c *framedConn, _ uint32) bool {
			c.WriteGoAway(c.open[len(c.open)-1], http2.ErrCodeEnhanceYourCalm, nil)
			return true
		},
		"it asks for calm when it has taken all of them": func(c *framedConn, id uint32) bool {
			if id == 0 {
				c.WriteGoAway(c.open[len(c.open)-1], http2.ErrCodeEnhanceYourCalm, nil)
			}
			return id == 0
		},
		"it asks for calm, and has looked at no request": func(c *framedConn, _ uint32) bool {
			c.WriteGoAway(c.open[0]-1, http2.ErrCodeEnhanceYourCalm, nil)
			return true
		},
		"it resets requests for calm": func(c *framedConn, id uint32) bool {
			c.WriteRSTStream(c.open[most], http2.ErrCodeEnhanceYourCalm)
			c.open = c.open[:most]
			return false
		},
		"it refuses requests": func(c *framedConn, _ uint32) bool {
			c.WriteRSTStream(c.open[most], http2.ErrCodeRefusedStream)
			c.open = c.open[:most]
			return false
		},
		"it refuses all at first": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var vain, sent atomic.Int64
			s := newFramed(t, func(c *framedConn, id uint32, _ string) bool {
				n := sent.Load()
				if id > 0 {
					n = sent.Add(1)
				}
				switch {
				case object == nil && id == 0:
				case object == nil && n <= 2*pages: // each is sent twice before its caller is told
					vain.Add(1)
					c.WriteRSTStream(id, http2.ErrCodeRefusedStream)
					c.open = nil
				case object != nil && len(c.open) > most:
					if id > 0 {
						vain.Add(1)
					}
					return object(c, id)
				}
				return false
			})
			o := weft.Options{Insecure: true, NoRobots: true, Job: filepath.Join(t.TempDir(), "job")}
			for n := range pages {
				o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", s.URL, n))
			}
			c, err := weft.New(o)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := c.Run(t.Context())
			if err != nil || sum.Pages != pages || len(sum.Errors) > 0 {
				t.Errorf("%v: %d pages of %d, errors %v", err, sum.Pages, pages, sum.Errors)
			}
			t.Logf("%v: %d sent, %d in vain, over %d connections", sum.Elapsed, sent.Load(), vain.Load(), s.conns.Load())
			if n := sent.Load(); object != nil && n > 6*pages {
				t.Errorf("%d requests for %d pages", n, pages)
			}
		})
	}
}

// TestPoisonOverHTTP2: a page that makes its server ask for calm, whatever else is under way, costs no other,
// and fails after its tries.
func TestPoisonOverHTTP2(t *testing.T) {
	t.Parallel()
	const pages = 20
	s := newFramed(t, func(c *framedConn, id uint32, path string) bool {
		if path != "/7" {
			return false
		}
		c.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, nil)
		return true
	})
	o := weft.Options{Insecure: true, NoRobots: true, Job: filepath.Join(t.TempDir(), "job"), Retries: 1}
	for n := range pages {
		o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", s.URL, n))
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil || sum.Pages != pages-1 || sum.Errors["early-end"].URLs != 1 {
		t.Errorf("%v: %d pages of %d, errors %v", err, sum.Pages, pages-1, sum.Errors)
	}
}

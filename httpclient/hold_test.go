package httpclient_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
)

// TestHeadsAreHeld: a long head counts as held while it arrives, and until the response is closed.
// One with more fields than anybody sends is refused.
func TestHeadsAreHeld(t *testing.T) {
	meter := budget.New(1 << 20)
	half := strings.Repeat("X-Field: "+strings.Repeat("x", 500)+"\r\n", 60)
	play(t, httpclient.Options{Meter: meter}, func(s *site) {
		p := s.accept()
		p.request("/")
		p.send("HTTP/1.1 200 OK\r\n" + half)
		s.until(1e9)
		if held := meter.Held(); held < int64(len(half)) {
			t.Errorf("%d bytes are held, want at least %d of a half of a head", held, len(half))
		}
		p.send(half + "Content-Length: 2\r\n\r\nok")
		p.serve("/fields", "HTTP/1.1 200 OK\r\n"+strings.Repeat("a:\n", 20_000)+"Content-Length: 0\r\n\r\n")
	}, func(b *browser) {
		res, err := b.get("/")
		if err != nil {
			t.Fatal(err)
		}
		if held := meter.Held(); held < int64(2*len(half)) || held > int64(3*len(half)) {
			t.Errorf("%d bytes are held with the response, want about %d", held, 2*len(half))
		}
		res.Close()
		b.fails("/fields", httpclient.KindTooLarge)
		if meter.Held() != 0 {
			t.Errorf("%d bytes are held at the end", meter.Held())
		}
	})
}

// TestHeldUpBeforeTheResponse: a request that holds much, while others would wait for room, gets
// little time for the first bytes of its response. Session tickets are none of them.
func TestHeldUpBeforeTheResponse(t *testing.T) {
	meter := budget.New(1 << 20)
	playTLS(t, func(opt *httpclient.Options, _ *tls.Config) { opt.Meter = meter }, func(v *tlsSite) {
		if _, err := http.ReadRequest(v.admit().in); err != nil {
			t.Error(err)
		}
		v.until(time.Minute)
	}, func(b *browser) {
		other := meter.Open(false)
		other.Set(1 << 20)
		b.then = true
		long := httpclient.Header{{Name: "X-Long", Value: strings.Repeat("x", 100<<10)}}
		_, err := b.send(httpclient.Request{Scheme: "https", Host: "www.example", Target: "/", Header: long})
		if at := now(b.task); !errors.Is(err, httpclient.ErrHeldUp) || at > 3*time.Second {
			t.Errorf("%v after %v, want an error that matches ErrHeldUp after 2 s", err, at)
		}
		other.Release()
	})
}

// TestDecodedIsHeldBefore: a body counts before it is decoded, even if its source lies about its
// length: it waits while there is no room, and then holds what it has become.
func TestDecodedIsHeldBefore(t *testing.T) {
	const size, room = 2 << 20, 1 << 20
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, size))
	_ = z.Close()
	source := b.String()
	sources := map[string]string{"honest": source, "another length": source + source[:len(source)-4] + "\x01\x00\x00\x00"}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			meter := budget.New(room)
			favoured, other := meter.Open(false), meter.Open(false)
			playBoth(t, httpclient.Options{Meter: meter, MaxBody: size}, func(s *site) {
				if err := favoured.Grow(s.task, room+1); err != nil {
					t.Fatal(err)
				}
				if !other.Try(room / 4 * 3) {
					t.Fatal("no room")
				}
				before := meter.Held()
				s.serve("/", response("Content-Encoding: gzip\r\n", source))
				s.until(1e9)
				if held := meter.Held(); held > before+size/4 {
					t.Errorf("%d bytes are held, want that the body waits for the %d before", held, before)
				}
				favoured.Release()
			}, func(b *browser) {
				res, err := b.get("/")
				if name != "honest" {
					expectKind(t, err, httpclient.KindBomb) // as the first member is as long as may be
				} else if err != nil || len(res.Body) != size {
					t.Fatalf("%d bytes, error %v", len(res.Body), err)
				} else {
					if held := meter.Held(); held < size {
						t.Errorf("%d bytes are held with the body", held)
					}
					res.Close()
				}
				other.Release()
				if meter.Held() != 0 {
					t.Errorf("%d bytes are held at the end", meter.Held())
				}
			})
		})
	}
}

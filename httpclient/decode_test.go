package httpclient_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestContentEncoding(t *testing.T) {
	const maxBody = 100_000
	hello := zip(t, "hello")
	wrongSum := []byte(hello)
	wrongSum[len(wrongSum)-5] ^= 1 // the last 8 bytes are checksum and length
	full := strings.Repeat("x", maxBody)
	for _, c := range []struct {
		name   string
		fields string
		sent   string
		kind   httpclient.Kind // "": none
		body   string
		as     string // Response.Encoding
	}{
		{"none", "", "hello", "", "hello", ""},
		{"identity", "Content-Encoding: identity\r\n", "hello", "", "hello", ""},
		{"gzip", "Content-Encoding: gzip\r\n", hello, "", "hello", "gzip"},
		{"in any case", "Content-Encoding: GZip\r\n", hello, "", "hello", "gzip"},
		{"x-gzip", "Content-Encoding: x-gzip\r\n", hello, "", "hello", "gzip"},
		{"of an empty text", "Content-Encoding: gzip\r\n", zip(t, ""), "", "", "gzip"},
		{"of no body", "Content-Encoding: gzip\r\n", "", "", "", ""},
		{"unknown, of no body", "Content-Encoding: compress\r\n", "", "", "", ""},
		{"in two members", "Content-Encoding: gzip\r\n", hello + zip(t, " world"), "", "hello world", "gzip"},
		{"to the limit", "Content-Encoding: gzip\r\n", zip(t, full), "", full, "gzip"},
		{"to the limit, in two members", "Content-Encoding: gzip\r\n", zip(t, full) + zip(t, ""), "", full, "gzip"},
		{"over the limit", "Content-Encoding: gzip\r\n", zip(t, full+"x"), httpclient.KindBomb, "", ""},
		{"bomb", "Content-Encoding: gzip\r\n", zip(t, strings.Repeat(full, 20)), httpclient.KindBomb, "", ""},
		{"bomb of empty members", "Content-Encoding: gzip\r\n", strings.Repeat(zip(t, ""), 2000), "", "", "gzip"},
		{"truncated", "Content-Encoding: gzip\r\n", hello[:len(hello)-3], httpclient.KindEncoding, "", ""},
		{"truncated in the header", "Content-Encoding: gzip\r\n", hello[:5], httpclient.KindEncoding, "", ""},
		{"wrong checksum", "Content-Encoding: gzip\r\n", string(wrongSum), httpclient.KindEncoding, "", ""},
		{"not gzip", "Content-Encoding: gzip\r\n", "hello", httpclient.KindEncoding, "", ""},
		{"more after it", "Content-Encoding: gzip\r\n", hello + "hello, hello", "", "hello", "gzip"},
		{"a byte after it", "Content-Encoding: gzip\r\n", hello + "\x00", "", "hello", "gzip"},
		{"more after two members", "Content-Encoding: gzip\r\n", hello + hello + strings.Repeat("\x00", 600), "", "hellohello", "gzip"},
		{"a second member truncated", "Content-Encoding: gzip\r\n", hello + hello[:len(hello)-3], httpclient.KindEncoding, "", ""},
		{"a second member with a wrong checksum", "Content-Encoding: gzip\r\n", hello + string(wrongSum), httpclient.KindEncoding, "", ""},
		{"unknown", "Content-Encoding: compress\r\n", "hello", httpclient.KindEncoding, "", ""},
		{"one of two unknown", "Content-Encoding: compress, gzip\r\n", hello, httpclient.KindEncoding, "", ""},
		{"none, in words", "Content-Encoding: none\r\n", "hello", "", "hello", ""},
		{"a charset", "Content-Encoding: UTF-8\r\n", "hello", "", "hello", ""},
		{"a transfer encoding", "Content-Encoding: 8bit, binary\r\n", "hello", "", "hello", ""},
		{"a charset behind gzip", "Content-Encoding: gzip, utf-8\r\n", hello, "", "hello", "gzip"},
		{"a dictionary", "Content-Encoding: dcb\r\n", "hello", httpclient.KindEncoding, "", ""},
		{"twice", "Content-Encoding: gzip, gzip\r\n", zip(t, hello), "", "hello", "gzip, gzip"},
		{"in two fields", "Content-Encoding: gzip\r\nContent-Encoding: x-gzip\r\n", zip(t, hello), "", "hello", "gzip, gzip"},
		{"with identity and nothing between", "Content-Encoding: identity,, gzip\r\n", hello, "", "hello", "gzip"},
		{"four times", "Content-Encoding: gzip, gzip, gzip, gzip\r\n", zip(t, zip(t, zip(t, hello))), "", "hello", "gzip, gzip, gzip, gzip"},
		{"five times", "Content-Encoding: gzip, gzip, gzip, gzip, gzip\r\n", zip(t, zip(t, zip(t, zip(t, hello)))), httpclient.KindEncoding, "", ""},
		{"bomb in a bomb", "Content-Encoding: gzip, gzip\r\n", zip(t, zip(t, strings.Repeat(full, 20))), httpclient.KindBomb, "", ""},
		{"empty members between two", "Content-Encoding: gzip, gzip\r\n", zip(t, strings.Repeat(zip(t, ""), 4000)), httpclient.KindBomb, "", ""},
		{"over the limit between two", "Content-Encoding: gzip, gzip\r\n", zip(t, strings.Repeat(zip(t, ""), 5000)), httpclient.KindBomb, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			playBoth(t, httpclient.Options{MaxBody: maxBody}, func(s *site) {
				p := s.serve("/", response(c.fields, c.sent))
				if c.kind != "" {
					p.ended()
					p = s.accept()
				}
				p.serve("/next", response("Content-Encoding: gzip\r\n", zip(t, "next")))
			}, func(b *browser) {
				res, err := b.get("/")
				if c.kind != "" {
					expectKind(t, err, c.kind)
				} else if err != nil {
					t.Fatal(err)
				} else {
					if string(res.Body) != c.body || res.Encoding != c.as {
						t.Errorf("body of %d bytes (%.100q), encoding %q, want %d bytes (%.100q), %q", len(res.Body), res.Body, res.Encoding, len(c.body), c.body, c.as)
					}
					res.Close()
				}
				b.reads("/next", "next") // whatever came before
			})
		})
	}
}

// TestLongBodiesAreDecodedInTurn checks that when many responses arrive at once, each long one is
// decoded in a turn of its own, and a short one is not delayed.
func TestLongBodiesAreDecodedInTurn(t *testing.T) {
	const n = 8
	long := strings.Repeat("a long page ", 200_000)
	zipped := map[string]string{"hello": zip(t, "hello"), long: zip(t, long)}
	bodies := map[string]string{"/short": "hello"}
	for i := range n {
		bodies[fmt.Sprintf("/long/%d", i)] = long
	}
	play(t, httpclient.Options{}, func(s *site) {
		sent := make(map[*peer]string)
		for range bodies {
			p := s.accept()
			head, err := p.reader.ReadUntil(p.task, []byte("\r\n\r\n"), 8192)
			if err != nil {
				t.Fatal(err)
			}
			sent[p] = strings.Fields(string(head))[1]
		}
		s.until(time.Second)
		for p, target := range sent { // all at once
			p.send(response("Content-Encoding: gzip\r\n", zipped[bodies[target]]))
		}
		for p := range sent {
			p.ended()
		}
	}, func(b *browser) {
		loop := b.task.Loop()
		turn, left := 0, len(bodies)
		var tick func()
		tick = func() {
			if turn++; left > 0 {
				loop.CallSoon(tick)
			}
		}
		decoded := make(map[int][]string) // paths by turn
		err := b.task.Group(func(g *aio.Group) error {
			for target, body := range bodies {
				g.Go(target, func(task *aio.Task) error {
					res, err := b.client.Do(task, httpclient.Request{Scheme: "http", Host: "www.example", Target: target})
					if err != nil {
						return err
					}
					defer res.Close()
					if string(res.Body) != body {
						t.Errorf("%s: a body of %d bytes, want %d", target, len(res.Body), len(body))
					}
					if left == len(bodies) {
						loop.CallSoon(tick)
					}
					left--
					decoded[turn] = append(decoded[turn], target)
					return nil
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for turn, targets := range decoded {
			longs := len(targets)
			if slices.Contains(targets, "/short") {
				longs--
			}
			if longs > 1 || longs < len(targets) && turn > 1 {
				t.Errorf("turn %d: %q", turn, targets)
			}
		}
	})
}

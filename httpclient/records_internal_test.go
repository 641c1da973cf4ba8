package httpclient

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
)

// linked returns a channel after its handshake, and its peer's two directions.
func linked(t testing.TB, id uint16) (ch *channel, send, get *half) {
	t.Helper()
	warm := new(warmth)
	direction := func(b byte) half {
		h, err := newHalf(suites[id], bytes.Repeat([]byte{b}, suites[id].size), warm)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	ch = &channel{ours: true, get: direction(1), send: direction(2)}
	theirs, ours := direction(1), direction(2)
	return ch, &theirs, &ours
}

// record is a message of a peer: a record, or several.
type record struct {
	kind    byte
	content string
}

// keysChanged is a message after which the peer has new keys; wanted: and wants new ones from us.
func keysChanged(wanted bool) string {
	if wanted {
		return "\x18\x00\x00\x01\x01"
	}
	return "\x18\x00\x00\x01\x00"
}

// ticketMessage is a session ticket.
func ticketMessage(size int) string {
	return "\x04\x00" + string([]byte{byte(size >> 8), byte(size)}) + strings.Repeat("t", size)
}

func times(n int, all ...record) (more []record) {
	for range n {
		more = append(more, all...)
	}
	return more
}

// TestRecords: what a peer may send after the handshake, and what ends the connection.
func TestRecords(t *testing.T) {
	data := record{applicationRecord, "data"}
	empty := record{applicationRecord, ""}
	change, wanted := record{handshakeRecord, keysChanged(false)}, record{handshakeRecord, keysChanged(true)}
	whole := ticketMessage(100)
	for _, c := range []struct {
		name string
		sent []record
		took string // of the application data
		err  string // empty: none
	}{
		{"data", times(3, data), "datadatadata", ""},
		{"a long record", []record{{applicationRecord, strings.Repeat("x", maxRecord)}}, strings.Repeat("x", maxRecord), ""},
		{"an empty record now and then", times(20, empty, data), strings.Repeat("data", 20), ""},
		{"nothing but empty records", times(mostUseless+1, empty), "", "too many records without content"},
		{"a ticket", []record{{handshakeRecord, whole}, data}, "data", ""},
		{"two tickets in a record", []record{{handshakeRecord, whole + whole}, data}, "data", ""},
		{"a ticket in pieces", []record{{handshakeRecord, whole[:2]}, {handshakeRecord, whole[2:50]}, {handshakeRecord, whole[50:]}, data}, "data", ""},
		{"data within a ticket", []record{{handshakeRecord, whole[:50]}, data}, "", "unexpected message"},
		{"tickets without end", times(mostUseless+1, record{handshakeRecord, whole}), "", "too many records without content"},
		{"a ticket that is too long", times(3, record{handshakeRecord, ticketMessage(60_000)[:maxRecord]}), "", "unexpected message"},
		{"no message", []record{{handshakeRecord, ""}}, "", "unexpected message"},
		{"new keys", []record{data, change, data, wanted, data}, "datadatadata", ""},
		{"new keys too often", times(mostUpdates+1, change, data), strings.Repeat("data", mostUpdates), "too many changes of keys"},
		{"new keys, and a message under the old ones", []record{{handshakeRecord, keysChanged(false) + whole}}, "", "error decoding message"},
		{"new keys of a wrong form", []record{{handshakeRecord, "\x18\x00\x00\x01\x02"}}, "", "error decoding message"},
		// TLS 1.2 had these.
		{"a handshake", []record{{handshakeRecord, "\x00\x00\x00\x00"}}, "", "unexpected message"},
		{"the end", []record{data, {alertRecord, "\x01\x00"}, data}, "data", "EOF"},
		{"an alert", []record{{alertRecord, "\x02\x50"}}, "", "remote error: tls: internal error"},
		{"an alert that says nothing", []record{{alertRecord, "\x01\x5a"}, data}, "data", ""},
		{"an alert of a wrong form", []record{{alertRecord, "\x01"}}, "", "error decoding message"},
		{"another kind", []record{{24, "x"}}, "", "unexpected message"},
	} {
		for id := range suites {
			t.Run(c.name+", "+tls.CipherSuiteName(id), func(t *testing.T) {
				ch, send, get := linked(t, id)
				var stream []byte
				for _, r := range c.sent {
					stream = send.seal(stream, r.kind, []byte(r.content))
					if strings.HasPrefix(r.content, "\x18") {
						if err := send.update(); err != nil {
							t.Fatal(err)
						}
					}
				}
				for _, piece := range []int{len(stream), 1000, 7} {
					ch, again := *ch, bytes.Clone(stream)
					took, err := feedAll(&ch, again, piece)
					if took != c.took || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
						t.Errorf("in pieces of %d: took %.100q, %v\nwant %.100q, %s", piece, took, err, c.took, c.err)
					}
					if c.name == "new keys" {
						expectUpdate(t, &ch, *get)
					}
				}
			})
		}
	}
}

// feedAll hands over a stream in pieces, and returns what the channel took from it.
func feedAll(ch *channel, stream []byte, piece int) (took string, err error) {
	var all, b []byte
	buf := make([]byte, maxRecord)
	for len(stream) > 0 && err == nil {
		n := min(piece, len(stream))
		b, stream = append(b, stream[:n]...), stream[n:]
		var used int
		used, err = ch.open(buf, b, func(p []byte) { all = append(all, p...) })
		b = b[used:]
	}
	return string(all), err
}

// expectUpdate checks that the channel changes its keys as the peer wants, before it sends more.
func expectUpdate(t *testing.T, ch *channel, get half) {
	t.Helper()
	sealed, err := ch.seal(nil, []byte("more"))
	if err != nil {
		t.Fatal(err)
	}
	n := recordSize(sealed)
	kind, content, err := get.open(sealed[:n])
	if err != nil || kind != handshakeRecord || string(content) != keysChanged(false) {
		t.Errorf("sent %d, %q, %v", kind, content, err)
	}
	if err := get.update(); err != nil {
		t.Fatal(err)
	}
	if kind, content, err = get.open(sealed[n:]); err != nil || kind != applicationRecord || string(content) != "more" {
		t.Errorf("sent %d, %q, %v", kind, content, err)
	}
}

// TestSeal: what is longer than a record is sent in several.
func TestSeal(t *testing.T) {
	long := strings.Repeat("x", 2*maxRecord+1)
	ch, _, get := linked(t, tls.TLS_AES_128_GCM_SHA256)
	sealed, err := ch.seal(nil, []byte(long))
	if err != nil {
		t.Fatal(err)
	}
	peer := channel{ours: true, get: *get}
	if took, err := feedAll(&peer, sealed, len(sealed)); took != long || err != nil {
		t.Errorf("%d bytes, %v", len(took), err)
	}
}

// TestForgedRecords: records that were changed, repeated or left out, and an end within one, are
// errors.
func TestForgedRecords(t *testing.T) {
	for name, forge := range map[string]func(one, two []byte) []byte{
		"changed":       func(one, two []byte) []byte { one[9] ^= 1; return one },
		"a longer head": func(one, two []byte) []byte { one[2] = 4; return one },
		"repeated":      func(one, two []byte) []byte { return append(one, one...) },
		"left out":      func(one, two []byte) []byte { return two },
		"not sealed":    func(one, two []byte) []byte { return []byte("\x15\x03\x03\x00\x02\x01\x00") },
		"too long":      func(one, two []byte) []byte { return append([]byte("\x17\x03\x03\x45\x00"), make([]byte, 1<<15)...) },
		"cut":           func(one, two []byte) []byte { return append(one, two[:10]...) },
		"no TLS":        func(one, two []byte) []byte { return []byte("HTTP/1.1 200 OK\r\n\r\n") },
	} {
		ch, send, _ := linked(t, tls.TLS_AES_128_GCM_SHA256)
		one := send.seal(nil, applicationRecord, []byte("one"))
		two := send.seal(nil, applicationRecord, []byte("two"))
		stream := forge(one, two)
		ch.ended = true
		took, err := feedAll(ch, stream, len(stream))
		if err == nil || errors.Is(err, io.EOF) || len(took) > len("one") {
			t.Errorf("%s: took %q, %v", name, took, err)
		}
	}
}

// TestWarmth: the directions used last have their ciphers, however many there are, and a closed
// connection has none.
func TestWarmth(t *testing.T) {
	warm := new(warmth)
	halves := make([]half, 3*len(warm.used))
	for i := range halves {
		h, err := newHalf(suites[tls.TLS_AES_128_GCM_SHA256], make([]byte, 32), warm)
		if err != nil {
			t.Fatal(err)
		}
		halves[i] = h
	}
	for range 2 {
		for i := range halves {
			halves[i].seal(nil, applicationRecord, []byte("x"))
		}
	}
	n := 0
	for i := range halves {
		if halves[i].aead != nil {
			n++
		}
	}
	if n != len(warm.used) {
		t.Errorf("%d directions have a cipher, want %d", n, len(warm.used))
	}
	last := &halves[len(halves)-1]
	warm.drop(last)
	for _, h := range warm.used {
		if h == last {
			t.Error("a dropped direction is remembered")
		}
	}
}

// FuzzRecords: whatever a peer with the keys sends, what is kept of it is bounded, and nothing is
// used that has not arrived. The input is a sequence of records: kind, length, content.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{
		"\x17\x04data", "\x16\x05" + keysChanged(true) + "\x17\x01x", "\x15\x02\x01\x00", "\x16\x08" + ticketMessage(4), "\x16\x02\x04\x00\x17\x01x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		ch, send, _ := linked(t, tls.TLS_AES_128_GCM_SHA256)
		var stream []byte
		for len(input) >= 2 {
			kind, n := input[0], min(int(input[1]), len(input)-2)
			content := input[2 : 2+n]
			stream = send.seal(stream, kind, content)
			if kind == handshakeRecord && bytes.HasSuffix(content, []byte(keysChanged(true)[:4])) {
				_ = send.update()
			}
			input = input[2+n:]
		}
		stream = append(stream, input...)
		took, _ := feedAll(ch, stream, 100)
		if len(took) > len(stream) || len(ch.message) > 2*maxRecord || len(ch.out) > mostUpdates*64 {
			t.Errorf("took %d of %d bytes, keeps %d, sends %d", len(took), len(stream), len(ch.message), len(ch.out))
		}
	})
}

package httpclient

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
)

// script is a connection whose peer sends its script whatever it receives.
type script struct {
	net.Conn
	in io.Reader
}

func (s script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s script) Write(p []byte) (int, error) { return len(p), nil }
func (s script) Close() error                { return nil }

// judged returns the kind of an error after checking that its text is printable.
func judged(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return "granted"
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("an error of %q", err)
	}
	return err.Error()
}

// FuzzConnect checks that a proxy's response to CONNECT is accepted or refused, in one piece as
// byte by byte; if bytes follow it, it is refused.
func FuzzConnect(f *testing.F) {
	for _, response := range []string{
		"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 Connection established\nVia: x\n\n", "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "SSH-2.0\r\n", "",
	} {
		f.Add([]byte(response))
	}
	c := &Client{opt: Options{UserAgent: "x"}.withDefaults()}
	via := &Proxy{Scheme: "http", Host: "p.example", Port: 80}
	f.Fuzz(func(t *testing.T, response []byte) {
		rest := bytes.NewReader(response)
		slow := judged(t, c.askTunnel(script{in: iotest.OneByteReader(rest)}, via, "a.example:443"))
		fast := judged(t, c.askTunnel(script{in: bytes.NewReader(response)}, via, "a.example:443"))
		switch {
		case slow == "granted" && rest.Len() > 0:
			if fast == "granted" && len(response) <= 4<<10 {
				t.Errorf("%q is granted, with %d bytes after the response", response, rest.Len())
			}
		case slow != fast:
			t.Errorf("%q: %s byte by byte, %s in one piece", response, slow, fast)
		}
	})
}

// FuzzSOCKS checks the same for the replies of a SOCKS proxy, of which no byte beyond is taken.
func FuzzSOCKS(f *testing.F) {
	for _, responses := range []string{
		"\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", "\x05\x02\x01\x00\x05\x00\x00\x03\x00\x00\x00rest",
		"\x05\x00\x05\x00\x00\x04" + strings.Repeat("x", 18), "\x05\x02\x01\x01", "\x05\xff", "\x04", "",
	} {
		f.Add([]byte(responses))
	}
	via := &Proxy{Scheme: "socks5h", Host: "p.example", Port: 1080, User: "me", Password: "secret"}
	f.Fuzz(func(t *testing.T, responses []byte) {
		slow, fast := bytes.NewReader(responses), bytes.NewReader(responses)
		one, all := socks(script{in: iotest.OneByteReader(slow)}, via, "a.example:443"), socks(script{in: fast}, via, "a.example:443")
		if got, want := judged(t, one), judged(t, all); got != want || slow.Len() != fast.Len() {
			t.Errorf("%q: %s byte by byte, %s in one piece; %d and %d bytes left", responses, got, want, slow.Len(), fast.Len())
		}
	})
}

// FuzzSetCookie checks that a Set-Cookie field that parses can be sent back in a Cookie field
// without ending the field or the cookie.
func FuzzSetCookie(f *testing.F) {
	for _, line := range []string{"n=v; Path=/; Domain=.example.org; Max-Age=3; Secure; HttpOnly; SameSite=Lax", `a="b c"; Expires=Thu, 01-Jan-70 00:00:00 GMT`, "=;=", "n"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := parseCookie(line)
		if c == nil {
			return
		}
		field := Field{"Cookie", trim(c.Name + "=" + c.Value)}
		if err := (Header{field}).Check(); err != nil || c.Name == "" || strings.Contains(field.Value, ";") {
			t.Errorf("%q is sent as %q: %v", line, field.Value, err)
		}
	})
}

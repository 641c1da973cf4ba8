package httpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/proxy"

	"github.com/weftcrawl/weft/aio"
)

// refusal is the error of a proxy that refuses a connection.
type refusal struct {
	text      string
	permanent bool // it would refuse again
}

func (r *refusal) Error() string { return r.text }

// failed makes an error of kind proxy of an error on the way through p, except for errors that p
// has not caused.
func (p *Proxy) failed(err error, to []netip.AddrPort) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, aio.ErrCanceled), classify(err, "").Kind == KindResource, noPort(err, to):
		return err
	}
	return fail(KindProxy, "%v: %w", p, err)
}

// through connects to the host of req by way of a proxy. server is the host's address, if it was
// looked up here.
func (c *Client) through(t *aio.Task, req *Request, at route, host string, port uint16, tm *Timing) (raw aio.Conn, server netip.AddrPort, found lookup, err error) {
	via, tunnel := at.via, !at.forwarded()
	began := c.loop.Now()
	targets := []netip.AddrPort{{}}
	if tunnel && !via.resolves() {
		if targets, err = c.names.resolve(t, host, port); err == nil {
			found = c.lookup(host, port, targets)
			targets, err = c.permit(req, host, port, targets)
		}
		if err == nil {
			targets = c.prefer(req, host, port, targets)
		}
		if err != nil {
			return nil, server, found, err
		}
	}
	to, err := c.names.resolve(t, via.Host, via.Port)
	tm.DNS = c.loop.Now().Sub(began)
	defer func() { tm.Connect = c.loop.Now().Sub(began) - tm.DNS }()
	if err != nil {
		return nil, server, found, via.failed(err, nil)
	}
	for _, server = range targets[:min(len(targets), maxTargets)] {
		if server.IsValid() {
			host = server.Addr().String()
		}
		raw, err = aio.Connect(t, to)
		if err != nil {
			return nil, server, found, via.failed(err, to)
		}
		if tunnel {
			err = c.tunnel(t, raw, via, net.JoinHostPort(host, strconv.Itoa(int(port))))
		}
		if err == nil {
			return raw, server, found, nil
		}
		raw.Close()
		if err = via.failed(err, to); errorKind(err) != KindProxy {
			break
		}
	}
	return nil, server, found, err
}

// maxTargets bounds the addresses of a host that are tried through a proxy, one after the other.
const maxTargets = 4

func errorKind(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// tunnel asks the proxy at the other end of raw for a connection to an address, HOST:PORT.
func (c *Client) tunnel(t *aio.Task, raw aio.Conn, via *Proxy, address string) error {
	if via.socks() {
		return socks(aio.NewNetConn(t, raw), via, address)
	}
	return c.askTunnel(aio.NewNetConn(t, raw), via, address)
}

// askTunnel sends a CONNECT (RFC 9110, section 9.3.6).
func (c *Client) askTunnel(nc io.ReadWriter, via *Proxy, address string) error {
	b := []byte("CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n")
	for _, f := range []Field{{"User-Agent", c.opt.UserAgent}, {"Proxy-Authorization", cmp.Or(c.toProxy, via.authorization())}} {
		if f.Value != "" {
			b = appendField(b, f)
		}
	}
	if _, err := nc.Write(append(b, "\r\n"...)); err != nil {
		return err
	}
	p := parser{maxHead: c.opt.MaxHead, head: true} // what follows the head is not its body
	buf := make([]byte, 4<<10)
	for p.state != whole {
		n, err := nc.Read(buf)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("CONNECT %s: the connection ended without a response", address)
		}
		if err != nil {
			return err
		}
		used, bad := p.feed(buf[:n])
		switch {
		case bad != nil:
			return fmt.Errorf("CONNECT %s: %w", address, bad.Err)
		case p.state == whole && p.res.Status >= 200 && p.res.Status < 300 && used < n:
			return fmt.Errorf("CONNECT %s: unrequested bytes after the response", address)
		}
	}
	if status := p.res.Status; status < 200 || status > 299 {
		return refused(via, "CONNECT "+address, status)
	}
	return nil
}

// refused returns the error of an HTTP proxy that responds with a status of its own.
func refused(via *Proxy, what string, status int) *refusal {
	r := &refusal{text: fmt.Sprintf("%s: status %d", what, status), permanent: status < 500 && status != 408 && status != 429}
	switch {
	case status == 407 && via.authorization() == "":
		r.text += ", it requires user and password"
	case status == 407:
		r.text += ", it rejects the user and password"
	}
	return r
}

// permanentSOCKS lists the library's texts for a SOCKS proxy that would refuse again, because of
// the user or of the destination.
var permanentSOCKS = []string{
	"no acceptable authentication methods", "username/password authentication failed",
	"connection not allowed by ruleset", "command not supported", "address type not supported",
}

// socks asks by SOCKS version 5. Without a context of ours the library starts no goroutine.
func socks(nc net.Conn, via *Proxy, address string) error {
	var auth *proxy.Auth
	if via.User != "" {
		auth = &proxy.Auth{User: via.User, Password: via.Password}
	}
	d, err := proxy.SOCKS5("tcp", via.address(), auth, connected{nc})
	if err != nil {
		return err
	}
	if _, err = d.Dial("tcp", address); err == nil {
		return nil
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("SOCKS to %s: the connection ended without a response", address)
	}
	// The library's prefix for all known replies.
	reply, ok := strings.CutPrefix(err.Error(), "unknown error ")
	if permanent := slices.Contains(permanentSOCKS, reply); ok || permanent {
		return &refusal{"SOCKS to " + address + ": " + reply, permanent}
	}
	return fmt.Errorf("SOCKS to %s: %w", address, err)
}

// connected turns a connection into a dialer. The library would call Dial of a dialer without
// DialContext from another goroutine.
type connected struct{ net.Conn }

func (c connected) Dial(string, string) (net.Conn, error) { return c.Conn, nil }

func (c connected) DialContext(context.Context, string, string) (net.Conn, error) { return c.Conn, nil }

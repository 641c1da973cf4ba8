package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// webWithin bounds the time until a server greets, before it is probed by HTTP.
const webWithin = 500 * time.Millisecond

// refuseWeb returns an error if one of the servers is a web server, such as the monitor of NATS on
// port 8222. That waits for a request as long as a client of NATS waits for a greeting.
func refuseWeb(ctx context.Context, servers []string) error {
	for _, server := range servers {
		if scheme, rest, ok := strings.Cut(server, "://"); !ok {
			server = "//" + server
		} else if server = "//" + rest; strings.HasPrefix(scheme, "ws") {
			continue
		}
		u, err := url.Parse(server)
		if err != nil {
			continue // it is refused elsewhere
		}
		port := u.Port()
		if port == "" {
			port = "4222"
		}
		if at := net.JoinHostPort(u.Hostname(), port); isWeb(ctx, at) {
			return fmt.Errorf("cluster %s: a web server, expected a NATS server", at)
		}
	}
	return nil
}

// isWeb reports whether a server says nothing until it gets an HTTP request.
func isWeb(ctx context.Context, at string) bool {
	short, cancel := context.WithTimeout(ctx, webWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(short, "tcp", at)
	if err != nil {
		return false
	}
	defer conn.Close()
	first := make([]byte, len("HTTP/"))
	for _, ask := range []string{"", "HEAD / HTTP/1.0\r\n\r\n"} {
		_ = conn.SetDeadline(time.Now().Add(webWithin)) // then it says nothing, either
		if _, err := io.WriteString(conn, ask); err != nil {
			return false
		}
		if _, err := io.ReadFull(conn, first); err == nil {
			return ask != "" && string(first) == "HTTP/"
		}
	}
	return false
}

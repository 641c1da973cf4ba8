// Package loopback serves HTTP to the programs of this machine only.
package loopback

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Serve serves at a listener of loopback until ctx ends, which is no error. It closes the listener.
// A client has 10 s for the head of a request, of at most 64 KiB, and may keep an idle connection
// for two minutes. With changes the server before it begins.
func Serve(ctx context.Context, listener net.Listener, h http.Handler, with ...func(*http.Server)) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // of connections that end early
	}
	for _, change := range with {
		change(server)
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// IsHost reports whether the Host of a request is a name of this machine to itself. A page on the
// Web may have its own name lead here, and read what it loads by it.
func IsHost(host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

package replay

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve serves a [Server] or a [Proxy] to the browsers of this machine, at a listener of loopback,
// until ctx ends, which is no error. It closes the listener. A client has 10 s for the head of a
// request, of at most 64 KiB, and may keep an idle connection for two minutes.
func Serve(ctx context.Context, listener net.Listener, pages http.Handler) error {
	server := &http.Server{
		Handler: pages, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // of connections that end early
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

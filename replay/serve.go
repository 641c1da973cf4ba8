package replay

import (
	"context"
	"net"
	"net/http"

	"github.com/weftcrawl/weft/internal/loopback"
)

// Serve serves a [Server] or a [Proxy] to the browsers of this machine, at a listener of loopback,
// until ctx ends, which is no error. It closes the listener. A client has 10 s for the head of a
// request, of at most 64 KiB, and may keep an idle connection for two minutes.
func Serve(ctx context.Context, listener net.Listener, pages http.Handler) error {
	return loopback.Serve(ctx, listener, pages)
}

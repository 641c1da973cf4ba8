package serve

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/weftcrawl/weft/internal/loopback"
)

// mostConnections is far below the descriptors that a process may have.
const mostConnections = 4096

// Serve serves at a listener until ctx ends, which is no error. It closes the listener.
func Serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	return loopback.Serve(ctx, listener, h, newDoor(mostConnections).guard)
}

// door bounds the connections. One too many closes the connection that has been without a request
// of somebody known for the longest time: nobody keeps others out by connecting alone, or by
// sending a request byte after byte.
type door struct {
	mu      sync.Mutex
	most    int
	waiting *list.List                 // of net.Conn without such a request, the longest first
	place   map[net.Conn]*list.Element // of each open connection; nil: it has such a request
}

type (
	doorKey struct{}
	visitor struct {
		door *door
		conn net.Conn
	}
)

func newDoor(most int) *door {
	return &door{most: most, waiting: list.New(), place: make(map[net.Conn]*list.Element)}
}

// guard has the connections of a server pass the door.
func (d *door) guard(s *http.Server) {
	s.ConnState = d.changed
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, doorKey{}, visitor{d, c})
	}
}

// changed notes the new state of a connection.
func (d *door) changed(c net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch state {
	case http.StateNew, http.StateIdle:
		d.rise(c)
		d.place[c] = d.waiting.PushBack(c)
	case http.StateClosed, http.StateHijacked:
		d.rise(c)
		delete(d.place, c)
	}
	if len(d.place) > d.most && d.waiting.Len() > 0 {
		first := d.waiting.Front().Value.(net.Conn)
		d.rise(first)
		delete(d.place, first)
		if t, ok := first.(*tls.Conn); ok {
			first = t.NetConn() // which is closed at once, without a last message
		}
		_ = first.Close()
	}
}

// rise takes a connection from those that wait.
func (d *door) rise(c net.Conn) {
	if e := d.place[c]; e != nil {
		d.waiting.Remove(e)
	}
}

// busy notes that the connection of a request has one of somebody known.
func busy(ctx context.Context) {
	v, ok := ctx.Value(doorKey{}).(visitor)
	if !ok {
		return // a test has no connections
	}
	v.door.mu.Lock()
	defer v.door.mu.Unlock()
	if _, open := v.door.place[v.conn]; open {
		v.door.rise(v.conn)
		v.door.place[v.conn] = nil
	}
}

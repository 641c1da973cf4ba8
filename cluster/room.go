package cluster

import "context"

// room bounds the bytes in memory. One goroutine takes of it.
type room chan struct{}

const (
	roomUnit  = 32 << 10
	smallRoom = 1 << 20
)

func newRoom(bytes int) room { return make(room, max(bytes, smallRoom)/roomUnit) }

// bytes is the size of the whole room.
func (r room) bytes() int { return cap(r) * roomUnit }

// units is the part that so many bytes take, at most the whole: a message of any size has room.
func (r room) units(bytes int) int { return min(cap(r), 1+bytes/roomUnit) }

// take waits until there is room for so many bytes, or for the end of ctx.
func (r room) take(ctx context.Context, bytes int) error {
	for taken := range r.units(bytes) {
		select {
		case r <- struct{}{}:
		case <-ctx.Done():
			for range taken {
				<-r
			}
			return context.Cause(ctx)
		}
	}
	return nil
}

// give gives back what was taken.
func (r room) give(bytes int) {
	for range r.units(bytes) {
		<-r
	}
}

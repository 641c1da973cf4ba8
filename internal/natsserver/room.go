//go:build unix

package natsserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/nats-io/nats-server/v2/server"
)

// NATS does not survive a full disk: a failed write disables JetStream until the server is started
// again, and may leave a store that waits for itself, so that not even a shutdown ends (2.15.3:
// fileStore.PurgeEx holds the lock of the store that flushPendingMsgs takes after a failed write).
// So a server that is alone refuses messages before its disk is full, and nodes wait. Whatever
// fills the disk faster than that makes the server fail: then it has to be started anew, in a new
// process.
const (
	lookAtDisk = 50 * time.Millisecond
	mostSpare  = 64 << 20 // of a small disk it is less: see spare
	fullBelow  = 64 << 10 // with less room than that, writes may have failed
)

// ErrFull is returned by Start when the disk of the store is full, or nearly so.
var ErrFull = errors.New("the disk of the store is full")

// spare returns how much room there has to be for messages to be taken.
func spare(disk *vfs.DiskUsage) uint64 { return min(mostSpare, disk.TotalBytes/8) }

// hasRoom returns ErrFull if the disk of a store has too little room to begin.
func hasRoom(store string) error {
	disk, err := vfs.Default.GetDiskUsage(store)
	if err == nil && disk.AvailBytes < spare(&disk) {
		err = fmt.Errorf("store %.128q: %w: %d KiB are left, expected %d KiB", store, ErrFull, disk.AvailBytes>>10, spare(&disk)>>10)
	}
	return err
}

// room is the state of a server's disk, as it was seen last. Owner: diskWatch.
type room struct {
	refuses bool // messages
	full    bool // writes may have failed
}

// look takes in how much room a disk has, and returns whether messages are to be refused, and
// whether the server has to be started anew, which is of use once there is room.
func (r *room) look(disk *vfs.DiskUsage, enabled bool) (refuse, failed bool) {
	enough := spare(disk)
	if r.refuses {
		enough += enough / 4
	}
	r.refuses = disk.AvailBytes < enough
	r.full = r.full || disk.AvailBytes < fullBelow
	return r.refuses, !enabled || r.full && !r.refuses
}

// diskWatch refuses messages while there is little room, and reports a failure.
//
// Owner: the goroutine that calls look.
type diskWatch struct {
	server *Server
	store  string
	alone  bool
	room   room
}

func (w *diskWatch) look() (more bool) {
	disk, err := vfs.Default.GetDiskUsage(w.store)
	if err != nil {
		return true // the next look may tell
	}
	was := w.room.refuses
	refuse, failed := w.room.look(&disk, w.server.nats.JetStreamEnabled())
	if failed {
		w.server.fail()
		return false
	}
	if refuse != was && w.alone {
		w.server.refuse(refuse, &disk)
	}
	return true
}

// refuse has the server take no messages, or take them again.
func (s *Server) refuse(on bool, disk *vfs.DiskUsage) {
	var limits map[string]server.JetStreamAccountLimits // none
	text := "the disk has room again: messages are taken"
	if on {
		limits = map[string]server.JetStreamAccountLimits{"": {
			MaxStore: 0, MaxMemory: -1, MaxStreams: -1, MaxConsumers: -1, MaxAckPending: -1, MemoryMaxStreamBytes: -1, StoreMaxStreamBytes: -1,
		}}
		text = fmt.Sprintf("the disk has %d KiB left: messages wait until there are %d KiB", disk.AvailBytes>>10, spare(disk)*5/4>>10)
	}
	if err := s.nats.GlobalAccount().UpdateJetStreamLimits(limits); err != nil {
		text += ": " + err.Error()
	}
	s.log.tell(text)
}

package ownership

import "errors"

// ErrDead ends a node that another one has written dead: it was silent for too long.
var ErrDead = errors.New("this node was silent for too long, and others have taken its partitions")

// ErrReplaced ends a node whose key another process has taken.
var ErrReplaced = errors.New("another process has this node's ID")

// Kind is the task that an order gives a process.
type Kind uint8

const (
	Take   Kind = iota // the partition is this node's: restore it, then call Started
	Drain              // lease no more of it, wait for those in flight, send its changes, call Drained
	Keep               // a drain is called off: go on
	Drop               // the partition is another's, or will be: forget it at once
	Pause              // the beat could not be renewed: neither fetch nor commit, for any partition
	Resume             // ends a pause
	End                // the node owns nothing any more; nothing follows
)

var kinds = [...]string{Take: "take", Drain: "drain", Keep: "keep", Drop: "drop", Pause: "pause", Resume: "resume", End: "end"}

func (k Kind) String() string { return kinds[k] }

// Order is an order to a process.
type Order struct {
	Kind      Kind
	Partition int    // of Take, Drain, Keep and Drop
	Epoch     uint64 // of Take
	Before    uint64 // of Take: the epoch before. A disk that has its last state need not restore it
	Mine      bool   // of Take: the owner before was this node, or an earlier process with its ID
	Err       error  // of End: ErrDead, ErrReplaced; nil: the node has left
}

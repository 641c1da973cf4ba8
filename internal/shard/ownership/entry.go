package ownership

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Entry is a key as the store shows it.
type Entry struct {
	Key      string
	Value    []byte // empty: deleted
	Revision uint64
}

// Write asks for a new value of a key.
type Write struct {
	Key      string
	Value    []byte
	Expected uint64 // the revision that it replaces; 0: the key does not exist
}

// The keys of a crawl start with these.
const (
	nodePrefix = "node."
	partPrefix = "part."
)

// Owner is a process that a partition belongs to; zero: none.
type Owner struct {
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
}

// claim is the value of a partition's key.
type claim struct {
	Owner
	Before uint64 `json:"before"` // the revision that it replaced
}

// State is the state of a node by its key.
type State string

const (
	Alive   State = "alive"
	Leaving State = "leaving" // hands its partitions over
	Left    State = "left"    // ended by itself
	Dead    State = "dead"    // written by another node
)

// Beat is the value of a node's key.
type Beat struct {
	Incarnation uint64        `json:"incarnation"`
	State       State         `json:"state"`
	At          time.Duration `json:"at"` // when it was composed, on the node's own clock

	Started int `json:"started"` // partitions that it has started
	Room    int `json:"room"`    // the most that it is given beyond those that it has started

	// For package ending.
	Idle   bool   `json:"idle"`           // see [Node.Idle]
	Wakes  uint64 `json:"wakes"`          // times that work has ended idleness
	Digest uint64 `json:"holds"`          // of the partitions that it has started, with their epochs
	Seen   uint64 `json:"seen"`           // the highest revision it knew of when the beat was composed
	Asks   bool   `json:"asks,omitempty"` // see [Node.Ask]

	Note json.RawMessage `json:"note,omitempty"` // see [Node.Note]
}

// Running reports whether a node with this beat owns partitions.
func (b *Beat) Running() bool { return b.State == Alive || b.State == Leaving }

// parse returns the ID of a node or the number of a partition, as a key has it.
func parse(key string, partitions int) (id string, part int, err error) {
	if id, ok := strings.CutPrefix(key, nodePrefix); ok && id != "" {
		return id, 0, nil
	}
	digits, ok := strings.CutPrefix(key, partPrefix)
	if !ok {
		return "", 0, fmt.Errorf("ownership: key %q, expected %sID or %sNUMBER", key, nodePrefix, partPrefix)
	}
	if part, err = strconv.Atoi(digits); err != nil || part < 0 || part >= partitions {
		return "", 0, fmt.Errorf("ownership: key %q, expected a partition below %d", key, partitions)
	}
	return "", part, nil
}

// decode reads a value; an empty one is zero, and one that cannot be read counts as deleted:
// whoever waited for a better one would wait for ever.
func decode(e Entry, v any) error {
	if len(e.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(e.Value, v); err != nil {
		return fmt.Errorf("ownership: value of key %q: %w", e.Key, err)
	}
	return nil
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of this file, whose notes were checked
	}
	return b
}

// NodeOf returns the node of a key, and what its value says of it. It reports false for other keys.
func NodeOf(key string, value []byte) (id string, b Beat, ok bool) {
	if id, ok = strings.CutPrefix(key, nodePrefix); ok {
		ok = json.Unmarshal(value, &b) == nil
	}
	return id, b, ok
}

// OwnerOf returns the owner of a partition by its key and value. It reports false for other keys.
func OwnerOf(key string, value []byte) (o Owner, ok bool) {
	_, o, _, ok = ClaimOf(key, value)
	return o, ok
}

// ClaimOf returns a partition by its key and value, with its owner and the revision that this has
// replaced, 0 if there was none. It reports false for other keys.
func ClaimOf(key string, value []byte) (part int, o Owner, before uint64, ok bool) {
	digits, ok := strings.CutPrefix(key, partPrefix)
	if !ok {
		return 0, o, 0, false
	}
	part, err := strconv.Atoi(digits)
	var c claim
	if err == nil {
		err = json.Unmarshal(value, &c)
	}
	return part, c.Owner, c.Before, err == nil
}

// Vacated returns the keys of a crawl whose partitions all belong to a node that has left.
func Vacated(id string, partitions int) (all []Write) {
	for p := range partitions {
		all = append(all, Write{Key: partKey(p), Value: encode(claim{Owner: Owner{id, 1}})})
	}
	return append(all, Write{Key: nodePrefix + id, Value: encode(Beat{Incarnation: 1, State: Left})})
}

// PartKey is the key of a partition.
func PartKey(part int) string { return partKey(part) }

func partKey(part int) string { return partPrefix + strconv.Itoa(part) }

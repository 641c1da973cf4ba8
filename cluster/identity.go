package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/nats-io/nuid"

	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
)

// identity is the owner of a job folder: a file there, node.json.
type identity struct {
	Crawl string `json:"crawl"` // Plan.ID
	Node  string `json:"node"`
	// Incarnation is that of the last process: random, as copies of a folder may start at once.
	Incarnation uint64 `json:"incarnation"`

	// Plan is the crawl's, for when the servers have lost it: see Restore.
	Plan json.RawMessage `json:"plan,omitempty"`

	ended uint64 // that of the process before, which has ended: it had the folder's lock
}

func identityFile(dir string) string { return filepath.Join(dir, "node.json") }

// folder is the content of a job folder before a process takes its lock.
type folder struct {
	dir   string
	was   identity
	parts map[int]store.Partition
}

// readFolder reads a job folder. It refuses one that cannot be a node's.
func readFolder(dir string) (f folder, err error) {
	f.dir = dir
	if f.was, err = readIdentity(dir); err != nil {
		return f, err
	}
	j, err := job.View(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer j.Close()
	if f.was.Crawl == "" { // or a node ended before it had its identity
		if h, err := j.SavedHistory(); err != nil || !h.Summary.Started.IsZero() {
			return f, cmp.Or(err, fmt.Errorf("%s: the job of a crawl on one machine, expected a new folder", dir))
		}
	}
	f.parts, err = j.Store.Partitions()
	return f, err
}

// check refuses a folder that is of another crawl than that; empty: than one that has not begun.
func (id identity) check(crawl, dir string) error {
	switch id.Crawl {
	case "", crawl:
		return nil
	}
	if crawl == "" {
		return fmt.Errorf("%s: the job of a node of a crawl that was deleted from the servers, or has another name; expected a new folder", dir)
	}
	return fmt.Errorf("%s: the job of a node of another crawl, expected a new folder", dir)
}

func readIdentity(dir string) (id identity, err error) {
	text, err := os.ReadFile(identityFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return id, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", identityFile(dir), err)
	}
	return id, err
}

// IsNode reports whether a folder is the job of a node.
func IsNode(dir string) bool {
	id, err := readIdentity(dir)
	return err == nil && id.Crawl != ""
}

// identify returns the node that a job folder makes of this process, which has its lock. The folder
// is as it was read: each process that has the lock writes another incarnation.
func (f *folder) identify(p *Plan) (identity, error) {
	id, err := readIdentity(f.dir)
	if err != nil {
		return id, err
	}
	if id.Incarnation != f.was.Incarnation {
		return id, fmt.Errorf("%s: another process had it a moment ago, expected one at a time", f.dir)
	}
	if id.Node == "" {
		id = identity{Crawl: p.ID, Node: nuid.Next()}
	}
	id.Plan = p.text
	id.ended, id.Incarnation = id.Incarnation, 1+rand.Uint64N(1<<53-1)
	text, err := json.Marshal(id)
	if err != nil {
		return id, err
	}
	return id, atomicfile.Replace(identityFile(f.dir), 0o600, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// nodeName is the name, for people, of the node of a folder.
func nodeName(dir string) string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "?"
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return machine + ":" + dir
}

// processOf names a process of a node, in limits and messages.
func processOf(id string, incarnation uint64) string {
	return id + "." + strconv.FormatUint(incarnation, 10)
}

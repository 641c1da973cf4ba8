package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/nats-io/nuid"

	"github.com/weftcrawl/weft/frontier/store"
)

// identity is whose a job folder is. It is a file there, node.json.
type identity struct {
	Crawl       string `json:"crawl"` // Plan.ID
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation"` // of the last process: random, as copies of a folder may start at once

	ended uint64 // that of the process before, which has ended: it had the folder's lock
}

func identityFile(dir string) string { return filepath.Join(dir, "node.json") }

// onDisk returns the partitions that a job folder has, and notes what it has of others. It refuses a folder
// that is not of this crawl.
func (n *node) onDisk(dir string) (ours []int, err error) {
	id, err := readIdentity(dir)
	switch {
	case err != nil:
		return nil, err
	case id.Crawl != "" && id.Crawl != n.plan.ID:
		return nil, fmt.Errorf("%s: the job of a node of another crawl, expected a new folder", dir)
	}
	s, err := store.Open(dir, store.Options{FS: store.Disk, ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if id.Crawl == "" {
		return nil, fmt.Errorf("%s: the job of a crawl on one machine, expected a new folder", dir)
	}
	states, err := s.Partitions()
	for p, state := range states {
		switch {
		case p >= len(n.parts):
			return nil, fmt.Errorf("%s: partition %d, expected less than %d", dir, p, len(n.parts))
		case state == store.Owned:
			ours = append(ours, p)
			n.parts[p].local, n.parts[p].unknown = true, true
			n.unknown++
		default:
			n.parts[p].remains = true
		}
	}
	return ours, err
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

// identify returns the node that a job folder makes of this process, which has its lock.
func (n *node) identify(dir string) (identity, error) {
	id, err := readIdentity(dir)
	if err != nil {
		return id, err
	}
	if id.Node == "" {
		id = identity{Crawl: n.plan.ID, Node: nuid.Next()}
	}
	id.ended, id.Incarnation = id.Incarnation, 1+rand.Uint64N(1<<53-1)
	text, err := json.Marshal(id)
	if err != nil {
		return id, err
	}
	return id, writeFile(identityFile(dir), text)
}

// writeFile replaces a file, which has the old or the new text after a power failure.
func writeFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/job"
)

// known is the nodes of a crawl and their partitions, by the bucket.
type known struct {
	lost   bool              // the servers have lost the bucket, so nothing is known
	nodes  map[string]string // the name of each node so far, by its ID
	claims map[int]claim     // by partition; one that never had an owner has none
}

// claim is the owner of a partition, by its key.
type claim struct {
	owner         string // the ID of a node
	epoch, before uint64 // of this owner, and of the one before; 0: there was none
}

// vacates reports whether an ID belongs to a Restore, which owns what it has restored until a node
// takes it.
func vacates(id string) bool { return strings.HasPrefix(id, restorer) }

const restorer = "restore-"

// truth is the state of a partition that is restored.
type truth struct {
	from  *remains // nil: no folder has the partition
	epoch uint64   // of that state
	wants []string // IDs of nodes whose folders may have a later state, and are not here
	lost  bool     // there was a state, and no folder has it
}

// truthOf decides which folder has the last state of a partition: the one that has it whole with
// the highest epoch, or of copies of one folder the one with the most batches. No later state
// exists
//
//   - if the epoch is that of the partition's key,
//   - if it is the one before, and the folder of the owner is here, which has not started the
//     partition,
//   - if the folders of all nodes are here.
func (k *known) truthOf(p int, all []*remains) (t truth) {
	of, owned := k.claims[p]
	here := here(all)
	for _, f := range all {
		it := f.parts[p]
		if it.Whole() && (t.from == nil || cmp.Or(cmp.Compare(it.Epoch, t.epoch), cmp.Compare(f.batches, t.from.batches)) > 0) {
			t.from, t.epoch = f, it.Epoch
		}
	}
	// Nobody has had it before, and the owner has not started it.
	first := owned && of.before == 0 && here[of.owner]
	t.lost = t.from == nil && (owned || k.lost) && !first
	switch {
	case t.from == nil && !t.lost, t.from != nil && t.epoch >= of.epoch, t.from != nil && t.epoch == of.before && here[of.owner]:
	case !here[of.owner] && k.nodes[of.owner] != "":
		t.wants = []string{of.owner}
	default:
		t.wants = k.others(here)
	}
	return t
}

// here returns the nodes whose folders were given.
func here(all []*remains) map[string]bool {
	ids := make(map[string]bool)
	for _, f := range all {
		ids[f.was.Node] = true
	}
	return ids
}

// others returns the nodes whose folders are not here.
func (k *known) others(here map[string]bool) (ids []string) {
	for id := range k.nodes {
		if !here[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// namesOf returns the names of nodes, each once.
func (k *known) namesOf(ids []string) (names []string) {
	for _, id := range ids {
		names = append(names, k.nodes[id])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// remains are the folder of a node that has ended.
type remains struct {
	folder
	job     *job.Job
	batches uint64 // of its store: of two copies of a folder, the one with more is the later
}

// readRemains reads the folders of nodes that do not run.
func readRemains(ctx context.Context, dirs []string) (all []*remains, err error) {
	if len(dirs) == 0 {
		return nil, errors.New("expected the job folders of the nodes")
	}
	for _, dir := range dirs {
		f := &remains{}
		if f.folder, err = readFolder(dir); err != nil {
			return all, err
		}
		if f.was.Plan == nil {
			return all, fmt.Errorf("%s: expected the job of a node", dir)
		}
		crawling, err := weft.OpenJob(ctx, dir)
		if err != nil {
			return all, fmt.Errorf("%s: %w", dir, err)
		}
		running := crawling.Running()
		crawling.Close()
		if running {
			return all, fmt.Errorf("%s: its node is running, expected one that has ended", dir)
		}
		if f.job, err = job.View(dir); err != nil {
			return all, fmt.Errorf("%s: %w", dir, err)
		}
		f.batches = f.job.Store.Batches()
		all = append(all, f)
	}
	return all, nil
}

package engine

import (
	"cmp"
	"iter"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// imports writes what other nodes knew of partitions into the store. Partitions that are imported
// at once share batches: most fill less than one, and each commit waits for the disk.
type imports struct {
	store      *store.Store
	unreadable func(error) // gets the faults of a block that no node has written; nil: nobody

	mu struct {
		sync.Mutex
		open   *store.Batch // nil: nothing waits to be committed
		number int          // of the open batch, or of the last one
		failed error        // of a commit: none succeeds after it
	}
}

// all replays changes of a partition. They are on the disk when it returns, even with an error, so
// that Drop finds all of the partition. Of a block that no node has written, what comes before its
// first mistake counts.
func (i *imports) all(number int, now time.Time, blocks iter.Seq2[[]byte, error]) error {
	last, err := i.add(func(b *store.Batch) error {
		b.SetPartition(number, store.Importing)
		return nil
	})
	for block, failed := range blocks {
		if err == nil {
			err = failed
		}
		if err == nil {
			var unread error
			last, err = i.add(func(b *store.Batch) error {
				unread = changelog.Replay(block, now, b)
				return nil
			})
			if unread != nil && i.unreadable != nil {
				i.unreadable(unread)
			}
		}
		if err != nil {
			break
		}
	}
	return cmp.Or(i.save(last), err)
}

// save returns when the batch of a number is committed.
func (i *imports) save(number int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.mu.open != nil && i.mu.number == number {
		i.commit()
	}
	return i.mu.failed
}

// add has fn add to the open batch, and returns its number. A batch of commitSize is committed.
func (i *imports) add(fn func(*store.Batch) error) (number int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.mu.open == nil {
		i.mu.open = i.store.Import()
		i.mu.number++
	}
	if err = fn(i.mu.open); i.mu.open.Size() >= commitSize {
		i.commit()
	}
	return i.mu.number, cmp.Or(i.mu.failed, err)
}

// commit commits the open batch. It is called with mu locked.
func (i *imports) commit() {
	i.mu.failed = cmp.Or(i.mu.failed, i.store.Commit(i.mu.open))
	i.mu.open = nil
}

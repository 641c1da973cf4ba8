package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// Batch collects changes to commit together: those of the frontier, lines of outputs, and notes.
// Commit saves all of it or nothing. Owner: one goroutine, which hands it over with Commit. A batch
// that is never committed is dropped like any value.
type Batch struct {
	store     *Store
	writer    writer
	lines     map[string]*lines   // by output
	ended     []string            // outputs of the series
	dirs      map[string]struct{} // to be synced
	next      uint64              // larger than every Seq in it
	seen      []seenEntry         // not in writer yet
	size      int
	posted    []Message                 // to the outbox
	delivered                           // from it
	others    bool                      // it has what another store knows: see Import
	date      func(time.Time) time.Time // of a refusal
	key       []byte                    // scratch; writer copies it
	value     []byte                    // scratch; writer copies it
}

// seenEntry is a fingerprint and its value. Entries are written in key order: unsorted, each would
// go to another block of the engine, far from any that is cached.
type seenEntry struct {
	fingerprint [16]byte
	order       uint32 // of two with the same fingerprint, the later one wins
	size        uint8
	value       [maxSeenValue]byte
}

// maxSeenValue is the size of the longest value of a fingerprint: a queue key and a reason.
const maxSeenValue = 3 + 2*9 + 1

var _ frontier.Journal = (*Batch)(nil)

// Begin returns an empty batch.
func (s *Store) Begin() *Batch {
	return &Batch{
		store: s, writer: s.table.engine.newWriter(),
		lines: make(map[string]*lines), dirs: make(map[string]struct{}),
		date: func(t time.Time) time.Time { return t },
	}
}

// DateBy sets how the frontier's time becomes the date of a refusal, which people read.
func (b *Batch) DateBy(date func(time.Time) time.Time) { b.date = date }

// Size returns the approximate size of the batch in bytes.
func (b *Batch) Size() int { return b.size }

// Empty reports whether there is nothing to save.
func (b *Batch) Empty() bool { return b.size == 0 && len(b.dirs) == 0 && len(b.ended) == 0 }

// Append adds whole lines to the end of an output, one of Options.Outputs or of the series, where
// a new name begins an output. It copies them.
func (b *Batch) Append(output string, added []byte) {
	all := b.lines[output]
	if all == nil {
		if !slices.Contains(b.store.fixed, output) && !b.store.series.has(output) {
			panic(fmt.Sprintf("store: append to %q, which is no output", output))
		}
		all = new(lines)
		b.lines[output] = all
	}
	all.append(added, &b.store.spare)
	b.size += len(added)
}

// End ends an output of the series, to which nothing is added any more.
func (b *Batch) End(output string) { b.ended = append(b.ended, output) }

// Set saves a note of the caller's under a name. It copies the value.
func (b *Batch) Set(name string, value []byte) { b.set(textKey(keyNote, name), value) }

// Delete removes a note.
func (b *Batch) Delete(name string) { b.delete(textKey(keyNote, name)) }

// SyncDir makes the entries of a folder, relative to the job's, durable before the batch is
// committed. A batch that refers to files of WriteFile names their folder here.
func (b *Batch) SyncDir(name string) {
	for ; !b.has(name); name = path.Dir(name) { // a new folder is an entry of its parent
		b.dirs[name] = struct{}{}
	}
}

func (b *Batch) has(dir string) bool {
	_, ok := b.dirs[dir]
	return ok
}

// Pending, Retried, Moved, Nearer, Done, Refused, Dropped, Variants, OverLimit, Rules, Redirected,
// Origin and Counts implement [frontier.Journal].
func (b *Batch) Pending(u frontier.URL) {
	if u.Tries > 0 { // it was done
		b.key = appendEntryKey(b.key[:0], &u)
		b.delete(b.key)
	}
	b.putSeen(u)
	b.putPending(u)
	if b.others { // the state of its origin may be missing
		b.list(u.URL.Origin(), listedOrigin(u.URL.Origin()))
	}
}

func (b *Batch) Retried(u frontier.URL, was frontier.QueueKey) {
	if was != u.QueueKey() {
		b.deletePending(u, was)
		b.putSeen(u)
	}
	b.putPending(u)
}

func (b *Batch) Moved(u frontier.URL, was frontier.QueueKey) { b.Retried(u, was) }

func (b *Batch) Nearer(u frontier.URL, open bool) {
	b.key = append(append(b.key[:0], keyNearer), u.URL.String()...)
	if !open {
		b.delete(b.key)
		return
	}
	b.value = appendURL(b.value[:0], u)
	b.set(b.key, b.value)
}

func (b *Batch) Done(u frontier.URL) {
	b.seenElsewhere(u)
	b.deletePending(u, u.QueueKey())
	b.value = appendDone(b.value[:0], u)
	b.putEntry(u)
}

func (b *Batch) Refused(r frontier.Refusal, at time.Time) {
	b.seenElsewhere(r.URL)
	b.deletePending(r.URL, r.URL.QueueKey())
	b.value = appendRefused(b.value[:0], r, b.date(at))
	b.putEntry(r.URL)
}

func (b *Batch) Dropped(u frontier.URL, why frontier.Drop) {
	b.next = max(b.next, u.Seq+1)
	b.value = appendQueueKey(b.value[:0], u.QueueKey())
	if why != frontier.DropHost {
		b.value = append(b.value, byte(why))
	}
	b.addSeen(u.Fingerprint())
}

func (b *Batch) Variants(origin string, key [16]byte, n int) {
	b.key = appendKey(b.key[:0], keyVariants, key)
	b.set(b.key, binary.AppendUvarint(nil, uint64(n)))
	b.list(origin, append(b.key, origin...))
}

func (b *Batch) OverLimit(origin string) {
	b.key = appendPendingKey(b.key[:0], origin, firstUntried)
	to := pendingEnd(origin)
	b.writer.deleteRange(b.key, to)
	b.size += len(b.key) + len(to)
}

func (b *Batch) Rules(origin string, r robots.Rules) {
	b.value, _ = r.AppendBinary(b.value[:0]) // never fails
	b.set(originKey(origin, originRules), b.value)
}

func (b *Batch) Redirected(fingerprint [16]byte, fewest int, target *frontier.URL) {
	b.key = appendKey(b.key[:0], keyRedirect, fingerprint)
	if fewest == 0 {
		b.delete(b.key)
		return
	}
	b.value = appendRedirect(b.value[:0], fewest, target)
	b.set(b.key, b.value)
}

func (b *Batch) Origin(o frontier.OriginState) {
	b.value = appendOrigin(b.value[:0], o)
	b.set(originKey(o.Name, originState), b.value)
	b.list(o.Name, listedOrigin(o.Name))
}

func (b *Batch) Counts(s frontier.Stats) {
	b.value = appendCounts(b.value[:0], s)
	b.set([]byte{keyCounts}, b.value)
}

// putSeen adds a URL to the seen set, with its queue key, by which its pending entry is found.
func (b *Batch) putSeen(u frontier.URL) {
	b.next = max(b.next, u.Seq+1)
	b.value = appendQueueKey(b.value[:0], u.QueueKey())
	b.addSeen(u.Fingerprint())
}

// addSeen adds b.value to the seen set under a fingerprint.
func (b *Batch) addSeen(fp [16]byte) {
	e := seenEntry{fingerprint: fp, order: uint32(len(b.seen)), size: uint8(len(b.value))}
	copy(e.value[:], b.value)
	b.seen = append(b.seen, e)
	b.size += 1 + len(fp) + len(b.value)
}

// writeSeen passes the fingerprints to the engine, sorted.
func (b *Batch) writeSeen() {
	slices.SortFunc(b.seen, func(x, y seenEntry) int {
		return cmp.Or(
			cmp.Compare(binary.BigEndian.Uint64(x.fingerprint[:]), binary.BigEndian.Uint64(y.fingerprint[:])),
			bytes.Compare(x.fingerprint[8:], y.fingerprint[8:]),
			cmp.Compare(x.order, y.order),
		)
	})
	for i := range b.seen {
		e := &b.seen[i]
		b.key = appendKey(b.key[:0], keySeen, e.fingerprint)
		b.writer.set(b.key, e.value[:e.size])
	}
	b.seen = nil
}

// seenElsewhere adds a URL that has ended to the seen set, if another store has had it as pending.
func (b *Batch) seenElsewhere(u frontier.URL) {
	if b.others {
		b.putSeen(u)
	}
}

// list lists a key of an origin under its partition.
func (b *Batch) list(origin string, key []byte) {
	if of := b.store.partition; of != nil {
		b.set(append(partitionKey(keyListed, of(frontier.Hostname(origin))), key...), nil)
	}
}

func (b *Batch) putPending(u frontier.URL) {
	origin := u.URL.Origin()
	b.key = appendPendingKey(b.key[:0], origin, u.QueueKey())
	b.value = appendKnown(appendPending(b.value[:0], origin, u), u.Known)
	b.set(b.key, b.value)
}

func (b *Batch) deletePending(u frontier.URL, at frontier.QueueKey) {
	b.key = appendPendingKey(b.key[:0], u.URL.Origin(), at)
	b.delete(b.key)
}

// putEntry saves b.value as the outcome of a URL.
func (b *Batch) putEntry(u frontier.URL) {
	b.key = appendEntryKey(b.key[:0], &u)
	b.set(b.key, b.value)
}

func (b *Batch) set(key, value []byte) {
	b.writer.set(key, value)
	b.size += len(key) + len(value)
}

func (b *Batch) delete(key []byte) {
	b.writer.delete(key)
	b.size += len(key)
}

// write makes the batch's lines and folders durable, and adds the outputs' new lengths to it.
func (s *Store) write(b *Batch) error {
	for _, name := range s.inOrder(b.lines) {
		o, err := s.outputOf(name)
		if err != nil {
			return err
		}
		if err := o.append(*b.lines[name]); err != nil {
			return wrap(err)
		}
		b.set(textKey(keyOutput, name), binary.AppendUvarint(nil, uint64(o.size)))
	}
	for _, name := range b.ended {
		o := s.series.open[name]
		if o == nil {
			return fmt.Errorf("store: end of %q, which is no open output", name)
		}
		b.set(textKey(keyOutput, name), append(binary.AppendUvarint(nil, uint64(o.size)), 1))
	}
	for name := range b.dirs {
		if err := syncDir(s.fs, s.fs.PathJoin(s.dir, name)); err != nil {
			return wrap(err)
		}
	}
	return nil
}

// cut removes the lines of a failed batch, so that outputs end with a whole line even if nobody
// opens the store again. It may fail: opening the store cuts them, too.
func (s *Store) cut() {
	for _, all := range []map[string]*output{s.outputs, s.series.open} {
		for _, o := range all {
			_ = s.fs.Truncate(o.path, o.committed)
		}
	}
}

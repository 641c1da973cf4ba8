package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/robots"
)

// Group is what is to be saved together: what the frontier tells, lines of outputs, and
// notes. Nothing of it is saved before Commit, and then all of it.
// Owner: one goroutine, which hands it over with Commit. A group that is never committed
// is dropped like any value.
type Group struct {
	store *Store
	batch batch
	lines map[string][]byte   // by output
	dirs  map[string]struct{} // to be synced
	next  uint64              // larger than every Seq told
	met   []met               // not in the batch yet
	size  int
	key   []byte // lent to the batch
	value []byte // lent to the batch
}

// met is a fingerprint and its value. They are put into the batch in the order of keys: in that of
// chance each would go to a place of its own in the engine, far from any that is in a cache.
type met struct {
	fingerprint [16]byte
	order       uint32 // of two of one fingerprint the later one holds
	size        uint8
	value       [maxSeen]byte
}

// maxSeen is how long a value of a fingerprint is at most: a place, and why it was dropped.
const maxSeen = 3 + 2*9 + 1

var _ frontier.Journal = (*Group)(nil)

// Begin returns an empty group.
func (s *Store) Begin() *Group {
	return &Group{store: s, batch: s.engine.batch(), lines: make(map[string][]byte), dirs: make(map[string]struct{})}
}

// Size returns about how many bytes the group holds.
func (g *Group) Size() int { return g.size }

// Empty reports whether there is nothing to save.
func (g *Group) Empty() bool { return g.size == 0 && len(g.dirs) == 0 }

// Append adds whole lines, which are copied, to the end of an output, one of Options.Outputs.
func (g *Group) Append(output string, lines []byte) {
	if g.store.outputs[output] == nil {
		panic(fmt.Sprintf("store: append to %q, which is no output", output))
	}
	g.lines[output] = append(g.lines[output], lines...)
	g.size += len(lines)
}

// Set keeps a note of the caller's, which is copied, under a name.
func (g *Group) Set(name string, value []byte) { g.set(textKey(keyNote, name), value) }

// Delete drops a note.
func (g *Group) Delete(name string) { g.delete(textKey(keyNote, name)) }

// SyncDir makes the names in a folder, named as seen from the job's, durable before the
// group is: it is for files that the group speaks of. See WriteFile.
func (g *Group) SyncDir(name string) {
	for ; !g.has(name); name = path.Dir(name) { // a folder that is new is a name in the one above
		g.dirs[name] = struct{}{}
	}
}

func (g *Group) has(dir string) bool {
	_, ok := g.dirs[dir]
	return ok
}

// Pending, Retried, Done, Refused, Dropped, Variants, OverLimit, Rules, Redirected, Host and
// Counts are those of a [frontier.Journal].
func (g *Group) Pending(u frontier.URL) {
	g.seen(u)
	g.pend(u)
}

func (g *Group) Retried(u frontier.URL, was frontier.QueueKey) {
	if was != u.QueueKey() {
		g.unpend(u, was)
		g.seen(u)
	}
	g.pend(u)
}

func (g *Group) Done(u frontier.URL) {
	g.unpend(u, u.QueueKey())
	g.value = appendDone(g.value[:0], u)
	g.end(u)
}

func (g *Group) Refused(r frontier.Refusal, at time.Time) {
	g.unpend(r.URL, r.URL.QueueKey())
	g.value = appendRefused(g.value[:0], r, at)
	g.end(r.URL)
}

func (g *Group) Dropped(u frontier.URL, why frontier.Drop) {
	g.next = max(g.next, u.Seq+1)
	g.value = appendPlace(g.value[:0], u.QueueKey())
	if why != frontier.DropHost {
		g.value = append(g.value, byte(why))
	}
	g.meet(u.URL.Fingerprint())
}

func (g *Group) Variants(key [16]byte, n int) {
	g.key = appendKey(g.key[:0], keyVariants, key)
	g.set(g.key, binary.AppendUvarint(nil, uint64(n)))
}

func (g *Group) OverLimit(host string) {
	g.key = appendPendingKey(g.key[:0], host, firstUntried)
	to := pendingEnd(host)
	g.batch.deleteRange(g.key, to)
	g.size += len(g.key) + len(to)
}

func (g *Group) Rules(host string, r robots.Rules) {
	g.value, _ = r.AppendBinary(g.value[:0]) // which never fails
	g.set(hostKey(host, ofRules), g.value)
}

func (g *Group) Redirected(fingerprint [16]byte, fewest int, target *frontier.URL) {
	g.key = appendKey(g.key[:0], keyRedirect, fingerprint)
	if fewest == 0 {
		g.delete(g.key)
		return
	}
	g.value = appendRedirect(g.value[:0], fewest, target)
	g.set(g.key, g.value)
}

func (g *Group) Host(h frontier.HostState) {
	g.value = appendHost(g.value[:0], h)
	g.set(hostKey(h.Name, ofState), g.value)
}

func (g *Group) Counts(s frontier.Stats) {
	g.value = appendCounts(g.value[:0], s)
	g.set([]byte{keyCounts}, g.value)
}

// seen notes that a URL is known, and its place, by which it is found.
func (g *Group) seen(u frontier.URL) {
	g.next = max(g.next, u.Seq+1)
	g.value = appendPlace(g.value[:0], u.QueueKey())
	g.meet(u.URL.Fingerprint())
}

// meet sets what is known of a fingerprint, which value says.
func (g *Group) meet(fp [16]byte) {
	m := met{fingerprint: fp, order: uint32(len(g.met)), size: uint8(len(g.value))}
	copy(m.value[:], g.value)
	g.met = append(g.met, m)
	g.size += 1 + len(fp) + len(g.value)
}

// settle puts the fingerprints into the batch.
func (g *Group) settle() {
	slices.SortFunc(g.met, func(a, b met) int {
		return cmp.Or(
			cmp.Compare(binary.BigEndian.Uint64(a.fingerprint[:]), binary.BigEndian.Uint64(b.fingerprint[:])),
			bytes.Compare(a.fingerprint[8:], b.fingerprint[8:]),
			cmp.Compare(a.order, b.order),
		)
	})
	for i := range g.met {
		m := &g.met[i]
		g.key = appendKey(g.key[:0], keySeen, m.fingerprint)
		g.batch.set(g.key, m.value[:m.size])
	}
	g.met = nil
}

func (g *Group) pend(u frontier.URL) {
	host := u.URL.Origin()
	g.key = appendPendingKey(g.key[:0], host, u.QueueKey())
	g.value = appendKnown(appendPending(g.value[:0], host, u), u.Known)
	g.set(g.key, g.value)
}

func (g *Group) unpend(u frontier.URL, at frontier.QueueKey) {
	g.key = appendPendingKey(g.key[:0], u.URL.Origin(), at)
	g.delete(g.key)
}

// end keeps how a URL has ended, which value says.
func (g *Group) end(u frontier.URL) {
	g.key = append(append(g.key[:0], keyEntry), u.URL.String()...)
	g.set(g.key, g.value)
}

func (g *Group) set(key, value []byte) {
	g.batch.set(key, value)
	g.size += len(key) + len(value)
}

func (g *Group) delete(key []byte) {
	g.batch.delete(key)
	g.size += len(key)
}

// Commit saves a group, which is not to be used again. It may wait: for the disk, or for
// room on it. When it returns nil, the group is there after any crash. Groups are in the
// order of their commits, one at a time. After its first error, every call returns that:
// the store has to be opened again, which shows what was committed.
func (s *Store) Commit(g *Group) error {
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := s.failure.get(); err != nil {
		return err
	}
	if s.readOnly {
		return ErrReadOnly
	}
	if g.Empty() {
		return nil
	}
	if err := s.write(g); err != nil {
		s.failure.set(wrap(err))
		s.cut()
		return s.failure.get()
	}
	g.settle()
	next := max(s.next.Load(), g.next)
	if next > s.next.Load() {
		g.set([]byte{keyNext}, binary.AppendUvarint(nil, next))
	}
	g.delete(markKey(s.groups))
	g.set(markKey(s.groups+1), nil)
	if err := s.failure.run(func() error { return s.engine.commit(g.batch) }); err != nil {
		s.failure.set(damage(s.state, err))
		return s.failure.get()
	}
	s.groups++
	s.noteLast()
	s.next.Store(next)
	for name := range g.lines {
		o := s.outputs[name]
		o.committed = o.size
	}
	return nil
}

// write makes the group's lines durable, and the folders, and puts the outputs' new
// lengths into its batch.
func (s *Store) write(g *Group) error {
	for name, lines := range g.lines {
		o := s.outputs[name]
		if err := o.append(lines); err != nil {
			return err
		}
		g.set(textKey(keyOutput, name), binary.AppendUvarint(nil, uint64(o.size)))
	}
	for name := range g.dirs {
		if err := syncDir(s.fs, s.fs.PathJoin(s.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// cut takes back lines of a group that has failed, so that outputs end with a whole line
// even if nobody opens the store again. At worst they don't: opening it cuts them.
func (s *Store) cut() {
	for _, o := range s.outputs {
		_ = s.fs.Truncate(o.path, o.committed)
	}
}

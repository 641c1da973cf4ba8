package store

import "encoding/binary"

// Commit saves a batch, which must not be used again. It waits for the disk, and for space on a
// full one. Once it returns nil, the batch survives any crash. Commits are serialized, and batches
// are durable in their order. After its first error every call returns that error; a store that
// is opened again shows what was committed.
func (s *Store) Commit(b *Batch) error {
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := s.failure.get(); err != nil {
		return err
	}
	if s.readOnly {
		return ErrReadOnly
	}
	if b.Empty() {
		return nil
	}
	if err := s.write(b); err != nil {
		s.failure.set(err)
		s.cut()
		return s.failure.get()
	}
	b.writeSeen()
	s.outbox.write(b)
	next := max(s.next.Load(), b.next)
	if next > s.next.Load() {
		b.set([]byte{keyNext}, binary.AppendUvarint(nil, next))
	}
	b.delete(markKey(s.batches))
	b.set(markKey(s.batches+1), nil)
	if err := s.failure.run(func() error { return s.table.engine.commit(b.writer) }); err != nil {
		s.failure.set(damage(s.state, err))
		return s.failure.get()
	}
	s.batches++
	s.watermark.write(s.batches)
	s.next.Store(next)
	s.outbox.committed(b)
	for name, lines := range b.lines {
		if o, _ := s.outputOf(name); o != nil {
			o.committed = o.size
		}
		s.spare.give(*lines)
	}
	if err := s.endOutputs(b.ended); err != nil { // the next run does it
		s.failure.set(err)
	}
	return s.failure.get()
}

package store

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"

	"github.com/weftcrawl/weft/internal/fields"
)

// Message is an entry of the outbox. Kind and Data are the caller's.
type Message struct {
	ID        uint64 // ascending in the order of posting; set by Commit
	Partition int    // to which it goes, or which it is about
	Kind      byte
	Data      []byte
}

// outbox is the store's knowledge of its messages. Messages are in the state; this is their range.
// Owner: whoever commits; the counts are anybody's.
type outbox struct {
	last    uint64        // ID of the last message
	waiting atomic.Int64  // messages
	bytes   atomic.Int64  // of their data
	saved   atomic.Uint64 // ID of the last one that is committed
}

// Post adds a message to the outbox. It takes over the data.
func (b *Batch) Post(partition int, kind byte, data []byte) {
	b.posted = append(b.posted, Message{Partition: partition, Kind: kind, Data: data})
	b.size += 9 + len(data)
}

// Delivered removes messages that [Store.Outbox] has returned from the outbox. Each is removed
// once.
func (b *Batch) Delivered(all ...Message) {
	for _, m := range all {
		b.delete(outboxKey(m.ID))
		b.delivered.count++
		b.delivered.bytes += int64(len(m.Data))
	}
}

// Sent is Delivered for messages that stay in the outbox until Forget. If the store is opened again
// before, they have to be delivered again.
func (b *Batch) Sent(all ...Message) {
	for _, m := range all {
		b.size++ // so that a batch with nothing else is not empty
		b.delivered.count++
		b.delivered.bytes += int64(len(m.Data))
	}
}

// Rewrite gives messages of Sent another kind and other data, with which they are delivered again.
func (b *Batch) Rewrite(all ...Message) {
	for _, m := range all {
		b.set(outboxKey(m.ID), messageValue(nil, &m))
	}
}

// Forget removes messages of Sent, by their IDs.
func (b *Batch) Forget(ids ...uint64) {
	for _, id := range ids {
		b.delete(outboxKey(id))
	}
}

// delivered counts the messages that a batch removes from the outbox.
type delivered struct{ count, bytes int64 }

// Outbox returns the messages after one, in the order of posting, at most of so many bytes, but one
// if there is any.
func (s *Store) Outbox(after uint64, bytes int) ([]Message, error) {
	var all []Message
	for m, err := range each(&s.table, outboxKey(after+1), []byte{keyOutbox + 1}, decodeMessage) {
		if err != nil {
			return nil, err
		}
		if bytes -= len(m.Data); bytes < 0 && len(all) > 0 {
			break
		}
		all = append(all, m)
	}
	return all, nil
}

// Waiting returns how many messages are in the outbox, and how many bytes of data they have.
func (s *Store) Waiting() (messages, bytes int64) {
	return s.outbox.waiting.Load(), s.outbox.bytes.Load()
}

// Posted returns the ID of the last message that is committed.
func (s *Store) Posted() uint64 { return s.outbox.saved.Load() }

func (s *Store) openOutbox() error {
	for m, err := range each(&s.table, []byte{keyOutbox}, []byte{keyOutbox + 1}, decodeMessage) {
		if err != nil {
			return err
		}
		s.outbox.last = m.ID
		s.outbox.waiting.Add(1)
		s.outbox.bytes.Add(int64(len(m.Data)))
	}
	s.outbox.saved.Store(s.outbox.last)
	return nil
}

// write adds the messages of a batch to its changes.
func (o *outbox) write(b *Batch) {
	for i := range b.posted {
		m := &b.posted[i]
		m.ID = o.last + 1 + uint64(i)
		b.value = messageValue(b.value[:0], m)
		b.writer.set(outboxKey(m.ID), b.value)
	}
}

// committed takes in that a batch is committed.
func (o *outbox) committed(b *Batch) {
	bytes := -b.delivered.bytes
	for _, m := range b.posted {
		bytes += int64(len(m.Data))
	}
	o.last += uint64(len(b.posted))
	o.waiting.Add(int64(len(b.posted)) - b.delivered.count)
	o.bytes.Add(bytes)
	o.saved.Store(o.last)
}

func messageValue(to []byte, m *Message) []byte {
	return append(append(binary.AppendUvarint(to, uint64(m.Partition)), m.Kind), m.Data...)
}

func outboxKey(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte{keyOutbox}, id) }

func decodeMessage(key, value []byte) (m Message, ok bool, err error) {
	if len(key) != 9 {
		return m, false, errValue
	}
	d := decoder{Reader: fields.Reader{Rest: value}}
	number := d.Uvarint()
	m.ID, m.Partition, m.Kind = binary.BigEndian.Uint64(key[1:]), int(number), d.Byte()
	m.Data = slices.Clone(d.Rest)
	if d.Bad || number > math.MaxInt32 {
		return m, false, errValue
	}
	return m, true, nil
}

package store

import (
	"strings"
	"sync"

	"github.com/RaduBerinde/btreemap"
)

// memory is the engine of a state that nothing outlives: the twin of the one on disk.
type memory struct {
	mu struct {
		sync.Mutex
		entries *btreemap.BTreeMap[string, []byte]
	}
}

func newMemory() *memory {
	m := new(memory)
	m.mu.entries = btreemap.New[string, []byte](32, strings.Compare)
	return m
}

func (m *memory) get(key []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, value, _ := m.mu.entries.Get(string(key))
	return value, nil // which is replaced, never changed
}

func (m *memory) has(keys [][]byte) ([]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make([]bool, len(keys))
	for i, key := range keys {
		_, _, found[i] = m.mu.entries.Get(string(key))
	}
	return found, nil
}

// visit reads a snapshot, so that fn may do what it likes.
func (m *memory) visit(from, to []byte, fn func(key, value []byte) bool) error {
	m.mu.Lock()
	entries := m.mu.entries.Clone()
	m.mu.Unlock()
	for key, value := range entries.Ascend(btreemap.GE(string(from)), btreemap.LT(string(to))) {
		if !fn([]byte(key), value) {
			break
		}
	}
	return nil
}

func (m *memory) visitAll(ranges [][2][]byte, fn func(key, value []byte) bool) error {
	for _, r := range ranges {
		_ = m.visit(r[0], r[1], fn) // which never fails
	}
	return nil
}

func (m *memory) close() error { return nil }

func (m *memory) batch() batch { return new(changes) }

func (m *memory) commit(b batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range *b.(*changes) {
		c(m.mu.entries)
	}
	return nil
}

// changes is a batch of memory.
type changes []func(*btreemap.BTreeMap[string, []byte])

func (c *changes) set(key, value []byte) {
	k, v := string(key), append([]byte{}, value...)
	*c = append(*c, func(m *btreemap.BTreeMap[string, []byte]) { m.ReplaceOrInsert(k, v) })
}

func (c *changes) delete(key []byte) {
	k := string(key)
	*c = append(*c, func(m *btreemap.BTreeMap[string, []byte]) { m.Delete(k) })
}

func (c *changes) deleteRange(from, to []byte) {
	first, last := string(from), string(to)
	*c = append(*c, func(m *btreemap.BTreeMap[string, []byte]) {
		var keys []string
		for k := range m.Ascend(btreemap.GE(first), btreemap.LT(last)) {
			keys = append(keys, k)
		}
		for _, k := range keys {
			m.Delete(k)
		}
	})
}

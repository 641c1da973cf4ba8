package store

import (
	"errors"
	"strings"
	"sync"

	"github.com/RaduBerinde/btreemap"
)

// memoryEngine is an engine in memory: the state ends with it. It behaves as the one on disk does.
type memoryEngine struct {
	mu struct {
		sync.Mutex
		entries *btreemap.BTreeMap[string, []byte]
	}
}

func newMemory() *memoryEngine {
	m := new(memoryEngine)
	m.mu.entries = btreemap.New[string, []byte](32, strings.Compare)
	return m
}

func (m *memoryEngine) get(key []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, value, _ := m.mu.entries.Get(string(key))
	return value, nil // values are replaced, never changed
}

func (m *memoryEngine) has(keys [][]byte) ([]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := make([]bool, len(keys))
	for i, key := range keys {
		_, _, found[i] = m.mu.entries.Get(string(key))
	}
	return found, nil
}

// scan reads a snapshot, so that fn may call the engine.
func (m *memoryEngine) scan(from, to []byte, fn func(key, value []byte) bool) error {
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

func (m *memoryEngine) scanAll(ranges [][2][]byte, fn func(key, value []byte) bool) error {
	for _, r := range ranges {
		_ = m.scan(r[0], r[1], fn) // never fails
	}
	return nil
}

func (m *memoryEngine) close() error { return nil }

func (m *memoryEngine) snapshot(string) error { return errors.ErrUnsupported }

func (m *memoryEngine) newWriter() writer { return new(memoryWriter) }

func (m *memoryEngine) commit(w writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range *w.(*memoryWriter) {
		c(m.mu.entries)
	}
	return nil
}

// memoryWriter applies its changes at commit.
type memoryWriter []func(*btreemap.BTreeMap[string, []byte])

func (c *memoryWriter) set(key, value []byte) {
	k, v := string(key), append([]byte{}, value...)
	*c = append(*c, func(m *btreemap.BTreeMap[string, []byte]) { m.ReplaceOrInsert(k, v) })
}

func (c *memoryWriter) delete(key []byte) {
	k := string(key)
	*c = append(*c, func(m *btreemap.BTreeMap[string, []byte]) { m.Delete(k) })
}

func (c *memoryWriter) deleteRange(from, to []byte) {
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

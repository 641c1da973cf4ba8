package cluster

import (
	"fmt"
	"sync"
)

// aside is what no node has written. Whoever has a login to the servers, or reaches servers that ask for none, may write
// anything: such a message is left out, with one warning for each kind, and nobody waits for it.
type aside struct {
	mu   sync.Mutex
	said map[string]bool // kinds
}

// setAside warns of a message that cannot be read, unless it has warned of another of its kind. Any goroutine may call it.
func (n *node) setAside(kind, what string, err error) {
	n.aside.mu.Lock()
	defer n.aside.mu.Unlock()
	if n.aside.said == nil {
		n.aside.said = make(map[string]bool)
	}
	if n.aside.said[kind] {
		return
	}
	n.aside.said[kind] = true
	n.warn(fmt.Errorf("crawl %s: %s cannot be read and is left out: %w; of further ones nothing is said", n.layout, what, err))
}

// setLinksAside is setAside for a message of links.
func (n *node) setLinksAside(seq uint64, err error) {
	n.setAside("links", fmt.Sprintf("message %d of stream %s", seq, n.linkStream()), err)
}

// setLogAside is setAside for a message of a log.
func (n *node) setLogAside(seq uint64, err error) {
	n.setAside("log", fmt.Sprintf("message %d of stream %s", seq, n.logStream()), err)
}

// setBlockAside is setAside for a part of a message of a log.
func (n *node) setBlockAside(err error) {
	n.setAside("log", "a part of a message of stream "+n.logStream(), err)
}

// setKeyAside is setAside for a key of the bucket.
func (n *node) setKeyAside(key string, err error) {
	n.setAside("key", fmt.Sprintf("key %.200q of bucket %s", key, n.layout.bucket()), err)
}

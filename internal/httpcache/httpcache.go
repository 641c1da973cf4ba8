// Package httpcache keeps responses that the pages of a crawl share: scripts, style sheets, and
// what servers let caches keep (RFC 9111).
//
// # Limits
//
// Bodies beyond the cache's memory go to a file, the longest unused first; beyond the size of that
// file the cache starts anew. What cannot be written is forgotten.
//
// # Concurrency
//
// Any goroutine may use a cache. Of several that ask by Do for one response at once, one requests
// it. That is for responses that are kept in all likelihood: the others wait for it, once.
package httpcache

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/weftcrawl/weft/httpclient"
)

// Response is a response as it is kept. Nobody changes it.
type Response struct {
	Status int
	Header httpclient.Header
	Body   []byte // decoded

	Exchange Exchange // nil: there is none
}

// Exchange is the caller's, of the request that has brought a response.
type Exchange interface {
	Size() int // bytes of memory, without the response's own
}

// mostSpilled bounds the file, in bytes.
const mostSpilled = 1 << 30

// overhead is the memory of an entry beside its texts, and fieldOverhead that of a header field.
const (
	overhead      = 1 << 10
	fieldOverhead = 32
)

// Cache keeps responses by their keys.
type Cache struct {
	most        int64                    // bytes in memory
	mostSpilled int64                    // of the file
	spill       func() (*os.File, error) // makes the file
	now         func() time.Time

	mu      sync.Mutex
	entries map[string]*entry
	clock   uint64 // counts uses
	memory  int64
	file    *os.File // nil: none was needed
	size    int64    // of the file
}

type entry struct {
	loaded  chan struct{} // closed when what follows is set
	unkept  bool          // it was for who has loaded it alone
	err     error         // of that, which those who have waited share
	ok      bool
	res     Response // without its body, if that is in the file
	cost    int64    // bytes of memory
	until   time.Time
	used    uint64
	spilled bool
	offset  int64
	length  int
}

// New returns a cache that takes so many bytes of memory. spill makes the file for what is beyond;
// it may have no name any more.
func New(memory int64, spill func() (*os.File, error)) *Cache {
	return &Cache{most: memory, mostSpilled: mostSpilled, spill: spill, now: time.Now, entries: make(map[string]*entry)}
}

// Close closes the file.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = make(map[string]*entry)
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file = nil
	return err
}

// Do returns the response of a key: the one that is kept, or that of load, which says for how long
// it is kept. While load runs, others who ask for the key wait for it. They share an error of it,
// unless ctx is done by then. If the response is not kept, all of them load for themselves: one
// after the other, each would wait for all before it.
func (c *Cache) Do(ctx context.Context, key string, load func() (Response, time.Duration, error)) (res Response, kept bool, err error) {
	for {
		c.mu.Lock()
		e := c.entries[key]
		if e == nil {
			e = &entry{loaded: make(chan struct{})}
			c.entries[key] = e
			c.mu.Unlock()
			res, err = c.load(ctx, key, e, load)
			return res, false, err
		}
		c.mu.Unlock()
		select {
		case <-e.loaded:
		case <-ctx.Done():
			return res, false, context.Cause(ctx)
		}
		switch res, ok := c.take(key, e); {
		case ok:
			return res, true, nil
		case e.err != nil:
			return res, false, e.err
		case e.unkept:
			res, lifetime, err := load()
			if err == nil {
				c.Keep(key, res, lifetime)
			}
			return res, false, err
		}
	}
}

// Get returns the response of a key, if it is kept.
func (c *Cache) Get(key string) (res Response, ok bool) {
	c.mu.Lock()
	e := c.entries[key]
	c.mu.Unlock()
	if e == nil {
		return res, false
	}
	select {
	case <-e.loaded:
		return c.take(key, e)
	default:
		return res, false
	}
}

// Keep keeps a response that came otherwise, unless there is one of its key, or one is being
// loaded.
func (c *Cache) Keep(key string, res Response, lifetime time.Duration) {
	c.mu.Lock()
	if c.entries[key] != nil {
		c.mu.Unlock()
		return
	}
	e := &entry{loaded: make(chan struct{})}
	c.entries[key] = e
	c.mu.Unlock()
	_, _ = c.load(context.Background(), key, e, func() (Response, time.Duration, error) { return res, lifetime, nil })
}

// load fills in an entry, which is forgotten if it cannot be kept.
func (c *Cache) load(ctx context.Context, key string, e *entry, load func() (Response, time.Duration, error)) (res Response, err error) {
	res, lifetime, err := load()
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(e.loaded)
	e.cost = cost(key, &res)
	if err != nil || lifetime <= 0 || e.cost > c.most/4 {
		delete(c.entries, key)
		if ctx.Err() == nil {
			e.unkept, e.err = true, err
		}
		return res, err
	}
	c.clock++
	e.ok, e.res, e.until, e.used = true, res, c.now().Add(lifetime), c.clock
	c.memory += e.cost
	c.makeRoom()
	return res, nil
}

// cost returns the memory of an entry, in bytes.
func cost(key string, res *Response) int64 {
	n := overhead + len(key) + cap(res.Body)
	for _, f := range res.Header {
		n += fieldOverhead + len(f.Name) + len(f.Value)
	}
	if res.Exchange != nil {
		n += res.Exchange.Size()
	}
	return int64(n)
}

// take returns the response of an entry that is loaded, unless it is too old.
func (c *Cache) take(key string, e *entry) (res Response, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.ok {
		return res, false
	}
	if c.now().After(e.until) {
		c.forget(key, e)
		return res, false
	}
	c.clock++
	e.used = c.clock
	res = e.res
	if e.spilled {
		res.Body = make([]byte, e.length)
		if _, err := c.file.ReadAt(res.Body, e.offset); err != nil {
			c.forget(key, e)
			return res, false
		}
	}
	return res, true
}

func (c *Cache) forget(key string, e *entry) {
	if c.entries[key] != e {
		return
	}
	delete(c.entries, key)
	c.memory -= e.cost
}

// makeRoom brings bodies to the file until memory suffices. If entries alone take too much, all are
// forgotten; if the file does, those in it. Who reads a body of it holds the lock.
func (c *Cache) makeRoom() {
	if c.memory <= c.most {
		return
	}
	var inMemory []string
	for key, e := range c.entries {
		if e.ok && len(e.res.Body) > 0 {
			inMemory = append(inMemory, key)
		}
	}
	slices.SortFunc(inMemory, func(a, b string) int { return int(c.entries[a].used) - int(c.entries[b].used) })
	for _, key := range inMemory {
		if c.memory <= c.most*3/4 {
			return
		}
		e := c.entries[key]
		if c.size+int64(len(e.res.Body)) > c.mostSpilled {
			c.startAnew(func(e *entry) bool { return e.spilled })
		}
		if err := c.write(e); err != nil {
			c.forget(key, e)
		}
	}
	if c.memory > c.most {
		c.startAnew(func(*entry) bool { return true })
	}
}

// startAnew forgets the entries that a function picks, those in the file among them, which is
// written from its beginning then.
func (c *Cache) startAnew(picks func(*entry) bool) {
	for key, e := range c.entries {
		if e.ok && picks(e) {
			c.forget(key, e)
			e.ok = false // whoever has it already
		}
	}
	c.size = 0
}

// write brings the body of an entry to the file.
func (c *Cache) write(e *entry) (err error) {
	if c.file == nil {
		if c.file, err = c.spill(); err != nil {
			return err
		}
	}
	if _, err := c.file.WriteAt(e.res.Body, c.size); err != nil {
		return err
	}
	e.spilled, e.offset, e.length = true, c.size, len(e.res.Body)
	c.size += int64(e.length)
	e.cost -= int64(cap(e.res.Body))
	c.memory -= int64(cap(e.res.Body))
	e.res.Body = nil
	return nil
}

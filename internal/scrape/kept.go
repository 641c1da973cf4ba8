package scrape

import (
	"sync"
	"time"
)

// kept has the latest results, so that callers who read a page in parts, or ask again at once, do
// not request it again. A result is not changed.
type kept[T any] struct {
	most int // bytes

	mu          sync.Mutex
	all         map[string]*keptResult[T]
	bytes       int
	first, last *keptResult[T] // by age, the oldest first
}

type keptResult[T any] struct {
	result T
	key    string
	at     time.Time
	bytes  int
	before *keptResult[T]
	after  *keptResult[T]
}

// find returns a result that is not older than an age; ok is false if there is none.
func (k *kept[T]) find(key string, age time.Duration) (result T, ok bool) {
	if key == "" || age <= 0 {
		return result, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.all[key]
	if r == nil || time.Since(r.at) > age {
		return result, false
	}
	return r.result, true
}

// keep keeps a result, and lets go of the oldest ones.
func (k *kept[T]) keep(key string, r T, size int) {
	x := &keptResult[T]{result: r, key: key, at: time.Now(), bytes: size + len(key)}
	if key == "" || x.bytes > k.most/4 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.all[key]; old != nil {
		k.remove(old)
	}
	k.all[key] = x
	k.bytes += x.bytes
	if x.before = k.last; x.before != nil {
		x.before.after = x
	} else {
		k.first = x
	}
	k.last = x
	for k.bytes > k.most {
		k.remove(k.first)
	}
}

// form is a further form of the texts of a result.
type form struct {
	once sync.Once
	made any
}

// Form returns a further form of the texts, which is made once and kept with them. All who want one
// want the same.
func (f *form) Form(of func() any) any {
	f.once.Do(func() { f.made = of() })
	return f.made
}

func (k *kept[T]) remove(x *keptResult[T]) {
	delete(k.all, x.key)
	k.bytes -= x.bytes
	if x.before != nil {
		x.before.after = x.after
	} else {
		k.first = x.after
	}
	if x.after != nil {
		x.after.before = x.before
	} else {
		k.last = x.before
	}
}

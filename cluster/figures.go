package cluster

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// figures are the measurements of a node from the start of its process, also when it was cut off
// and has joined again. Any goroutine may use them.
type figures struct {
	lag      lag
	logged   atomic.Int64 // bytes that logs have taken in, with headers
	messages atomic.Int64 // and in how many messages
	restored restores
}

// Lag is the time in seconds from a commit to a node's disk until the servers have acknowledged all
// of its messages: what was found and what is done. Max tells how much a lost disk may cost.
type Lag struct {
	P50 float64 `json:"p50"` // the median, up to 9 % too long
	P99 float64 `json:"p99"` // 99 of 100 commits take no longer; as precise
	Max float64 `json:"max"`
}

// The steps of a lag: each is 2^(1/lagOctave) times the one before, the first a millisecond, the
// last a minute.
const (
	lagOctave = 8
	lagSteps  = 16 * lagOctave
)

// mostCommits bounds the commits that wait for the servers. A node whose commits wait for 3 s makes
// few more.
const mostCommits = 64

// lag measures a Lag.
type lag struct {
	mu struct {
		sync.Mutex
		waiting []commit // not acknowledged, in order
		steps   [lagSteps]int
		commits int
		most    time.Duration
		last    uint64 // message that was acknowledged
	}
}

// commit is a commit with messages.
type commit struct {
	last uint64 // ID of its last message in the outbox
	at   time.Time
}

// committed notes that all messages up to last are on the disk. An earlier process may have
// committed them.
func (l *lag) committed(last uint64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch w := l.mu.waiting; {
	case last <= l.mu.last:
		l.count(0) // its messages went out before this was said
	case len(w) > 0 && last <= w[len(w)-1].last:
	case len(w) == mostCommits:
		w[len(w)-1].last = last // as if it were as old
	default:
		l.mu.waiting = append(w, commit{last, now})
	}
}

// acknowledged notes that the servers have all messages up to last.
func (l *lag) acknowledged(last uint64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.last = max(l.mu.last, last)
	n := 0
	for _, c := range l.mu.waiting {
		if c.last > last {
			break
		}
		n++
		l.count(now.Sub(c.at))
	}
	l.mu.waiting = append(l.mu.waiting[:0], l.mu.waiting[n:]...)
}

// count takes in how long a commit took.
func (l *lag) count(took time.Duration) {
	l.mu.steps[lagStep(took)]++
	l.mu.commits++
	l.mu.most = max(l.mu.most, took)
}

// lagStep returns the step of a time: the first that is not shorter.
func lagStep(d time.Duration) int {
	step := math.Ceil(lagOctave * math.Log2(float64(max(d, 1))/float64(time.Millisecond)))
	return int(min(max(step, 0), lagSteps-1))
}

func (l *lag) measured() Lag {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Lag{l.quantile(0.5), l.quantile(0.99), l.mu.most.Seconds()}
}

// quantile returns the time within which the servers acknowledged that part of the commits.
func (l *lag) quantile(part float64) float64 {
	rest := int(math.Ceil(part * float64(l.mu.commits)))
	for step, n := range l.mu.steps {
		if rest -= n; rest <= 0 && step < lagSteps-1 {
			return min(0.001*math.Exp2(float64(step)/lagOctave), l.mu.most.Seconds())
		}
	}
	return l.mu.most.Seconds()
}

// log notes that a log has a message.
func (f *figures) log(m *nats.Msg) {
	f.logged.Add(int64(m.Size()))
	f.messages.Add(1)
}

func (f *figures) measured() Measured {
	return Measured{f.lag.measured(), f.logged.Load(), f.messages.Load(), f.restored.measured()}
}

// Restored are partitions that a node has read from their logs.
type Restored struct {
	Partitions int     `json:"partitions"`
	URLs       int     `json:"urls"`    // that they had, finished or not
	Seconds    float64 `json:"seconds"` // in which the node has restored any
}

// restores measures a Restored.
type restores struct {
	mu struct {
		sync.Mutex
		Restored
		running int
		since   time.Time // of the first that runs
	}
}

// begin notes that the node begins to restore a partition. Call what it returns at the end.
func (r *restores) begin() (end func(urls int, err error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.running++; r.mu.running == 1 {
		r.mu.since = time.Now()
	}
	return func(urls int, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.mu.running--; r.mu.running == 0 {
			r.mu.Seconds += time.Since(r.mu.since).Seconds()
		}
		if err == nil {
			r.mu.Partitions++
			r.mu.URLs += urls
		}
	}
}

func (r *restores) measured() Restored {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.mu.Restored
	if r.mu.running > 0 {
		all.Seconds += time.Since(r.mu.since).Seconds()
	}
	return all
}

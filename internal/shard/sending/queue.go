package sending

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// Queue holds the messages of the outbox that wait or are on their way. One goroutine uses it.
type Queue struct {
	gather     time.Duration
	partitions int

	all     []entry // in order, from the first that is not acknowledged
	size    int     // bytes of the messages that wait
	commits []commit
	began   time.Time     // when the last phase began
	pause   time.Duration // from then until the next begins
	took    time.Duration // time of the last phase
}

// entry is a message of the outbox.
type entry struct {
	store.Message
	sent bool
}

// commit is a commit of which some message is not acknowledged.
type commit struct {
	last  uint64    // its last message
	since time.Time // of its first change
}

// mostCommits bounds the commits that the queue tells apart. A node whose commits wait for 3 s
// makes few more.
const mostCommits = 64

// mostBytes bounds the bytes that wait for more: then they go out.
const mostBytes = 8 << 20

// New returns the queue of a node whose commits gather changes for a time, in a crawl with that
// many partitions.
func New(gather time.Duration, partitions int) *Queue {
	return &Queue{gather: gather, partitions: partitions}
}

// Committed says that the messages up to last are those of one or more commits, whose first change
// was made at since.
func (q *Queue) Committed(last uint64, since time.Time) {
	if n := len(q.commits); n == mostCommits {
		q.commits[n-1].last = last // as if it were as old
		return
	}
	q.commits = append(q.commits, commit{last, since})
}

// Add adds the next messages of the outbox.
func (q *Queue) Add(all ...store.Message) {
	for _, m := range all {
		q.all = append(q.all, entry{Message: m})
		q.size += len(m.Data)
	}
}

// Full reports whether so much waits that it goes out before more is added.
func (q *Queue) Full() bool { return q.size >= mostBytes }

// Next begins a phase, and returns its messages in order. The phase before must have ended. If it
// is too early, Next returns no messages, and how long to wait; 0: until more are added. Somebody
// waits for the messages up to wanted, so they go out at once.
func (q *Queue) Next(now time.Time, wanted uint64) (phase []store.Message, wait time.Duration) {
	due := q.due()
	if len(due) == 0 {
		return nil, 0
	}
	messages := q.messages(due)
	if wait = q.begins(due, messages, wanted).Sub(now); wait > 0 && !q.Full() {
		return nil, wait
	}
	for _, i := range due {
		q.all[i].sent = true
		q.size -= len(q.all[i].Data)
		phase = append(phase, q.all[i].Message)
	}
	q.began = now
	q.pause = min(q.gather, q.gather*time.Duration(messages)/time.Duration(q.partitions))
	return phase, 0
}

// due returns the indexes of the next phase's messages: what was found, and what was done before
// that.
func (q *Queue) due() (due []int) {
	found := false
	for i := range q.all {
		switch m := &q.all[i]; {
		case m.sent:
		case m.Kind != changelog.Ended:
			found = true
			due = append(due, i)
		case !found:
			due = append(due, i)
		}
	}
	return due
}

// messages returns how many messages a phase becomes on the servers, if none is too long.
func (q *Queue) messages(due []int) int {
	type subject struct {
		partition int
		links     bool
	}
	all, widened := make(map[subject]struct{}), 0
	for _, i := range due {
		if m := &q.all[i]; m.Kind == changelog.Widened {
			widened++
		} else {
			all[subject{m.Partition, m.Kind == changelog.Links}] = struct{}{}
		}
	}
	return widened + len(all)
}

// begins returns when a phase may begin; the zero time: now.
func (q *Queue) begins(due []int, messages int, wanted uint64) time.Time {
	first := due[0]
	found := slices.IndexFunc(due, func(i int) bool { return q.all[i].Kind != changelog.Ended })
	at := q.began.Add(q.pause)
	switch {
	case q.all[first].ID <= wanted:
		return time.Time{}
	case found >= 0:
		at = q.atLatest(at, due[found], q.gather*3/2)
	case messages > max(1, q.partitions/few):
		at = q.began.Add(q.endedAge())
	}
	if found != 0 {
		at = q.atLatest(at, first, q.endedAge())
	}
	return at
}

// few: what is done does not wait for more if it has messages for at most 1/few of the partitions.
const few = 64

// endedAge is the age of a commit at which what it has done goes out alone.
func (q *Queue) endedAge() time.Duration { return min(q.gather*5/2, 3*q.gather-2*q.took) }

// atLatest returns t, or when the commit of message i reaches an age, if that is earlier.
func (q *Queue) atLatest(t time.Time, i int, age time.Duration) time.Time {
	for _, c := range q.commits {
		if c.last >= q.all[i].ID {
			if old := c.since.Add(age); old.Before(t) {
				return old
			}
			break
		}
	}
	return t
}

// Sent ends a phase that the servers have acknowledged. It forgets and returns the messages before
// the first that is not acknowledged.
func (q *Queue) Sent(now time.Time) (gone []store.Message) {
	q.took = now.Sub(q.began)
	for len(q.all) > 0 && q.all[0].sent {
		gone = append(gone, q.all[0].Message)
		q.all[0] = entry{}
		q.all = q.all[1:]
	}
	for len(gone) > 0 && len(q.commits) > 0 && q.commits[0].last <= gone[len(gone)-1].ID {
		q.commits = q.commits[1:]
	}
	return gone
}

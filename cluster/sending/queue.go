package sending

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/cluster/changelog"
	"github.com/weftcrawl/weft/frontier/store"
)

// Queue has the messages of the outbox that are on their way, or are to go out. One goroutine uses it.
type Queue struct {
	gather     time.Duration
	partitions int

	all     []entry // that are not acknowledged with all before them, in order
	size    int     // of those that wait, in bytes
	commits []commit
	began   time.Time     // when the last phase began
	pause   time.Duration // from then on, until the next begins
	took    time.Duration // the last phase
}

// entry is a message of the outbox.
type entry struct {
	store.Message
	sent bool
}

// commit is one whose messages are not all acknowledged.
type commit struct {
	last  uint64    // its last message
	since time.Time // of its first change
}

// mostCommits bounds the commits that are told apart. A node whose commits wait for 3 s makes few more.
const mostCommits = 64

// mostBytes bounds what waits for more.
const mostBytes = 8 << 20

// New returns a queue of a node whose commits gather changes for a time, on a crawl with so many partitions.
func New(gather time.Duration, partitions int) *Queue {
	return &Queue{gather: gather, partitions: partitions}
}

// Committed takes in that messages up to one are of a commit, or of several, whose first change was made then.
func (q *Queue) Committed(last uint64, since time.Time) {
	if n := len(q.commits); n == mostCommits {
		q.commits[n-1].last = last // as if it were as old
		return
	}
	q.commits = append(q.commits, commit{last, since})
}

// Add adds messages of the outbox, which follow those before.
func (q *Queue) Add(all ...store.Message) {
	for _, m := range all {
		q.all = append(q.all, entry{Message: m})
		q.size += len(m.Data)
	}
}

// Full reports whether what waits is to go out before more is added.
func (q *Queue) Full() bool { return q.size >= mostBytes }

// Next begins a phase, and returns its messages in their order. The phase before has ended. If it is too early
// for one, Next returns none, and how long to wait; 0: until there is more. Somebody waits for the messages up
// to wanted.
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

// due returns the indexes of the next phase's messages: what was found, and what was done before that.
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

// messages returns how many messages of the servers a phase takes, if none is too long.
func (q *Queue) messages(due []int) int {
	type subject struct {
		partition int
		links     bool
	}
	all, opened := make(map[subject]struct{}), 0
	for _, i := range due {
		if m := &q.all[i]; m.Kind == changelog.Opened {
			opened++
		} else {
			all[subject{m.Partition, m.Kind == changelog.Links}] = struct{}{}
		}
	}
	return opened + len(all)
}

// begins returns when a phase is to begin; the zero time: now.
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

// few: what is done waits for no others if it is this fraction of a message for each partition, 1/few, or less.
const few = 64

// endedAge is how old a commit may be before what it has done goes out alone.
func (q *Queue) endedAge() time.Duration { return min(q.gather*5/2, 3*q.gather-2*q.took) }

// atLatest returns a time, or that at which the commit of a message has an age, if that is earlier.
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

// Sent ends a phase: the servers have acknowledged all of it. It returns the messages that are acknowledged with
// all before them, which the queue forgets.
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

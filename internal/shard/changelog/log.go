package changelog

import (
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// Kinds of messages in the outbox, in the order in which a batch posts them.
//
// A message of Widened is for every node, and has reached all of them before any message after it
// is published: what comes of a link is judged by where links might lead when it was found.
//
// What a batch ends may be lost, and is then done again; what it has found may not, or nobody would
// find it again. So a message of Ended is published only once all messages before it are safe,
// those of other partitions, too.
const (
	Widened byte = 'o' // new places that links may lead to, in the engine's text: see Log.Widen
	Links   byte = 'l' // URLs for the owner of a partition: see Read
	Found   byte = 'f' // changes of a partition: see Replay
	Ended   byte = 'e' // the same, of URLs ended, tried or asked again, and of states of origins
)

// Batch is the batch of the store to which a Log passes everything on.
type Batch interface {
	frontier.Journal
	Post(partition int, kind byte, data []byte)
}

// Log is a journal that passes each change on to a batch, and keeps it by partition until the batch
// is sealed.
type Log struct {
	Partition func(host string) int
	Clock     func() (job, calendar time.Time)

	batch   Batch
	blocks  [3]map[int]*Encoder // by the index of their kind in kinds, and by partition
	widened []string
	bytes   int // of all of them, about
}

// kinds are those of blocks.
var kinds = [...]byte{Links, Found, Ended}

const (
	links = iota
	additions
	endings
)

var _ frontier.Journal = (*Log)(nil)

// Begin makes a batch the one to pass on to. The batch before was sealed.
func (l *Log) Begin(b Batch) {
	l.batch, l.widened, l.bytes = b, nil, 0
	for i := range l.blocks {
		l.blocks[i] = make(map[int]*Encoder)
	}
}

// Send has a URL of another node's go there with the batch.
func (l *Log) Send(u frontier.URL) {
	u = asLink(u)
	l.write(links, u.URL.Hostname(), func(e *Encoder) { e.Pending(u) })
}

// Widen tells every node what links may lead to from now on.
func (l *Log) Widen(what string) {
	l.widened = append(l.widened, what)
	l.bytes += len(what)
}

// Size returns about how many bytes Seal will post.
func (l *Log) Size() int { return l.bytes }

// Seal posts what was kept to the outbox of the batch.
func (l *Log) Seal() {
	for _, what := range l.widened {
		l.batch.Post(0, Widened, []byte(what))
	}
	for i, blocks := range l.blocks {
		for _, p := range slices.Sorted(maps.Keys(blocks)) {
			l.batch.Post(p, kinds[i], blocks[p].Block())
		}
	}
}

// write writes something of a host.
func (l *Log) write(kind int, hostname string, fn func(*Encoder)) {
	p := l.Partition(hostname)
	e := l.blocks[kind][p]
	if e == nil {
		e = NewEncoder(l.Clock())
		l.blocks[kind][p] = e
	}
	before := e.Len()
	fn(e)
	l.bytes += e.Len() - before
}

func (l *Log) ofURL(kind int, u *frontier.URL, fn func(*Encoder)) {
	l.write(kind, u.URL.Hostname(), fn)
}

func (l *Log) ofOrigin(kind int, origin string, fn func(*Encoder)) {
	l.write(kind, frontier.Hostname(origin), fn)
}

// Pending, Retried, Moved, Nearer, Done, Refused, Dropped, Variants, OverLimit, Rules, Redirected,
// Origin and Counts implement [frontier.Journal].
func (l *Log) Pending(u frontier.URL) {
	l.batch.Pending(u)
	kind := additions
	if u.Tries > 0 { // it was done, perhaps in this batch
		kind = endings
	}
	l.ofURL(kind, &u, func(e *Encoder) { e.Pending(u) })
}

func (l *Log) Retried(u frontier.URL, was frontier.QueueKey) {
	l.batch.Retried(u, was)
	l.ofURL(endings, &u, func(e *Encoder) { e.Retried(u, was) })
}

func (l *Log) Moved(u frontier.URL, was frontier.QueueKey) {
	l.batch.Moved(u, was)
	l.ofURL(additions, &u, func(e *Encoder) { e.Moved(u, was) })
}

func (l *Log) Nearer(u frontier.URL, open bool) { l.batch.Nearer(u, open) }

func (l *Log) Done(u frontier.URL) {
	l.batch.Done(u)
	l.ofURL(endings, &u, func(e *Encoder) { e.Done(u) })
}

// Refused writes the date of the block, which is that of the refusal but for the time of a batch.
func (l *Log) Refused(r frontier.Refusal, at time.Time) {
	l.batch.Refused(r, at)
	l.ofURL(endings, &r.URL, func(e *Encoder) { e.Refused(r, e.calendar) })
}

func (l *Log) Dropped(u frontier.URL, why frontier.Drop) { l.batch.Dropped(u, why) }

func (l *Log) Variants(origin string, key [16]byte, n int) {
	l.batch.Variants(origin, key, n)
	l.ofOrigin(additions, origin, func(e *Encoder) { e.Variants(origin, key, n) })
}

func (l *Log) OverLimit(origin string) {
	l.batch.OverLimit(origin)
	l.ofOrigin(additions, origin, func(e *Encoder) { e.OverLimit(origin) })
}

func (l *Log) Rules(origin string, r robots.Rules) {
	l.batch.Rules(origin, r)
	l.ofOrigin(additions, origin, func(e *Encoder) { e.Rules(origin, r) })
}

func (l *Log) Redirected(fp [16]byte, fewest int, target *frontier.URL) {
	l.batch.Redirected(fp, fewest, target)
}

func (l *Log) Origin(o frontier.OriginState) {
	l.batch.Origin(o)
	l.ofOrigin(endings, o.Name, func(e *Encoder) { e.Origin(o) })
}

func (l *Log) Counts(s frontier.Stats) { l.batch.Counts(s) }

// Read returns the URLs of a message of Links.
func Read(block []byte) ([]frontier.URL, error) {
	var all found
	err := Replay(block, time.Time{}, &all)
	if err == nil && all.other {
		err = ErrMalformed
	}
	return all.urls, err
}

// Again returns the URLs of a message of Found as one of Links, nil if there are none: for whoever
// has the partition by now.
func Again(block []byte, calendar time.Time) ([]byte, error) {
	var all found
	if err := Replay(block, time.Time{}, &all); err != nil || len(all.urls) == 0 {
		return nil, err
	}
	e := NewEncoder(time.Time{}, calendar)
	for _, u := range all.urls {
		e.Pending(asLink(u))
	}
	return e.Block(), nil
}

// Halves returns a message of Links as two. One URL is not split: it has no halves.
func Halves(block []byte, calendar time.Time) ([][]byte, error) {
	all, err := Read(block)
	if err != nil || len(all) < 2 {
		return nil, err
	}
	var halves [][]byte
	for _, urls := range [][]frontier.URL{all[:len(all)/2], all[len(all)/2:]} {
		e := NewEncoder(time.Time{}, calendar)
		for _, u := range urls {
			e.Pending(u)
		}
		halves = append(halves, e.Block())
	}
	return halves, nil
}

// asLink returns a URL without what the next frontier decides itself.
func asLink(u frontier.URL) frontier.URL {
	u.Seq, u.Tries, u.NotBefore, u.Past, u.Known = 0, 0, time.Time{}, nil, nil
	return u
}

// found is a journal that takes URLs.
type found struct {
	urls  []frontier.URL
	other bool // it got another change
}

func (f *found) Pending(u frontier.URL)                  { f.urls = append(f.urls, u) }
func (f *found) Retried(frontier.URL, frontier.QueueKey) { f.other = true }
func (f *found) Moved(frontier.URL, frontier.QueueKey)   { f.other = true }
func (f *found) Nearer(frontier.URL, bool)               { f.other = true }
func (f *found) Done(frontier.URL)                       { f.other = true }
func (f *found) Refused(frontier.Refusal, time.Time)     { f.other = true }
func (f *found) Dropped(frontier.URL, frontier.Drop)     { f.other = true }
func (f *found) Variants(string, [16]byte, int)          { f.other = true }
func (f *found) OverLimit(string)                        { f.other = true }
func (f *found) Rules(string, robots.Rules)              { f.other = true }
func (f *found) Redirected([16]byte, int, *frontier.URL) { f.other = true }
func (f *found) Origin(frontier.OriginState)             { f.other = true }
func (f *found) Counts(frontier.Stats)                   { f.other = true }

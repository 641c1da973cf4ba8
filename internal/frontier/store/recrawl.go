package store

import (
	"context"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// Recrawl makes every URL that is done or refused pending again, as if never tried, with its queue
// key and a [frontier.Snapshot] of its last fetch. With keep, URLs that have one come before all
// new ones. Call it for a finished job, before a frontier is restored. Hosts start with fresh
// limits and their previous pace; robots.txt stays valid as long as it would have been, and one
// that could not be fetched is requested at once. Dropped URLs stay dropped. With byDepth, queue
// keys are those of a frontier with Levels. URLs stay as they are for which stays returns true,
// unless it is nil; they come in the order of their entries.
//
// It commits many batches, so its memory is bounded. Between two of them the store is whole, each
// URL in one state: after an interruption, another call continues. It returns the errors of Commit
// and that of ctx.
func (s *Store) Recrawl(ctx context.Context, keep, byDepth bool, stays func(*Entry) (bool, error)) error {
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	counts.Duplicates = 0
	v := recrawl{store: s, keep: keep, byDepth: byDepth, stays: stays, counts: counts, reset: resetOrigin}
	v.begin()
	for c, err := range s.table.chunks([]byte{keyEntry}, []byte{keyEntry + 1}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for key, value := range c.entries {
			if err := v.turn(key, value); err != nil {
				return err
			}
		}
	}
	return v.commit()
}

// Again returns a batch that makes URLs pending again which are done or refused, as Recrawl does it
// for all of them, without a visit: what is known of them, and the limits of hosts hold, but for
// these URLs. With keep they come before all others. The caller commits it before the frontier is
// restored, and before the next call.
func (s *Store) Again(entries []Entry, keep, byDepth bool) (*Batch, error) {
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	v := recrawl{store: s, byDepth: byDepth, counts: counts, reset: reopenOrigin}
	v.begin()
	for _, e := range entries {
		if err := v.requeue(e, keep); err != nil {
			return nil, err
		}
		v.batch.key = appendEntryKey(v.batch.key[:0], &e.URL)
		v.batch.delete(v.batch.key)
		if e.State == Done {
			name := e.URL.URL.Origin()
			o := v.origins[name]
			o.Answered = max(0, o.Answered-1)
			if e.URL.Erred() {
				o.Errors = max(0, o.Errors-1)
			}
			v.origins[name] = o
		}
	}
	v.end()
	return v.batch, nil
}

// reopenOrigin returns the state of an origin that has URLs to ask again: it may have failed for a
// reason that is gone.
func reopenOrigin(name string, o frontier.OriginState) frontier.OriginState {
	answered, tried, errors := o.Answered, o.Tried, o.Errors
	o = resetOrigin(name, o)
	o.Answered, o.Tried, o.Errors = answered, tried, errors
	return o
}

// recrawl is the state of one call of Recrawl, or of Again.
type recrawl struct {
	store    *Store
	keep     bool
	byDepth  bool
	stays    func(*Entry) (bool, error) // or nil
	counts   frontier.Stats
	reset    func(name string, o frontier.OriginState) frontier.OriginState
	batch    *Batch
	origins  map[string]frontier.OriginState // of the URLs in the batch
	from, to []byte                          // first and last key of entries to remove; nil: none
}

func (v *recrawl) begin() {
	v.batch, v.origins, v.from = v.store.Begin(), make(map[string]frontier.OriginState), nil
}

// remove adds to the batch that the entries from the first to the last are gone. The batch has the
// URL of each of them: nothing else adds entries.
func (v *recrawl) remove() {
	if v.from != nil {
		v.batch.writer.deleteRange(v.from, append(slices.Clone(v.to), 0))
	}
	v.from = nil
}

// commit saves the batch.
func (v *recrawl) commit() error {
	v.remove()
	v.end()
	if err := v.store.Commit(v.batch); err != nil {
		return err
	}
	v.begin()
	return nil
}

// end adds to the batch what has changed of origins and counts.
func (v *recrawl) end() {
	for _, o := range v.origins {
		v.batch.Origin(o)
	}
	v.batch.Counts(v.counts)
}

// turn makes the URL of an entry pending, which commit removes, unless it stays.
func (v *recrawl) turn(key, value []byte) error {
	e, err := decodeEntry(value)
	if err != nil {
		return v.store.table.check(key, err)
	}
	if v.stays != nil {
		stays, err := v.stays(&e)
		if err != nil {
			return err
		}
		if stays {
			v.remove()
			_, err := v.origin(e.URL.URL.Origin())
			return err
		}
	}
	if err := v.requeue(e, v.keep && e.URL.Known != nil); err != nil {
		return err
	}
	if v.from == nil {
		v.from = key
	}
	v.to = key
	if v.batch.Size() >= v.store.recrawlBatch {
		return v.commit()
	}
	return nil
}

// origin returns the state of an origin, which the batch has.
func (v *recrawl) origin(name string) (frontier.OriginState, error) {
	o, known := v.origins[name]
	if !known {
		was, _, err := v.store.Origin(name)
		if err != nil {
			return o, err
		}
		o = v.reset(name, was.OriginState)
		v.origins[name] = o
	}
	return o, nil
}

// requeue adds to the batch that the URL of an entry is pending; kept ones come before others.
func (v *recrawl) requeue(e Entry, kept bool) error {
	name := e.URL.URL.Origin()
	o, err := v.origin(name)
	if err != nil {
		return err
	}
	o.Pending++
	v.origins[name] = o
	v.counts.Pending++
	if e.State == Done {
		v.counts.Done--
	} else {
		v.counts.Refused--
	}
	u, was := e.URL, e.URL.QueueKey()
	u.Tries, u.NotBefore, u.Past = 0, time.Time{}, nil
	u.Kept = kept
	u.ByDepth = v.byDepth && u.Depth > 0
	if v.byDepth || u.QueueKey() != was {
		v.batch.putSeen(u)
	}
	v.batch.putPending(u)
	return nil
}

// resetOrigin returns the state of an origin at the start of a recrawl, or a few batches later.
func resetOrigin(name string, o frontier.OriginState) frontier.OriginState {
	o.Name, o.Tried, o.Answered, o.Errors, o.Capped = name, 0, 0, 0, false
	o.Responded, o.Trouble = false, frontier.TroubleState{}
	if o.Robots.Shut {
		o.Robots = frontier.RobotsState{}
	}
	return o
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Rebuilt is what Restore has done.
type Rebuilt struct {
	Streams    []string // the streams that it has made
	Missing    []string // names of nodes whose folders it needs and was not given
	Without    int      // partitions of a lost log that no folder has
	Partitions int      // of the crawl

	blind bool // there may be nodes that neither the servers nor the folders know
}

// ErrWhole is returned by Client.Restore if the servers have lost nothing of the crawl.
var ErrWhole = errors.New("the servers have all of its streams, expected one to be missing")

// ErrIncomplete is returned by Client.Restore if the folders do not have all that the servers have lost.
var ErrIncomplete = errors.New("expected the folders of all nodes")

// Restore makes the streams that the servers have lost again, from the job folders of the crawl's nodes, none of which
// may run. Then nodes may join again, with these folders or new ones.
//
// If a folder may be missing, Restore writes nothing and returns ErrIncomplete, unless force is true. After any other
// error, call it again: it starts over, and no node can join before it has succeeded.
func (c *Client) Restore(ctx context.Context, dirs []string, force bool) (r Rebuilt, err error) {
	lost, err := c.lost(ctx)
	if err != nil {
		return r, err
	}
	if len(lost) == 0 {
		return r, fmt.Errorf("crawl %s: %w", c.layout, ErrWhole)
	}
	all, err := readRemains(ctx, dirs)
	defer func() {
		for _, f := range all {
			f.job.Close()
		}
	}()
	if err != nil {
		return r, err
	}
	n := &node{Client: c, figures: new(figures), dir: identity{Node: restorer + nuid.Next(), Incarnation: 1}}
	n.mail.wake = make(chan struct{}, 1)
	n.outbox = newOutbox(n)
	n.ctx, n.stop = context.WithCancelCause(ctx)
	defer n.stop(nil)
	go n.heed()
	if slices.Contains(lost, c.streamNames()[0]) {
		n.plan, err = c.decodePlan(all[0].was.Plan)
	} else {
		n.plan, err = c.waitingPlan(ctx)
	}
	if err != nil {
		return r, err
	}
	for _, f := range all {
		if err := f.was.of(n.plan.ID, f.dir); err != nil {
			return r, err
		}
	}
	if most := n.mostData(); len(n.plan.text) > most {
		return r, fmt.Errorf("a plan of %d bytes: the servers take %d at most; expected a higher max_payload", len(n.plan.text), most)
	}
	r.Streams, r.Partitions = lost, n.plan.Partitions
	logs, err := n.judge(ctx, &r, all)
	if err != nil {
		return r, err
	}
	if err := r.incomplete(); err != nil && !force {
		return r, fmt.Errorf("crawl %s: %w", c.layout, err)
	}
	if r.Without == r.Partitions {
		return r, errors.New("the nodes of these folders had given all partitions away, expected the folders of the nodes that have them")
	}
	if err := n.rebuild(n.ctx, &r, all, logs); err != nil {
		return r, err
	}
	for _, name := range lost {
		if err := n.makeWhole(n.ctx, name); err != nil {
			return r, err
		}
	}
	return r, nil
}

// judge finds the last state of each partition whose log is lost, and which folders are missing. It runs before anything
// is written.
func (n *node) judge(ctx context.Context, r *Rebuilt, all []*remains) (logs []truth, err error) {
	k := known{lost: r.has(n.streamNames()[0])}
	if !k.lost {
		if k, err = n.lookUp(ctx); err != nil {
			return nil, err
		}
	}
	r.blind = k.lost
	for _, of := range k.claims { // or it was lost before, and no node has started all partitions since
		r.blind = r.blind || vacates(of.owner)
	}
	var wants []string
	if r.has(n.linkStream()) { // any node may have sent some
		wants = k.others(here(all))
	}
	if !r.has(n.logStream()) {
		r.Missing = k.namesOf(wants)
		return nil, nil
	}
	for p := range n.plan.Partitions {
		t := k.truthOf(p, all)
		logs = append(logs, t)
		wants = append(wants, t.wants...)
		if t.lost {
			r.Without++
		}
	}
	r.Missing = k.namesOf(wants)
	return logs, nil
}

// has reports whether a stream was lost.
func (r *Rebuilt) has(stream string) bool { return slices.Contains(r.Streams, stream) }

// incomplete returns ErrIncomplete unless the folders are known to have all.
func (r *Rebuilt) incomplete() error {
	switch {
	case len(r.Missing) > 0:
		return fmt.Errorf("the folder of %s was not given, %w", strings.Join(r.Missing, ", or of "), ErrIncomplete)
	case r.Without > 0:
		return fmt.Errorf("%d of %d partitions are in no folder, %w", r.Without, r.Partitions, ErrIncomplete)
	case r.blind: // a folder that was not given may have a later state
		return fmt.Errorf("the servers have lost which nodes there were, %w", ErrIncomplete)
	}
	return nil
}

// heed ends the restoring if a stream is deleted meanwhile, as another that restores the crawl does.
func (n *node) heed() {
	for !n.ended.is {
		select {
		case <-n.mail.wake:
			for _, fn := range n.mail.take() {
				fn()
			}
		case <-n.ctx.Done():
			return
		}
	}
	n.stop(n.ended.by)
}

// ErrHalf is returned for a crawl that is being restored, or whose restoring was interrupted.
var ErrHalf = errors.New("it is restored in part, expected that weft cluster restore has ended without an error")

// restored returns ErrHalf unless the streams that the servers have are whole.
func (c *Client) restored(ctx context.Context) error {
	for _, name := range c.streamNames() {
		var s jetstream.Stream
		err := c.chosen(ctx, func(ctx context.Context) (err error) { s, err = c.js.Stream(ctx, name); return err })
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
		case err != nil:
			return c.refused(err)
		case isHalf(s):
			return fmt.Errorf("crawl %s: %w", c.layout, ErrHalf)
		}
	}
	return nil
}

// half marks a stream whose restoring has not ended.
var half = map[string]string{"weft-restoring": "yes"}

func isHalf(s jetstream.Stream) bool { return s.CachedInfo().Config.Metadata["weft-restoring"] != "" }

// waitingPlan returns the plan of a crawl that is not over and has no nodes. A node that has just been killed still
// counts: waitingPlan waits until its silence shows that it has ended.
func (c *Client) waitingPlan(ctx context.Context) (p Plan, err error) {
	if p, err = c.Plan(ctx); err != nil {
		return p, err
	}
	for began := now(); ; {
		err := c.waits(ctx)
		if !errors.Is(err, ErrInUse) || now()-began > (beatsOfSilence+1)*c.beat {
			return p, err
		}
		select {
		case <-time.After(c.beat / 4):
		case <-ctx.Done():
			return p, context.Cause(ctx)
		}
	}
}

// waits returns an error if the crawl is over, or has nodes.
func (c *Client) waits(ctx context.Context) error {
	bucket, err := c.js.Stream(ctx, c.streamNames()[0])
	if err != nil {
		return c.refused(err)
	}
	all, err := c.entries(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Key() == keyOver {
			return fmt.Errorf("crawl %s: %w", c.layout, ErrOver)
		}
	}
	return c.deserted(ctx, bucket.CachedInfo().TimeStamp)
}

// lost returns which streams of the crawl the servers do not have, or not the whole of.
func (c *Client) lost(ctx context.Context) (all []string, err error) {
	for _, name := range c.streamNames() {
		var s jetstream.Stream
		err := c.chosen(ctx, func(ctx context.Context) (err error) { s, err = c.js.Stream(ctx, name); return err })
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			all = append(all, name)
		case err != nil:
			return nil, c.refused(err)
		case isHalf(s):
			all = append(all, name)
		}
	}
	return all, nil
}

// remains are what a node has left on its disk.
type remains struct {
	folder
	job     *job.Job
	batches uint64 // of its store: of two copies of a folder, the one with more is the later
}

// readRemains reads the folders of nodes that do not run.
func readRemains(ctx context.Context, dirs []string) (all []*remains, err error) {
	if len(dirs) == 0 {
		return nil, errors.New("expected the job folders of the nodes")
	}
	for _, dir := range dirs {
		f := &remains{}
		if f.folder, err = readFolder(dir); err != nil {
			return all, err
		}
		if f.was.Plan == nil {
			return all, fmt.Errorf("%s: expected the job of a node", dir)
		}
		crawling, err := weft.OpenJob(ctx, dir)
		if err != nil {
			return all, fmt.Errorf("%s: %w", dir, err)
		}
		running := crawling.Running()
		crawling.Close()
		if running {
			return all, fmt.Errorf("%s: its node is running, expected one that has ended", dir)
		}
		if f.job, err = job.View(dir); err != nil {
			return all, fmt.Errorf("%s: %w", dir, err)
		}
		f.batches = f.job.Store.Batches()
		all = append(all, f)
	}
	return all, nil
}

// rebuild makes the lost streams, marked, and puts into them what the folders have.
func (n *node) rebuild(ctx context.Context, r *Rebuilt, all []*remains, logs []truth) (err error) {
	for _, name := range r.Streams {
		if err := n.makeHalf(ctx, name); err != nil {
			return err
		}
	}
	if err := n.openStreams(ctx); err != nil {
		return err
	}
	if n.bucket, err = n.js.KeyValue(ctx, n.layout.bucket()); err != nil {
		return n.refused(err)
	}
	noBucket := r.has(n.streamNames()[0])
	if noBucket {
		if err := n.rebuildBucket(ctx, all); err != nil {
			return err
		}
	}
	for _, f := range all {
		if err := n.sendFinds(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.dir, err)
		}
	}
	for p, t := range logs {
		if err := n.rebuildLog(ctx, p, t); err != nil {
			return err
		}
	}
	if !noBucket {
		return nil
	}
	return n.keep(ctx, keyPlan, n.plan.text)
}

// makeHalf makes a stream that is marked until makeWhole. What an earlier attempt has put into one is deleted; a
// bucket is emptied by rebuildBucket.
func (n *node) makeHalf(ctx context.Context, name string) (err error) {
	if name == n.streamNames()[0] {
		_, err = n.makeBucket(ctx, half)
		return err
	}
	err = n.chosen(ctx, func(ctx context.Context) error { return n.js.DeleteStream(ctx, name) })
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return n.refused(err)
	}
	_, err = n.makeStream(ctx, name, half)
	return err
}

func (n *node) makeWhole(ctx context.Context, name string) (err error) {
	if name == n.streamNames()[0] {
		_, err = n.makeBucket(ctx, nil)
	} else {
		_, err = n.makeStream(ctx, name, nil)
	}
	return err
}

// rebuildBucket writes a bucket in which no partition has an owner. Its revisions begin beyond those of the lost one,
// which logs and links may name.
func (n *node) rebuildBucket(ctx context.Context, all []*remains) error {
	s, err := n.js.Stream(ctx, n.streamNames()[0])
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSequence(uint64(time.Now().UnixMilli())))
	}
	if err != nil {
		return n.refused(err)
	}
	for _, f := range all {
		for u, err := range f.job.Scope() {
			if err == nil {
				err = n.outbox.open(ctx, []byte(u.String()))
			}
			if err != nil {
				return err
			}
		}
		for network, err := range f.job.SavedNetworks() {
			if err == nil {
				err = n.outbox.open(ctx, []byte(network.String()))
			}
			if err != nil {
				return err
			}
		}
	}
	for _, w := range ownership.Vacated(n.dir.Node, n.plan.Partitions) {
		if err := n.keep(ctx, w.Key, w.Value); err != nil {
			return err
		}
	}
	return nil
}

// keep writes a key.
func (n *node) keep(ctx context.Context, key string, value []byte) error {
	return n.outbox.retry(ctx, func(ctx context.Context) error { _, err := n.bucket.Put(ctx, key, value); return err })
}

// sendFinds sends the links that a node could not send, or that may not have reached their receiver. Whoever owns the
// partition of a URL now need not know it.
func (n *node) sendFinds(ctx context.Context, f *remains) error {
	for after := uint64(0); ; {
		some, err := f.job.Store.Outbox(after, outboxBytes)
		if err != nil || len(some) == 0 {
			return err
		}
		after = some[len(some)-1].ID
		for _, m := range some {
			switch m.Kind {
			case changelog.Opened:
				err = n.outbox.open(ctx, m.Data)
			case changelog.Links:
				err = n.outbox.send(ctx, m.Partition, [][]byte{m.Data})
			case changelog.Found:
				err = n.outbox.sendFound(ctx, m.Partition, []store.Message{m})
			}
			if err != nil {
				return err
			}
		}
	}
}

// rebuildLog writes the log of a partition under the epoch of its state. So a node continues with its own folder only if
// the folder has this epoch.
func (n *node) rebuildLog(ctx context.Context, p int, t truth) error {
	if t.from == nil {
		return nil
	}
	end := &logEnd{epoch: t.epoch}
	err := engine.Export(t.from.job, p, func(block []byte) error {
		return n.outbox.add(ctx, p, end, nats.Header{}, pack([][]byte{block}))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t.from.dir, err)
	}
	return nil
}

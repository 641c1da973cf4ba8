package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Rebuilt is the result of Restore.
type Rebuilt struct {
	Streams    []string // the streams that it has made
	Missing    []string // names of nodes whose folders it needs and was not given
	Without    int      // partitions of a lost log that no folder has
	Partitions int      // of the crawl

	blind bool // there may be nodes that neither the servers nor the folders know
}

// ErrWhole is returned by Client.Restore if the servers have lost nothing of the crawl.
var ErrWhole = errors.New("the servers have all of its streams, expected one to be missing")

// ErrIncomplete is returned by Client.Restore if the folders do not have all that the servers have
// lost.
var ErrIncomplete = errors.New("expected the folders of all nodes")

// Restore makes the streams that the servers have lost again, from the job folders of the crawl's
// nodes, none of which may run. Then nodes may join again, with these folders or new ones.
//
// If a folder may be missing, Restore writes nothing and returns ErrIncomplete, unless force is
// true. After any other error, call it again: it starts over, and no node can join before it has
// succeeded.
func (c *Client) Restore(ctx context.Context, dirs []string, force bool) (r Rebuilt, err error) {
	lost, err := c.remote.lost(ctx)
	if err != nil {
		return r, err
	}
	if len(lost) == 0 {
		return r, fmt.Errorf("crawl %s: %w", c.remote.name, ErrWhole)
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
	plan, err := c.lostPlan(ctx, lost, all)
	if err != nil {
		return r, err
	}
	r.Streams, r.Partitions = lost, plan.Partitions
	logs, err := c.judge(ctx, &r, all)
	if err != nil {
		return r, err
	}
	if err := r.incomplete(); err != nil && !force {
		return r, fmt.Errorf("crawl %s: %w", c.remote.name, err)
	}
	if r.Without == r.Partitions {
		return r, errors.New("the nodes of these folders had given all partitions away, expected the folders of the nodes that have them")
	}
	return r, rebuild(ctx, c.remote, plan, lost, all, logs)
}

// lostPlan returns the plan of a crawl that has lost streams. Its folders are checked.
func (c *Client) lostPlan(ctx context.Context, lost []string, all []*remains) (p Plan, err error) {
	if slices.Contains(lost, c.remote.name.bucketStream()) {
		p, err = c.remote.decodePlan(all[0].was.Plan)
	} else {
		p, err = c.waitingPlan(ctx)
	}
	if err != nil {
		return p, err
	}
	for _, f := range all {
		if err := f.was.check(p.ID, f.dir); err != nil {
			return p, err
		}
	}
	if most := c.remote.servers.mostData(); len(p.text) > most {
		return p, fmt.Errorf("a plan of %d bytes: the servers take %d at most; expected a higher max_payload", len(p.text), most)
	}
	return p, nil
}

// judge finds the last state of each partition whose log is lost, and which folders are missing. It
// runs before anything is written.
func (c *Client) judge(ctx context.Context, r *Rebuilt, all []*remains) (logs []truth, err error) {
	k := known{lost: r.has(c.remote.name.bucketStream())}
	if !k.lost {
		if k, err = c.lookUp(ctx); err != nil {
			return nil, err
		}
	}
	r.blind = k.lost
	for _, of := range k.claims {
		// It may have been lost before, and no node has started all partitions since.
		r.blind = r.blind || vacates(of.owner)
	}
	var wants []string
	if r.has(c.remote.name.linkStream()) { // any node may have sent some
		wants = k.others(here(all))
	}
	if !r.has(c.remote.name.logStream()) {
		r.Missing = k.namesOf(wants)
		return nil, nil
	}
	for p := range r.Partitions {
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

// waitingPlan returns the plan of a crawl that is not over and has no nodes. A node that has just
// been killed still counts: waitingPlan waits until its silence shows that it has ended, and as
// long again, as what it sent last may come late.
func (c *Client) waitingPlan(ctx context.Context) (p Plan, err error) {
	if p, err = c.remote.plan(ctx); err != nil {
		return p, err
	}
	for began := now(); ; {
		err := c.waits(ctx)
		if !errors.Is(err, ErrInUse) || now()-began > 2*(beatsOfSilence+1)*c.remote.beat {
			return p, err
		}
		if err := pause(ctx, c.remote.beat/4); err != nil {
			return p, err
		}
	}
}

// waits returns an error if the crawl is over, or has nodes.
func (c *Client) waits(ctx context.Context) error {
	bucket, err := c.remote.stream(ctx, c.remote.name.bucketStream())
	if err != nil {
		return err
	}
	all, err := c.remote.entries(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Key() == keyOver {
			return fmt.Errorf("crawl %s: %w", c.remote.name, ErrOver)
		}
	}
	return c.remote.deserted(ctx, bucket.CachedInfo().TimeStamp)
}

// lookUp reads what the bucket says.
func (c *Client) lookUp(ctx context.Context) (known, error) {
	k := known{nodes: make(map[string]string), claims: make(map[int]claim)}
	s, err := c.Status(ctx)
	if err != nil {
		return k, err
	}
	for _, n := range s.Nodes {
		k.nodes[n.ID] = n.Name
	}
	all, err := c.remote.entries(ctx)
	if err != nil {
		return k, err
	}
	for _, e := range all {
		if p, owner, before, ok := ownership.ClaimOf(e.Key(), e.Value()); ok {
			k.claims[p] = claim{owner.ID, e.Revision(), before}
			if k.nodes[owner.ID] == "" {
				k.nodes[owner.ID] = owner.ID
			}
		}
	}
	maps.DeleteFunc(k.nodes, func(id, _ string) bool { return vacates(id) })
	return k, nil
}

package proof

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/cluster"
)

// The time between two questions to the servers.
const (
	asked   = 5 * time.Second
	closely = 250 * time.Millisecond // after a blow, until the crawl has recovered
)

// statuses are the states of a crawl as the servers report them. Owner: the goroutine of conduct.
type statuses struct {
	client  *cluster.Client // nil: there is no cluster
	said    chan *cluster.Status
	asking  bool
	next    time.Time          // when they are asked
	victim  cluster.NodeStatus // of the last blow, as it was before
	settled time.Time          // by when all nodes have said what they have restored after it
}

// connect connects to the servers.
func (c *crowd) connect(ctx context.Context) (err error) {
	if c.Servers > 0 {
		c.statuses.said = make(chan *cluster.Status, 1)
		c.statuses.client, err = cluster.Dial(ctx, cluster.Options{Servers: strings.Split(c.urls, ","), Name: crawlName})
	}
	return err
}

// ask asks the servers where the crawl is, if it is time. A crawl without blows is left alone.
func (c *crowd) ask(ctx context.Context, now time.Time) {
	s := &c.statuses
	if s.client == nil || len(c.Blows) == 0 || s.asking || now.Before(s.next) {
		return
	}
	s.asking = true
	go func() {
		status, err := s.client.Status(ctx)
		if err != nil { // the crawl has not begun, or the servers are busy
			s.said <- nil
			return
		}
		s.said <- &status
	}()
}

// hear takes in the answer.
func (c *crowd) hear(status *cluster.Status, now time.Time) {
	s := &c.statuses
	s.asking, s.next = false, now.Add(asked)
	if status != nil {
		c.see(status, now)
	}
	if n := len(c.Struck); n > 0 && c.Struck[n-1].Read == nil {
		s.next = now.Add(closely)
	}
}

// see takes in where the crawl is.
func (c *crowd) see(status *cluster.Status, now time.Time) {
	c.LogLeft = int64(status.LogBytes)
	c.LogPeak = max(c.LogPeak, c.LogLeft)
	for i, stint := range c.Stints {
		later := slices.ContainsFunc(c.Stints[i+1:], func(s *Stint) bool { return s.Job == stint.Job })
		n := nodeOf(status, stint)
		if n == nil || later {
			continue
		}
		if !slices.ContainsFunc(c.Stints[:i], func(s *Stint) bool { return s.Job == stint.Job && s.Status.Process == n.Process }) {
			stint.Status = *n
		}
	}
	if len(c.Struck) > 0 {
		c.follow(&c.Struck[len(c.Struck)-1], status, now)
	}
}

// follow takes in how far the crawl has recovered from the last blow.
func (c *crowd) follow(at *Struck, status *cluster.Status, now time.Time) {
	victim := &c.statuses.victim
	has := slices.ContainsFunc(status.Nodes, func(n cluster.NodeStatus) bool {
		return n.ID == victim.ID && n.Process == victim.Process && n.Partitions > 0
	})
	if at.Owned == 0 && !has && status.Unowned == 0 {
		at.Owned = now.Sub(at.At)
	}
	if at.Owned > 0 && at.Restored == 0 && status.Total.Started == status.Partitions {
		at.Restored = now.Sub(at.At)
		c.statuses.settled = now.Add(reported)
		c.Logf("node %d: its partitions have owners after %v, all are restored after %v", at.Node+1, at.Owned.Round(100*time.Millisecond), at.Restored.Round(100*time.Millisecond))
	}
	if at.Restored > 0 && at.Read == nil && now.After(c.statuses.settled) {
		at.read(c.restored())
	}
}

// read takes in what all processes have restored by now.
func (s *Struck) read(by cluster.Restored) {
	s.Read = &cluster.Restored{Partitions: by.Partitions - s.before.Partitions, URLs: by.URLs - s.before.URLs, Seconds: by.Seconds - s.before.Seconds}
}

// look asks the servers, and waits for the answer. It reports false if there is none.
func (c *crowd) look(ctx context.Context) bool {
	if c.statuses.client == nil {
		return true
	}
	status, err := c.statuses.client.Status(ctx)
	if err != nil {
		c.Logf("%v", err)
		return false
	}
	c.see(&status, time.Now())
	return true
}

// nodeOf returns what a status says of the node that has the job of a stint; nil: nothing.
func nodeOf(status *cluster.Status, s *Stint) *cluster.NodeStatus {
	i := slices.IndexFunc(status.Nodes, func(n cluster.NodeStatus) bool { return strings.HasSuffix(n.Name, ":"+s.Job) })
	if i < 0 {
		return nil
	}
	return &status.Nodes[i]
}

// reported is the time within which nodes say what they have done.
const reported = 2500 * time.Millisecond

// restored returns the sum of what all processes have restored.
func (r *NodesResult) restored() (all cluster.Restored) {
	for _, s := range r.Stints {
		one := s.Status.Restored
		all.Partitions, all.URLs, all.Seconds = all.Partitions+one.Partitions, all.URLs+one.URLs, all.Seconds+one.Seconds
	}
	return all
}

// logged returns the sum of what all processes have written to the logs.
func (r *NodesResult) logged() (messages, bytes int64) {
	for _, s := range r.Stints {
		messages, bytes = messages+s.Status.LogMessages, bytes+s.Status.LogBytes
	}
	return messages, bytes
}

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// NodeStatus is a node of a crawl, as it said last.
type NodeStatus struct {
	ID         string   `json:"id"`
	Process    uint64   `json:"process,string"` // random, to tell the processes of a folder apart
	Name       string   `json:"name"`           // MACHINE:FOLDER
	State      string   `json:"state"`          // joining, alive, leaving, silent, left, dead or over
	Partitions int      `json:"partitions"`
	Started    int      `json:"started"` // partitions that it has restored, and fetches from
	Done       int      `json:"done"`
	Pages      int      `json:"pages"`
	Failed     int      `json:"failed"`
	Refused    int      `json:"refused"`
	Pending    int      `json:"pending"`
	InFlight   int      `json:"in_flight"`
	Hosts      int      `json:"hosts"`
	Bytes      int64    `json:"bytes"`
	PerSecond  float64  `json:"urls_per_second"`
	Outbox     int64    `json:"outbox"` // messages that wait to be sent
	Paused     []string `json:"paused,omitempty"`
	Seconds    float64  `json:"seconds"` // crawled by its process
	Measured            // zero in a total
}

// Measured is the measurements of a process of a node since its start.
type Measured struct {
	Lag         Lag      `json:"lag"`
	LogBytes    int64    `json:"log_bytes"` // written to logs, with the headers of messages
	LogMessages int64    `json:"log_messages"`
	Restored    Restored `json:"restored"`
}

// Status is a crawl of several machines.
type Status struct {
	Name       string       `json:"name"`
	Begun      time.Time    `json:"begun"`
	Over       bool         `json:"over"`
	Stopped    string       `json:"stopped,omitempty"` // limit that was reached, such as --limit 100
	Seeds      []string     `json:"seeds"`
	Partitions int          `json:"partitions"`
	Unowned    int          `json:"unowned"`          // partitions without a node that is alive
	Links      uint64       `json:"links"`            // messages of links that no log has yet
	LogBytes   uint64       `json:"log_bytes"`        // of the logs on the servers: one copy of them
	Orders     []string     `json:"orders,omitempty"` // in force, given by Client.Do
	Total      NodeStatus   `json:"total"`
	Nodes      []NodeStatus `json:"nodes"`
	Unread     []string     `json:"unread,omitempty"` // keys that cannot be read, and why
	Lost       []string     `json:"lost,omitempty"`   // streams that were deleted: see Client.Restore
}

// Status says where a crawl is: what its nodes have said last.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	p, err := c.Plan(ctx)
	if err != nil {
		return s, err
	}
	s.Name, s.Begun, s.Seeds, s.Partitions = string(c.remote.name), p.Options.Begun, p.Options.AllSeeds(), p.Partitions
	bucket, err := c.remote.stream(ctx, c.remote.name.bucketStream())
	if err != nil {
		return s, err
	}
	look := look{now: bucket.CachedInfo().TimeStamp, nodes: make(map[string]*NodeStatus), owners: make(map[ownership.Owner]int), said: make(map[string]uint64)}
	all, err := c.remote.entries(ctx)
	if err != nil {
		return s, err
	}
	for _, e := range all {
		if id, b, ok := ownership.NodeOf(e.Key(), e.Value()); ok {
			n := look.node(id)
			n.State, n.Process, n.Started = string(b.State), b.Incarnation, b.Started
			if b.Running() && c.remote.silent(e, look.now) { // nobody is left who would say that it is dead
				n.State = silentNode
			}
		} else if o, ok := ownership.OwnerOf(e.Key(), e.Value()); ok {
			look.owners[o]++
		} else if err := look.see(&s, e); err != nil {
			s.Unread = append(s.Unread, fmt.Sprintf("%s: %v", e.Key(), err))
		}
	}
	if !s.Over {
		s.Stopped = look.limits.stop(look.now.Sub(look.begun))
	}
	for id, n := range look.nodes {
		if n.there() { // the last to leave is written as the owner of its partitions until another comes
			n.Partitions = look.owners[ownership.Owner{ID: id, Incarnation: n.Process}]
			s.Unowned += n.Partitions
			if s.Over {
				n.State = "over"
			}
		} else {
			n.PerSecond, n.Started = 0, 0 // what it has said last
		}
		if look.said[id] != n.Process {
			n.Measured = Measured{}
		}
		s.Nodes = append(s.Nodes, *n)
	}
	s.Unowned = s.Partitions - s.Unowned
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	for i := range s.Nodes {
		s.Total.add(&s.Nodes[i])
	}
	if s.Lost, err = c.remote.lost(ctx); err != nil || len(s.Lost) > 0 {
		return s, err
	}
	stream, err := c.remote.stream(ctx, c.remote.name.linkStream())
	if err != nil {
		return s, err
	}
	s.Links = stream.CachedInfo().State.Msgs
	if stream, err = c.remote.stream(ctx, c.remote.name.logStream()); err != nil {
		return s, err
	}
	s.LogBytes = stream.CachedInfo().State.Bytes
	return s, nil
}

// look is the bucket as Status has read it.
type look struct {
	now, begun time.Time // by the servers' clocks: of the look, and of the crawl
	nodes      map[string]*NodeStatus
	owners     map[ownership.Owner]int // of partitions, by process
	said       map[string]uint64       // the process that has said what a node has done
	limits     limits
}

// node returns the node with an ID.
func (l *look) node(id string) *NodeStatus {
	n := l.nodes[id]
	if n == nil {
		n = &NodeStatus{ID: id, Name: id, State: "joining"}
		l.nodes[id] = n
	}
	return n
}

// see reads a key that is not one of package ownership.
func (l *look) see(s *Status, e jetstream.KeyValueEntry) error {
	id, ofNode := strings.CutPrefix(e.Key(), keyStats)
	switch {
	case ofNode:
		n := l.node(id)
		said := *n
		if err := json.Unmarshal(e.Value(), &said); err != nil {
			return err
		}
		l.said[id] = said.Process
		said.ID, said.State, said.Process, said.Started = n.ID, n.State, n.Process, n.Started
		*n = said
	case e.Key() == keyOrders:
		all, err := readOrders(e.Value())
		if err != nil {
			return err
		}
		for _, words := range all {
			if words[0] != "resume" { // it only ends a pause
				s.Orders = append(s.Orders, strings.Join(words, " "))
			}
		}
	case e.Key() == keyLimits:
		return json.Unmarshal(e.Value(), &l.limits)
	case e.Key() == keyPlan:
		l.begun = e.Created()
	case e.Key() == keyOver:
		s.Over = true
	}
	return nil
}

// silentNode is the state of a node that has not said for long that it is alive.
const silentNode = "silent"

// there reports whether the node crawls.
func (n *NodeStatus) there() bool {
	return n.State == string(ownership.Alive) || n.State == string(ownership.Leaving)
}

// add adds what a node has done, and what it has to do if it is there.
func (t *NodeStatus) add(n *NodeStatus) {
	t.Done, t.Pages, t.Failed, t.Refused, t.Bytes = t.Done+n.Done, t.Pages+n.Pages, t.Failed+n.Failed, t.Refused+n.Refused, t.Bytes+n.Bytes
	t.Hosts, t.Seconds = t.Hosts+n.Hosts, max(t.Seconds, n.Seconds)
	if !n.there() {
		return
	}
	t.Partitions, t.Started = t.Partitions+n.Partitions, t.Started+n.Started
	t.Pending, t.InFlight = t.Pending+n.Pending, t.InFlight+n.InFlight
	t.PerSecond, t.Outbox = t.PerSecond+n.PerSecond, t.Outbox+n.Outbox
}

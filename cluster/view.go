package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/partition"
)

// NodeStatus is a node of a crawl, as it said last.
type NodeStatus struct {
	ID         string   `json:"id"`
	Process    uint64   `json:"process,string"` // random: it tells processes apart that have had the node's folder
	Name       string   `json:"name"`           // MACHINE:FOLDER
	State      string   `json:"state"`          // joining, alive, leaving, silent, left or dead; over when the crawl is
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
	Seconds    float64  `json:"seconds"` // how long its process has crawled
	Measured            // zero in a total
}

// Measured is what a process of a node has measured since its start.
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
	Stopped    string       `json:"stopped,omitempty"` // such as --limit 100: the limit that it has reached
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
	s.Name, s.Begun, s.Seeds, s.Partitions = string(c.layout), p.Options.Begun, p.Options.AllSeeds(), p.Partitions
	bucket, err := c.js.Stream(ctx, c.streamNames()[0])
	if err != nil {
		return s, c.refused(err)
	}
	look := look{now: bucket.CachedInfo().TimeStamp, nodes: make(map[string]*NodeStatus), owners: make(map[ownership.Owner]int), said: make(map[string]uint64)}
	all, err := c.entries(ctx)
	if err != nil {
		return s, err
	}
	for _, e := range all {
		if id, b, ok := ownership.NodeOf(e.Key(), e.Value()); ok {
			n := look.node(id)
			n.State, n.Process, n.Started = string(b.State), b.Incarnation, b.Started
			if b.Running() && c.silent(e, look.now) { // nobody is left who would say that it is dead
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
	if s.Lost, err = c.lost(ctx); err != nil || len(s.Lost) > 0 {
		return s, err
	}
	stream, err := c.js.Stream(ctx, c.linkStream())
	if err != nil {
		return s, c.refused(err)
	}
	s.Links = stream.CachedInfo().State.Msgs
	if stream, err = c.js.Stream(ctx, c.logStream()); err != nil {
		return s, c.refused(err)
	}
	s.LogBytes = stream.CachedInfo().State.Bytes
	return s, nil
}

// look is what Status has read in the bucket.
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

// entries are the keys of the bucket with their values.
//
// A key that is written while a watch reads moves to the end of the stream, and the watch may end before it gets there: a
// node that has just beaten would be missing. So the list of subjects says which keys there are.
func (c *Client) entries(ctx context.Context) (all []jetstream.KeyValueEntry, err error) {
	bucket, err := c.js.KeyValue(ctx, c.bucket())
	if err != nil {
		return nil, c.refused(err)
	}
	if all, err = watched(ctx, bucket); err != nil {
		return nil, c.refused(err)
	}
	found := make(map[string]bool, len(all))
	for _, e := range all {
		found[e.Key()] = true
	}
	stream, err := c.js.Stream(ctx, c.streamNames()[0])
	if err != nil {
		return nil, c.refused(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, c.refused(err)
	}
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, "$KV."+c.bucket()+".")
		if found[key] {
			continue
		}
		e, err := bucket.Get(ctx, key)
		switch {
		case err == nil:
			all = append(all, e)
		case !errors.Is(err, jetstream.ErrKeyNotFound): // otherwise it was deleted
			return nil, c.refused(err)
		}
	}
	return all, nil
}

// watched are the keys that a watch of the bucket finds.
func watched(ctx context.Context, bucket jetstream.KeyValue) (all []jetstream.KeyValueEntry, err error) {
	watch, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer endWatch(watch)
	for {
		select {
		case e := <-watch.Updates():
			if e == nil {
				return all, nil
			}
			all = append(all, e)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(requestTimeout): // it may have been removed
			return nil, context.DeadlineExceeded
		}
	}
}

// owner returns the node that has a host, and whether that is alive.
func (c *Client) owner(ctx context.Context, host string) (id string, err error) {
	p, err := c.Plan(ctx)
	if err != nil {
		return "", err
	}
	bucket, err := c.js.KeyValue(ctx, c.bucket())
	if err != nil {
		return "", c.refused(err)
	}
	e, err := bucket.Get(ctx, ownership.PartKey(partition.Of(host, p.Partitions)))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", fmt.Errorf("no node has %s yet", host)
	}
	if err != nil {
		return "", c.refused(err)
	}
	o, ok := ownership.OwnerOf(e.Key(), e.Value())
	if !ok {
		return "", fmt.Errorf("key %s of the cluster cannot be read", e.Key())
	}
	return o.ID, nil
}

// told is what the node has said of itself. Owner: the node's goroutine, but for speed.
type told struct {
	share  Share // to OnChange
	coming Share // what it was when looked at last
	ticks  int
	speed  speed // Owner: reports
}

// Share is what a node has of a crawl.
type Share struct {
	Nodes      int // that crawl
	Partitions int // of this one
	All        int
}

// share reports what the node has of the crawl when that has changed, and no partition is moving.
func (n *node) share() {
	s := Share{All: n.plan.Partitions}
	for _, beat := range n.own.Nodes() {
		if beat.Running() {
			s.Nodes++
		}
	}
	for p := range n.parts {
		if n.own.Epoch(p) == 0 {
			continue
		}
		if !n.parts[p].open || len(n.parts[p].queue) > 0 {
			return
		}
		s.Partitions++
	}
	switch {
	case s == n.told.share || s.Partitions == 0:
	case s != n.told.coming:
		n.told.coming = s
	default: // for a while: partitions that are moving are no news
		n.told.share = s
		n.change(s)
	}
}

// report writes what the node has done, for Status, now and then and at the end.
func (n *node) report(ctx context.Context, s weft.Stats) {
	waiting, _ := n.crawl.Waiting()
	text, err := json.Marshal(NodeStatus{
		ID: n.dir.Node, Process: n.dir.Incarnation, Name: n.dir.name(n.crawler.Job()),
		Done: s.Done, Pages: s.Pages, Failed: s.Failed, Refused: s.Refused, Pending: s.Pending, InFlight: s.InFlight, Hosts: s.Hosts, Bytes: s.Bytes,
		PerSecond: n.told.speed.sample(s.Done, s.Elapsed), Outbox: waiting, Paused: s.Paused, Seconds: s.Elapsed.Seconds(),
		Measured: n.figures.measured(),
	})
	if err == nil {
		_, _ = n.bucket.Put(ctx, keyStats+n.dir.Node, text) // the next one is better
	}
}

// speed is how fast URLs are done, between two samples.
type speed struct {
	done int
	at   time.Duration
}

func (m *speed) sample(done int, at time.Duration) (perSecond float64) {
	if at > m.at {
		perSecond = float64(done-m.done) / (at - m.at).Seconds()
	}
	m.done, m.at = done, at
	return perSecond
}

// name is how people know a node.
func (identity) name(dir string) string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "?"
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return machine + ":" + dir
}

// Hosts lists the hosts of all nodes, those of one after those of another.
func (c *Client) Hosts(ctx context.Context) iter.Seq2[weft.HostStatus, error] {
	return listing(ctx, c, question{Command: askHosts}, func(h weft.HostStatus) string { return h.Host })
}

// URLs lists the URLs of all nodes, those of one after those of another.
func (c *Client) URLs(ctx context.Context, f weft.URLFilter) iter.Seq2[weft.URLStatus, error] {
	return listing(ctx, c, question{Command: askURLs, Filter: f}, func(u weft.URLStatus) string { return u.URL })
}

// Why asks the node that has the host of a URL what has become of the URL.
func (c *Client) Why(ctx context.Context, url string) (why weft.Why, err error) {
	s, err := weft.ReadListedSeed(url)
	if err != nil {
		return why, err
	}
	id, err := c.owner(ctx, s.URL.Hostname())
	if err != nil {
		return why, err
	}
	for why, err := range values[weft.Why](c.ask(ctx, id, question{Command: askWhy, Args: []string{url}})) {
		return why, err
	}
	return why, errors.New("the node returned nothing")
}

// listing asks all nodes what they list.
func listing[T any](ctx context.Context, c *Client, q question, href func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		p, err := c.Plan(ctx)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for v, err := range once(p.Partitions, c.ask(ctx, "", q), href) {
			if !yield(v, err) {
				return
			}
		}
	}
}

// once yields what nodes list, by a URL or an origin. Of each partition it takes what the first node lists. While a
// partition changes hands, two nodes may list it: the giver, until the beat of the taker says that it has started.
func once[T any](partitions int, all iter.Seq2[answer, error], href func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		first := make([]string, partitions)
		from := ""
		lines := func(yield func(answer, error) bool) {
			for a, err := range all {
				if from = a.node; !yield(a, err) {
					return
				}
			}
		}
		for v, err := range values[T](lines) {
			if err == nil {
				is := &first[partition.OfURL(href(v), partitions)]
				if *is = cmp.Or(*is, from); *is != from {
					continue
				}
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// values yields the answers of all nodes.
func values[T any](all iter.Seq2[answer, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for a, err := range all {
			var v T
			if err == nil {
				err = json.Unmarshal(a.value, &v)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/job"
)

// Plan is what the nodes of a crawl have in common, frozen when it begins.
type Plan struct {
	Layout     int      `json:"layout"` // the version of names and messages
	ID         string   `json:"id"`     // of the crawl; another one with its name has another
	Partitions int      `json:"partitions"`
	Options    job.Plan `json:"options"`

	Limits  limits              `json:"limits"`            // as the crawl began with
	Common  options             `json:"common,omitempty"`  // further options: see common
	Secrets map[string][]string `json:"secrets,omitempty"` // names of what each node has to be given, by option

	text []byte // as the servers have it
}

// ErrNoCrawl is returned when the servers have no crawl of the name.
var ErrNoCrawl = errors.New("there is no such crawl")

// Plan returns the plan of the crawl, or ErrNoCrawl.
func (c *Client) Plan(ctx context.Context) (Plan, error) {
	var bucket jetstream.KeyValue
	err := c.chosen(ctx, func(ctx context.Context) (err error) { bucket, err = c.js.KeyValue(ctx, c.bucket()); return err })
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return Plan{}, c.noCrawl()
	}
	if err != nil {
		return Plan{}, c.refused(err)
	}
	return c.readPlan(ctx, bucket)
}

func (c *Client) noCrawl() error { return fmt.Errorf("crawl %s: %w", c.layout, ErrNoCrawl) }

func (c *Client) readPlan(ctx context.Context, bucket jetstream.KeyValue) (p Plan, err error) {
	var e jetstream.KeyValueEntry
	err = c.chosen(ctx, func(ctx context.Context) error { e, err = bucket.Get(ctx, keyPlan); return err })
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return p, c.noCrawl()
	}
	if err != nil {
		return p, c.refused(err)
	}
	return c.decodePlan(e.Value())
}

func (c *Client) decodePlan(text []byte) (p Plan, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("crawl %s: its plan: %w", c.layout, err)
	}
	p.text = text
	if p.Layout != layoutVersion {
		return p, fmt.Errorf("crawl %s: begun by weft %s with layout %d, expected layout %d", c.layout, p.Options.Version, p.Layout, layoutVersion)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(Plan)); err != nil { // an option that this version would crawl without
		return p, fmt.Errorf("crawl %s: begun by weft %s, which this weft %s cannot follow: %w", c.layout, p.Options.Version, weft.Version, err)
	}
	if p.Partitions < 1 || p.Partitions > mostPartitions {
		return p, fmt.Errorf("crawl %s: %d partitions, expected 1 to %d", c.layout, p.Partitions, mostPartitions)
	}
	return p, nil
}

// mostPartitions bounds what a plan may ask of a node's memory.
const mostPartitions = 1 << 16

// begin returns the plan of the crawl, which it begins with these options if there is none. A node that joins may
// leave options out: begin sets the common ones in o, and the others are in the returned plan.
func (c *Client) begin(ctx context.Context, o *weft.Options, partitions int) (p Plan, err error) {
	asked, given, err := o.Plan()
	if err != nil {
		return p, err
	}
	p, err = c.Plan(ctx)
	if errors.Is(err, ErrNoCrawl) {
		if given.Seedless() {
			return p, fmt.Errorf("%w, expected one of that name, or a URL to begin it", err)
		}
		var was identity
		if was, err = readIdentity(o.Job); err != nil {
			return p, err
		}
		if err := was.of("", o.Job); err != nil { // who is refused begins no crawl
			return p, err
		}
		p = Plan{Layout: layoutVersion, ID: nuid.Next(), Partitions: partitions, Options: given, Limits: limits{URLs: o.Limit, MaxTime: o.MaxTime}}
		if p.Common, p.Secrets, err = commonOf(o); err == nil {
			p, err = c.create(ctx, p)
		}
	}
	if err != nil {
		return p, err
	}
	if err := p.agree(o); err != nil {
		return p, err
	}
	if p.Options.List && !given.List { // it would drop links to the hosts of the list
		return p, fmt.Errorf("crawl %s: begun with a list of URLs, expected the same list and the same URLs of each node", c.layout)
	}
	given.UserAgent = cmp.Or(o.UserAgent, weft.DefaultUserAgent)
	p.Options, err = p.Options.Continue(given, &asked)
	return p, err
}

// create makes what a crawl has on the servers. The plan comes last: whoever finds it finds all.
func (c *Client) create(ctx context.Context, p Plan) (Plan, error) {
	if err := c.restored(ctx); err != nil {
		return p, err
	}
	bucket, err := c.makeBucket(ctx, nil)
	if err != nil {
		return p, err
	}
	for _, name := range []string{c.linkStream(), c.logStream()} {
		made, err := c.makeStream(ctx, name, nil)
		if err != nil {
			return p, err
		}
		if made.CachedInfo().State.Msgs > 0 {
			if there, err := c.readPlan(ctx, bucket); !errors.Is(err, ErrNoCrawl) { // another node was faster
				return there, err
			}
			return p, fmt.Errorf("crawl %s: stream %s is left of a crawl whose plan was deleted, expected another name, or that the stream is removed", c.layout, name)
		}
	}
	if p.text, err = json.Marshal(p); err != nil {
		return p, err
	}
	err = c.chosen(ctx, func(ctx context.Context) error { _, err := bucket.Create(ctx, keyPlan, p.text); return err })
	if errors.Is(err, jetstream.ErrKeyExists) { // another node was faster
		return c.readPlan(ctx, bucket)
	}
	if err != nil {
		return p, c.refused(err)
	}
	c.began = true
	return p, nil
}

// makeBucket makes the bucket, or sets its mark.
func (c *Client) makeBucket(ctx context.Context, mark map[string]string) (bucket jetstream.KeyValue, err error) {
	err = c.chosen(ctx, func(ctx context.Context) (err error) {
		bucket, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: c.bucket(), Description: "a crawl of weft: plan, nodes, owners", Replicas: c.replicas, Metadata: mark,
		})
		return err
	})
	if err != nil {
		return nil, c.refused(err)
	}
	return bucket, nil
}

// makeStream makes the stream of links or of logs, or sets its mark.
func (c *Client) makeStream(ctx context.Context, name string, mark map[string]string) (made jetstream.Stream, err error) {
	s := jetstream.StreamConfig{
		Name: name, Subjects: []string{c.allLinks()}, Description: "links to partitions of a crawl of weft",
		Replicas: c.replicas, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, AllowDirect: true, Metadata: mark,
	}
	if name == c.logStream() {
		s.Subjects, s.Description = []string{c.allLogs()}, "changes of partitions of a crawl of weft"
	}
	err = c.chosen(ctx, func(ctx context.Context) (err error) { made, err = c.js.CreateOrUpdateStream(ctx, s); return err })
	if err != nil {
		return nil, c.refused(err)
	}
	return made, nil
}

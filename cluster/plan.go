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

// Plan is the options that all nodes of a crawl share, frozen when it begins.
type Plan struct {
	Layout     int      `json:"layout"` // the version of names and messages
	ID         string   `json:"id"`     // of the crawl; another one with its name has another
	Partitions int      `json:"partitions"`
	Options    job.Plan `json:"options"`

	Limits  limits              `json:"limits"`            // as the crawl began with
	Common  options             `json:"common,omitempty"`  // further options: see common
	Secrets map[string][]string `json:"secrets,omitempty"` // names of what each node needs, by option

	text []byte // as the servers have it
}

// ErrNoCrawl is returned when the servers have no crawl of the name.
var ErrNoCrawl = errors.New("there is no such crawl")

// plan returns the plan of the crawl, or ErrNoCrawl.
func (r *remote) plan(ctx context.Context) (Plan, error) {
	var bucket jetstream.KeyValue
	err := r.servers.chosen(ctx, func(ctx context.Context) (err error) {
		bucket, err = r.servers.js.KeyValue(ctx, r.name.bucket())
		return err
	})
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return Plan{}, r.noCrawl()
	}
	if err != nil {
		return Plan{}, r.servers.refused(err)
	}
	return r.readPlan(ctx, bucket)
}

func (r *remote) readPlan(ctx context.Context, bucket jetstream.KeyValue) (p Plan, err error) {
	var e jetstream.KeyValueEntry
	err = r.servers.chosen(ctx, func(ctx context.Context) error { e, err = bucket.Get(ctx, keyPlan); return err })
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return p, r.noCrawl()
	}
	if err != nil {
		return p, r.servers.refused(err)
	}
	return r.decodePlan(e.Value())
}

func (r *remote) decodePlan(text []byte) (p Plan, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("crawl %s: its plan: %w", r.name, err)
	}
	p.text = text
	if p.Layout != layoutVersion {
		return p, fmt.Errorf("crawl %s: begun by weft %s with layout %d, expected layout %d", r.name, p.Options.Version, p.Layout, layoutVersion)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(Plan)); err != nil { // an option that this version would crawl without
		return p, fmt.Errorf("crawl %s: begun by weft %s, which this weft %s cannot follow: %w", r.name, p.Options.Version, weft.Version, err)
	}
	if p.Partitions < 1 || p.Partitions > mostPartitions {
		return p, fmt.Errorf("crawl %s: %d partitions, expected 1 to %d", r.name, p.Partitions, mostPartitions)
	}
	return p, nil
}

// mostPartitions is the most partitions of a plan: each takes memory of a node.
const mostPartitions = 1 << 16

// begin returns the plan of the crawl, which it begins with these options if there is none. A node
// that joins may leave options out: begin sets the common ones in o, and the others are in the
// returned plan.
func (r *remote) begin(ctx context.Context, o *weft.Options, partitions int) (p Plan, began bool, err error) {
	cfg, err := o.Config()
	if err != nil {
		return p, false, err
	}
	asked, given := cfg.Job.Asked, cfg.Job.Plan
	p, err = r.plan(ctx)
	if errors.Is(err, ErrNoCrawl) {
		if given.Seedless() {
			return p, false, fmt.Errorf("%w, expected one of that name, or a URL to begin it", err)
		}
		var was identity
		if was, err = readIdentity(o.Job); err != nil {
			return p, false, err
		}
		if err := was.check("", o.Job); err != nil { // who is refused begins no crawl
			return p, false, err
		}
		p = Plan{Layout: layoutVersion, ID: nuid.Next(), Partitions: partitions, Options: given, Limits: limits{URLs: o.Limits.Limit, MaxTime: o.Limits.MaxTime}}
		if p.Common, p.Secrets, err = commonOf(o); err == nil {
			p, began, err = r.create(ctx, p)
		}
	}
	if err != nil {
		return p, false, err
	}
	if err := p.agree(o); err != nil {
		return p, false, err
	}
	if p.Options.List && !given.List { // it would drop links to the hosts of the list
		return p, false, fmt.Errorf("crawl %s: begun with a list of URLs, expected the same list and the same URLs of each node", r.name)
	}
	given.UserAgent = cmp.Or(o.HTTP.UserAgent, weft.DefaultUserAgent)
	p.Options, err = p.Options.Continue(given, &asked)
	return p, began, err
}

// create makes what a crawl has on the servers. The plan comes last: whoever finds it finds all.
func (r *remote) create(ctx context.Context, p Plan) (_ Plan, began bool, err error) {
	if err := r.whole(ctx); err != nil {
		return p, false, err
	}
	bucket, err := r.makeBucket(ctx, nil)
	if err != nil {
		return p, false, err
	}
	for _, name := range []string{r.name.linkStream(), r.name.logStream()} {
		made, err := r.makeStream(ctx, name, nil)
		if err != nil {
			return p, false, err
		}
		if made.CachedInfo().State.Msgs > 0 {
			if there, err := r.readPlan(ctx, bucket); !errors.Is(err, ErrNoCrawl) {
				// Another node was faster.
				return there, false, err
			}
			return p, false, fmt.Errorf("crawl %s: stream %s is left of a crawl whose plan was deleted, expected another name, or that the stream is removed", r.name, name)
		}
	}
	if p.text, err = json.Marshal(p); err != nil {
		return p, false, err
	}
	err = r.servers.chosen(ctx, func(ctx context.Context) error { _, err := bucket.Create(ctx, keyPlan, p.text); return err })
	if errors.Is(err, jetstream.ErrKeyExists) { // another node was faster
		there, err := r.readPlan(ctx, bucket)
		return there, false, err
	}
	if err != nil {
		return p, false, r.servers.refused(err)
	}
	return p, true, nil
}

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// remote is a crawl as the servers have it: a bucket and two streams, under its name. Any goroutine
// may use it.
type remote struct {
	name    layout
	servers *servers
	beat    time.Duration // of its nodes
}

// defaultBeat is the time between two beats of a node, by which it says that it is alive.
const defaultBeat = 2 * time.Second

// beatsOfSilence are those after which a node is dead.
const beatsOfSilence = 5

// dial connects to the servers of a crawl. Its error is one line.
func dial(ctx context.Context, o *Options) (*remote, error) {
	if err := checkName(o.Name); err != nil {
		return nil, err
	}
	s, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return newRemote(layout(o.Name), s, o), nil
}

func newRemote(name layout, s *servers, o *Options) *remote {
	return &remote{name: name, servers: s, beat: cmp.Or(o.beat, defaultBeat)}
}

// noCrawl is the error that the servers have no crawl of the name.
func (r *remote) noCrawl() error { return fmt.Errorf("crawl %s: %w", r.name, ErrNoCrawl) }

// makeBucket makes the bucket, or sets its mark.
func (r *remote) makeBucket(ctx context.Context, mark map[string]string) (bucket jetstream.KeyValue, err error) {
	err = r.servers.chosen(ctx, func(ctx context.Context) (err error) {
		bucket, err = r.servers.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: r.name.bucket(), Description: "a crawl of weft: plan, nodes, owners", Replicas: r.servers.replicas, Metadata: mark,
		})
		return err
	})
	if err != nil {
		return nil, r.servers.refused(err)
	}
	return bucket, nil
}

// makeStream makes the stream of links or of logs, or sets its mark.
func (r *remote) makeStream(ctx context.Context, name string, mark map[string]string) (made jetstream.Stream, err error) {
	s := jetstream.StreamConfig{
		Name: name, Subjects: []string{r.name.allLinks()}, Description: "links to partitions of a crawl of weft",
		Replicas: r.servers.replicas, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, AllowDirect: true, Metadata: mark,
	}
	if name == r.name.logStream() {
		s.Subjects, s.Description = []string{r.name.allLogs()}, "changes of partitions of a crawl of weft"
	}
	err = r.servers.chosen(ctx, func(ctx context.Context) (err error) {
		made, err = r.servers.js.CreateOrUpdateStream(ctx, s)
		return err
	})
	if err != nil {
		return nil, r.servers.refused(err)
	}
	return made, nil
}

// bucket opens the bucket.
func (r *remote) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	b, err := r.servers.js.KeyValue(ctx, r.name.bucket())
	if err != nil {
		return nil, r.servers.refused(err)
	}
	return b, nil
}

// stream opens a stream.
func (r *remote) stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := r.servers.js.Stream(ctx, name)
	if err != nil {
		return nil, r.servers.refused(err)
	}
	return s, nil
}

// sought is stream while servers may have to choose who answers; nil: there is none of the name.
func (r *remote) sought(ctx context.Context, name string) (s jetstream.Stream, err error) {
	err = r.servers.chosen(ctx, func(ctx context.Context) (err error) {
		s, err = r.servers.js.Stream(ctx, name)
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, nil
	case err != nil:
		return nil, r.servers.refused(err)
	}
	return s, nil
}

// remove removes a stream, unless there is none of the name.
func (r *remote) remove(ctx context.Context, name string) error {
	err := r.servers.chosen(ctx, func(ctx context.Context) error { return r.servers.js.DeleteStream(ctx, name) })
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		// It was not deleted twice.
		return r.servers.refused(err)
	}
	return nil
}

// ErrHalf is returned for a crawl that is being restored, or whose restoring was interrupted.
var ErrHalf = errors.New("it is restored in part, expected that weft cluster restore has ended without an error")

// half marks a stream whose restoring has not ended.
var half = map[string]string{"weft-restoring": "yes"}

func isHalf(s jetstream.Stream) bool { return s.CachedInfo().Config.Metadata["weft-restoring"] != "" }

// whole returns ErrHalf unless the streams that the servers have are whole.
func (r *remote) whole(ctx context.Context) error {
	for _, name := range r.name.streamNames() {
		s, err := r.sought(ctx, name)
		switch {
		case err != nil:
			return err
		case s != nil && isHalf(s):
			return fmt.Errorf("crawl %s: %w", r.name, ErrHalf)
		}
	}
	return nil
}

// lost returns which streams of the crawl the servers do not have, or not the whole of.
func (r *remote) lost(ctx context.Context) (all []string, err error) {
	for _, name := range r.name.streamNames() {
		s, err := r.sought(ctx, name)
		if err != nil {
			return nil, err
		}
		if s == nil || isHalf(s) {
			all = append(all, name)
		}
	}
	return all, nil
}

// entries are the keys of the bucket with their values.
//
// A key that is written while a watch reads moves to the end of the stream, and the watch may end
// before it gets there: a node that has just beaten would be missing. So the list of subjects says
// which keys there are.
func (r *remote) entries(ctx context.Context) (all []jetstream.KeyValueEntry, err error) {
	bucket, err := r.bucket(ctx)
	if err != nil {
		return nil, err
	}
	if all, err = watched(ctx, bucket); err != nil {
		return nil, r.servers.refused(err)
	}
	found := make(map[string]bool, len(all))
	for _, e := range all {
		found[e.Key()] = true
	}
	stream, err := r.stream(ctx, r.name.bucketStream())
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, r.servers.refused(err)
	}
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, "$KV."+r.name.bucket()+".")
		if found[key] {
			continue
		}
		e, err := bucket.Get(ctx, key)
		switch {
		case err == nil:
			all = append(all, e)
		case !errors.Is(err, jetstream.ErrKeyNotFound): // otherwise it was deleted
			return nil, r.servers.refused(err)
		}
	}
	return all, nil
}

// ErrInUse is returned by Client.Remove for a crawl with nodes.
var ErrInUse = errors.New("nodes are crawling, expected that they have left")

// deserted returns ErrInUse if a node is there at a time of the servers and the crawl is not over.
func (r *remote) deserted(ctx context.Context, now time.Time) error {
	used := false
	all, err := r.entries(ctx)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.Key() == keyOver {
			return nil
		}
		_, b, ok := ownership.NodeOf(e.Key(), e.Value())
		used = used || ok && b.Running() && !r.silent(e, now)
	}
	if used {
		return fmt.Errorf("crawl %s: %w", r.name, ErrInUse)
	}
	return nil
}

// silent reports whether the node of a beat has been silent for so long, at a time of the servers,
// that it is not there.
func (r *remote) silent(beat jetstream.KeyValueEntry, now time.Time) bool {
	return now.Sub(beat.Created()) > beatsOfSilence*r.beat
}

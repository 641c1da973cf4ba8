package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// streams are the bucket and the streams of a crawl, opened.
type streams struct {
	bucket     jetstream.KeyValue
	links, log jetstream.Stream
	made       map[string]time.Time // when each was made, by its name
}

// needed is stream, for one without which there is no crawl.
func (r *remote) needed(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := r.servers.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("crawl %s: stream %s was deleted from the servers; weft cluster restore brings it back from the folders of all nodes", r.name, name)
	}
	if err != nil {
		return nil, r.servers.refused(err)
	}
	return s, nil
}

// open opens the streams of the crawl.
func (r *remote) open(ctx context.Context) (s streams, err error) {
	if s.bucket, err = r.bucket(ctx); err != nil {
		return s, err
	}
	s.made = make(map[string]time.Time)
	var apart time.Duration // of clocks
	for _, name := range r.name.streamNames() {
		asked := r.servers.wall()
		stream, err := r.needed(ctx, name)
		if err != nil {
			return s, err
		}
		if d := clocksApart(asked, r.servers.wall(), stream.CachedInfo().TimeStamp); d.Abs() > apart.Abs() {
			apart = d
		}
		s.made[name] = stream.CachedInfo().Created
		switch name {
		case r.name.linkStream():
			s.links = stream
		case r.name.logStream():
			s.log = stream
		}
	}
	if apart.Abs() > mostApart {
		r.servers.warn(fmt.Errorf("the clock of this machine is %s the servers', expected the same time: records, archives and checks of certificates use it; --max-time uses theirs", aheadOf(apart)))
	}
	return s, nil
}

// mostApart bounds the difference of clocks without a warning.
const mostApart = time.Minute

// clocksApart returns how far, at least, this machine's clock is ahead of that of a server, which
// has answered between two moments; less than 0 if it is behind.
func clocksApart(asked, heard, answered time.Time) time.Duration {
	switch {
	case answered.IsZero(), !answered.Before(asked) && !answered.After(heard):
		return 0
	case answered.Before(asked):
		return asked.Sub(answered)
	}
	return heard.Sub(answered)
}

func aheadOf(d time.Duration) string {
	if d < 0 {
		return (-d).Round(time.Second).String() + " behind"
	}
	return d.Round(time.Second).String() + " ahead of"
}

// linksLeft returns how many messages of links are left, and whether that is safe to say. A server
// that was the leader until it was cut off does not know the last messages. One that has taken a
// probe, which most servers then have, knows them.
func (r *remote) linksLeft(ctx context.Context, links jetstream.Stream) (n uint64, safe bool, err error) {
	probe, err := r.servers.js.Publish(ctx, r.name.probe(), nil)
	if err != nil {
		return 0, false, err
	}
	if err := links.Purge(ctx, jetstream.WithPurgeSubject(r.name.probe())); err != nil {
		return 0, false, err
	}
	s, err := links.Info(ctx)
	if err != nil {
		return 0, false, err
	}
	return s.State.Msgs, s.State.LastSeq >= probe.Sequence, nil
}

// strays returns the subjects of links that belong to no partition: nobody reads or acknowledges
// these. It is called when little is in the stream.
func (r *remote) strays(ctx context.Context, links jetstream.Stream, partitions int) (subjects []string, err error) {
	s, err := links.Info(ctx, jetstream.WithSubjectFilter(r.name.allLinks()))
	if err != nil {
		return nil, err
	}
	for subject := range s.State.Subjects {
		if p := numberOf(subject); (p < 0 || p >= partitions) && subject != r.name.probe() {
			subjects = append(subjects, subject)
		}
	}
	return subjects, nil
}

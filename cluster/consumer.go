package cluster

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// messagesAhead bounds the messages that the servers send before they are taken in.
const messagesAhead = 256

// consume reads messages of a stream in order, about so many bytes ahead, until stop is called or
// ctx ends.
func (s *servers) consume(ctx context.Context, stream string, subjects []string, ahead int) (all jetstream.MessagesContext, stop func(), err error) {
	consumer, err := s.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		FilterSubjects:    subjects,
		InactiveThreshold: time.Minute, // servers forget a consumer whose process has died
	})
	if err != nil {
		return nil, nil, err
	}
	// The servers send nothing at all if the next message is longer than that.
	ahead = max(ahead, int(s.conn.MaxPayload())+64<<10)
	if all, err = consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(messagesAhead, ahead)); err != nil {
		return nil, nil, err
	}
	done := context.AfterFunc(ctx, all.Stop)
	return all, func() {
		done()
		all.Stop()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		if info := consumer.CachedInfo(); info != nil {
			// Or it goes when it was inactive for long enough.
			_ = s.js.DeleteConsumer(ctx, stream, info.Name)
		}
	}, nil
}

// watched are the keys that a watch of the bucket finds.
func watched(ctx context.Context, bucket jetstream.KeyValue) (all []jetstream.KeyValueEntry, err error) {
	keys, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer endWatch(keys)
	for {
		select {
		case e := <-keys.Updates():
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

// endWatch ends a watch. It may have something to show that nobody waits for.
func endWatch(keys jetstream.KeyWatcher) {
	_ = keys.Stop() // the connection may be gone
	go func() {
		for range keys.Updates() {
		}
	}()
}

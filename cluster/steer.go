package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
)

// Do has all nodes carry out an order, and returns the result of each. All orders but stop also
// hold for nodes that join later.
func (c *Client) Do(ctx context.Context, words ...string) (lines []string, err error) {
	if _, err := weft.ParseOrder(words...); err != nil {
		return nil, err
	}
	for _, word := range words[1:] {
		name, _, _ := strings.Cut(word, "=")
		if words[0] == "set" && (name == "limit" || name == "max-time") {
			return nil, fmt.Errorf("set: %s: a crawl on several machines keeps that of its start", name)
		}
	}
	names, _, err := c.alive(ctx)
	if err != nil {
		return nil, err
	}
	q := question{Command: askDo, Args: words}
	if more := lasting(words); more != nil {
		if q.Revision, q.New, err = c.give(ctx, more); err != nil {
			return nil, fmt.Errorf("crawl %s: %w", c.remote.name, err)
		}
		if len(names) == 0 {
			return []string{"no node runs: the order holds for nodes that join"}, nil
		}
	}
	for a, err := range c.askAll(ctx, "", q, names) {
		if err != nil {
			return lines, err
		}
		var line string
		if err := json.Unmarshal(a.value, &line); err != nil {
			return lines, err
		}
		lines = append(lines, a.node+": "+line)
	}
	return lines, nil
}

// give adds to the orders in force. It returns the revision of the key that has them, and whether
// it is new.
func (c *Client) give(ctx context.Context, more orders) (revision uint64, changed bool, err error) {
	bucket, err := c.remote.bucket(ctx)
	if err != nil {
		return 0, false, err
	}
	for {
		now, revision, err := c.standing(ctx, bucket)
		switch {
		case errors.Is(err, errOrders):
			c.remote.servers.warn(fmt.Errorf("crawl %s: %w: this order replaces them all", c.remote.name, err))
		case err != nil:
			return 0, false, err
		}
		next, changed := now.with(more)
		if !changed {
			return revision, false, nil
		}
		text, err := json.Marshal(next)
		if err != nil {
			return 0, false, err
		}
		if err := next.fit(more, len(text), c.remote.servers.mostData()); err != nil {
			return 0, false, err
		}
		var written uint64
		err = c.remote.servers.chosen(ctx, func(ctx context.Context) (err error) {
			if revision == 0 {
				written, err = bucket.Create(ctx, keyOrders, text)
			} else {
				written, err = bucket.Update(ctx, keyOrders, text, revision)
			}
			return err
		})
		switch {
		case err == nil:
			return written, true, nil
		case !errors.Is(err, jetstream.ErrKeyExists): // otherwise another order came first: try again
			return 0, false, c.remote.servers.refused(err)
		}
	}
}

// errOrders says that nobody can obey the key, as another program has written it.
var errOrders = errors.New("the orders in force cannot be read")

// standing returns the orders in force, and their revision, also with errOrders.
func (c *Client) standing(ctx context.Context, bucket jetstream.KeyValue) (all orders, revision uint64, err error) {
	var e jetstream.KeyValueEntry
	err = c.remote.servers.chosen(ctx, func(ctx context.Context) error { e, err = bucket.Get(ctx, keyOrders); return err })
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, c.remote.servers.refused(err)
	}
	if all, err = readOrders(e.Value()); err != nil {
		return nil, e.Revision(), fmt.Errorf("%w: %w", errOrders, err)
	}
	return all, e.Revision(), nil
}

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
)

// orders are those in force: a key of the bucket, in the order in which they were given. Each has
// one argument at most. A new order replaces an earlier one about the same thing.
//
// Nodes obey what their watch of the key shows, before they take a partition. So a node that joins
// later, that is started again or that was cut off obeys the same orders as the others.
type orders [][]string

// lasting returns an order as it holds until another replaces it; nil: it is only for nodes that
// run now.
func lasting(words []string) (all orders) {
	switch words[0] {
	case "stop":
		return nil
	case "pause", "resume":
		return orders{words}
	}
	for _, arg := range words[1:] {
		all = append(all, []string{words[0], arg})
	}
	return all
}

// about returns what an order is about: orders about the same thing replace each other.
func about(words []string) string {
	switch words[0] {
	case "pause", "resume":
		return "pause"
	case "set":
		name, _, _ := strings.Cut(words[1], "=")
		return "set " + name
	}
	return strings.Join(words, " ")
}

// have reports whether an order is among them.
func (o orders) have(words []string) bool {
	return slices.ContainsFunc(o, func(one []string) bool { return slices.Equal(one, words) })
}

// with returns the orders once more are given, and whether that changes them.
func (o orders) with(more orders) (next orders, changed bool) {
	next = slices.Clone(o)
	for _, words := range more {
		if next.have(words) {
			continue
		}
		next = append(slices.DeleteFunc(next, func(one []string) bool { return about(one) == about(words) }), words)
		changed = true
	}
	return next, changed
}

const (
	// mostListed bounds the exclusions and seeds in force: a node that joins carries out each of
	// them.
	mostListed = 4096
	// steering is how many other orders there may be: pause or resume, and three that set
	// something. steeringRoom is how many bytes are reserved for them.
	steering, steeringRoom = 4, 4096
)

// fit returns an error if the orders, with the new ones in more, are too many, or too long for a
// key of most bytes.
func (o orders) fit(more orders, size, most int) error {
	if name := more[0][0]; name == "exclude" || name == "add" {
		most -= steeringRoom
		if len(o) > mostListed {
			return fmt.Errorf("%d orders would be in force, expected at most %d", len(o), mostListed)
		}
	}
	if size > most {
		return fmt.Errorf("%d bytes of orders would be in force, expected at most %d", size, most)
	}
	return nil
}

// readOrders reads the value of the key; nil: it was deleted. Anyone with a login may have written
// anything.
func readOrders(text []byte) (all orders, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if most := mostListed + steering; len(all) > most {
		return nil, fmt.Errorf("%d orders, expected at most %d", len(all), most)
	}
	for _, words := range all {
		if _, err := weft.ParseOrder(words...); err != nil {
			return nil, err
		}
		if one := lasting(words); len(one) != 1 || !slices.Equal(one[0], words) {
			return nil, fmt.Errorf("%.64q, expected one that lasts, with one argument", words)
		}
	}
	return all, nil
}

// Do has all nodes carry out an order, and returns the result of each. All orders but stop also
// hold for nodes that join later.
func (c *Client) Do(ctx context.Context, words ...string) (lines []string, err error) {
	if _, err := weft.ParseOrder(words...); err != nil {
		return nil, err
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

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/partition"
)

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
		whole(p.Partitions, q, func(q question) iter.Seq2[answer, error] { return c.ask(ctx, "", q) }, href)(yield)
	}
}

// mostAsked is the most times that nodes are asked for partitions without a list.
const mostAsked = 3

// whole yields what nodes list, by a URL or an origin. It asks again for partitions that none of
// them has listed: one that changes hands between two answers may be missing in both, as its giver
// knows that the taker has started, and the taker had not when it answered. Partitions that nobody
// has, as those of a node that died, end the list with an error: what they hold is not in it.
func whole[T any](partitions int, q question, ask func(question) iter.Seq2[answer, error], href func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		first := make([]string, partitions)
		left := 0
		for range mostAsked {
			for v, err := range once(first, ask(q), href) {
				if !yield(v, err) || err != nil {
					return
				}
			}
			q.Only, left = new(big.Int), 0
			for p, node := range first {
				if node == "" {
					q.Only.SetBit(q.Only, p, 1)
					left++
				}
			}
			if left == 0 {
				return
			}
		}
		var zero T
		yield(zero, fmt.Errorf("%w: %d of %d, and what they hold is not listed: ask again", errUnlisted, left, partitions))
	}
}

// errUnlisted: no node has listed some of the partitions.
var errUnlisted = errors.New("no node has some of the partitions at present")

// once yields what nodes list. Of each partition it takes what the first node lists, and notes the
// node. While a partition changes hands, two nodes may list it: the giver, until the beat of the
// taker says that it has started.
func once[T any](first []string, all iter.Seq2[answer, error], href func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		from := ""
		lines := func(yield func(answer, error) bool) {
			for a, err := range all {
				from = a.node
				switch {
				case err != nil || a.listed == nil:
					if !yield(a, err) {
						return
					}
				default:
					for p := range first {
						if a.listed.Bit(p) == 1 {
							first[p] = cmp.Or(first[p], from)
						}
					}
				}
			}
		}
		for v, err := range values[T](lines) {
			if err == nil {
				is := &first[partition.OfURL(href(v), len(first))]
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

// owner returns the ID of the node that has a host.
func (c *Client) owner(ctx context.Context, host string) (id string, err error) {
	p, err := c.Plan(ctx)
	if err != nil {
		return "", err
	}
	bucket, err := c.remote.bucket(ctx)
	if err != nil {
		return "", err
	}
	e, err := bucket.Get(ctx, ownership.PartKey(partition.Of(host, p.Partitions)))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", fmt.Errorf("no node has %s yet", host)
	}
	if err != nil {
		return "", c.remote.servers.refused(err)
	}
	o, ok := ownership.OwnerOf(e.Key(), e.Value())
	if !ok {
		return "", fmt.Errorf("key %s of the cluster cannot be read", e.Key())
	}
	return o.ID, nil
}

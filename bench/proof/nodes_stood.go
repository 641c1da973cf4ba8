package proof

import (
	"net/url"
	"slices"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/partition"
)

// Stood is the time for which the partitions of a struck node stood still: from the blow until
// another process fetched from them. A partition to which the crawl never came back had nothing
// left, and does not count.
type Stood struct {
	Partitions      int           // of the node's last seconds, and of another process later
	Half, Most, All time.Duration // until others have fetched from half of them, 99 of 100, all
}

// recently is the longest time before a blow in which the node fetched from the partitions that
// stand still after it.
const recently = 10 * time.Second

// fetched is a fetch by the owner of a partition.
type fetched struct {
	partition int
	node      int
	at        time.Time
}

// fetchOf is the fetch of a record.
func fetchOf(r weft.Record, node int) (f fetched, ok bool) {
	u, err := url.Parse(r.URL)
	if err != nil || r.Started.IsZero() {
		return f, false
	}
	return fetched{partition.Of(u.Hostname(), partition.Default), node, r.Started}, true
}

// stoodStill finds how long partitions stood still after a blow, by the fetches of all nodes.
func stoodStill(all []fetched, b *Struck) (s Stood) {
	had := make(map[int]time.Duration) // until another process fetched; 0: none has
	for _, f := range all {
		if before := b.At.Sub(f.at); f.node == b.Node && before >= 0 && before < recently {
			had[f.partition] = 0
		}
	}
	for _, f := range all {
		took := f.at.Sub(b.At)
		if first, is := had[f.partition]; !is || took <= 0 || f.node == b.Node && f.at.Before(b.Over) {
			// A node that is cut off goes on for a while.
			continue
		} else if first == 0 || took < first {
			had[f.partition] = took
		}
	}
	var times []time.Duration
	for _, took := range had {
		if took > 0 {
			times = append(times, took)
		}
	}
	if s.Partitions = len(times); s.Partitions > 0 {
		slices.Sort(times)
		s.Half, s.Most, s.All = times[(len(times)-1)/2], times[(len(times)-1)*99/100], times[len(times)-1]
	}
	return s
}

// Package queue is a priority queue for items of few different priorities at a time.
//
// Each priority present, a class, has a bucket of its items in the order in which they came, so a
// push or a pop costs the same however long the queue is, and an item need not hold its priority.
package queue

import (
	"iter"
	"slices"
)

// Class is a priority: items of a smaller class come out first.
type Class[C any] interface{ Compare(C) int }

// Queue holds items by class. The zero Queue is empty. It is owned by one goroutine.
//
// Invariant: the buckets are in the order of their classes; none is empty.
type Queue[C Class[C], T any] struct{ buckets []bucket[C, T] }

// bucket holds the items of one class, from head on.
type bucket[C Class[C], T any] struct {
	items []T
	class C
	head  int32
}

func (b *bucket[C, T]) len() int { return len(b.items) - int(b.head) }

// Empty reports whether the queue holds no items.
func (q *Queue[C, T]) Empty() bool { return len(q.buckets) == 0 }

// Push adds an item behind the others of its class.
func (q *Queue[C, T]) Push(class C, item T) {
	i := q.bucket(class) // which may move the buckets
	b := &q.buckets[i]
	b.items = append(b.items, item)
}

// bucket returns the index of the bucket of a class, which it makes if there is none.
func (q *Queue[C, T]) bucket(class C) int {
	low, high := 0, len(q.buckets)
	for low < high {
		i := (low + high) / 2
		switch order := q.buckets[i].class.Compare(class); {
		case order == 0:
			return i
		case order < 0:
			low = i + 1
		default:
			high = i
		}
	}
	q.buckets = slices.Insert(q.buckets, low, bucket[C, T]{class: class})
	return low
}

// Pop removes the first item. The queue must not be empty.
func (q *Queue[C, T]) Pop() (class C, item T) {
	b := &q.buckets[0]
	var zero T
	class, item = b.class, b.items[b.head]
	b.items[b.head] = zero
	b.head++
	switch left := b.len(); {
	case left == 0 && len(q.buckets) == 1:
		q.buckets = nil // most queues are done with some day
	case left == 0:
		q.buckets = slices.Delete(q.buckets, 0, 1)
	case b.head >= 64 && left <= int(b.head):
		b.items, b.head = slices.Delete(b.items, 0, int(b.head)), 0
	}
	return class, item
}

// First returns the first item. The queue must not be empty.
func (q *Queue[C, T]) First() (class C, item *T) {
	b := &q.buckets[0]
	return b.class, &b.items[b.head]
}

// Last returns the last item. The queue must not be empty.
func (q *Queue[C, T]) Last() (class C, item *T) {
	b := &q.buckets[len(q.buckets)-1]
	return b.class, &b.items[len(b.items)-1]
}

// Cut removes all items but the first keep, and calls removed with each before that. The queue must
// have more than keep items.
func (q *Queue[C, T]) Cut(keep int, removed func(class C, item *T)) {
	i := 0
	for ; keep > q.buckets[i].len(); i++ {
		keep -= q.buckets[i].len()
	}
	for j := i; j < len(q.buckets); j++ {
		b := &q.buckets[j]
		from := int(b.head)
		if j == i {
			from += keep
		}
		for k := from; k < len(b.items); k++ {
			removed(b.class, &b.items[k])
		}
	}
	if i == 0 && keep == 0 {
		q.buckets = nil
		return
	}
	q.buckets = slices.Delete(q.buckets, i+1, len(q.buckets))
	b := &q.buckets[i]
	b.items = slices.Delete(b.items, int(b.head)+keep, len(b.items))
	if b.head > 0 || cap(b.items) > 2*len(b.items) { // it may wait for long
		b.items, b.head = slices.Clone(b.items[b.head:]), 0
	}
}

// Remove removes the items for which drop returns true.
func (q *Queue[C, T]) Remove(drop func(class C, item *T) bool) {
	for i := range q.buckets {
		b := &q.buckets[i]
		live := slices.DeleteFunc(b.items[b.head:], func(item T) bool { return drop(b.class, &item) })
		b.items = b.items[:int(b.head)+len(live)]
	}
	q.buckets = slices.DeleteFunc(q.buckets, func(b bucket[C, T]) bool { return b.len() == 0 })
	if len(q.buckets) == 0 {
		q.buckets = nil
	}
}

// All yields the items in order.
func (q *Queue[C, T]) All() iter.Seq2[C, *T] {
	return func(yield func(C, *T) bool) {
		for i := range q.buckets {
			b := &q.buckets[i]
			for j := int(b.head); j < len(b.items); j++ {
				if !yield(b.class, &b.items[j]) {
					return
				}
			}
		}
	}
}

// Classes yields the classes present, in order.
func (q *Queue[C, T]) Classes() iter.Seq[C] {
	return func(yield func(C) bool) {
		for i := range q.buckets {
			if !yield(q.buckets[i].class) {
				return
			}
		}
	}
}

// Package heap is a binary min-heap whose items know where they are.
//
// An [Order] is a type of its own without fields: it says which item comes first, and records
// an item's index in the item, so that it can be removed or moved later. A heap of nothing but
// a slice costs as much as the slice.
//
// A heap is owned by one goroutine. The zero Heap is empty and ready to use.
package heap

// Order compares the items of a heap and keeps their indexes.
type Order[T any] interface {
	// Before reports whether a comes out before b.
	Before(a, b T) bool

	// Moved records that an item is at index i of the heap now, or with -1 that it has left.
	Moved(item T, i int)
}

// Heap holds items in a binary min-heap.
type Heap[T any, O Order[T]] struct{ items []T }

// Len returns the number of items.
func (h *Heap[T, O]) Len() int { return len(h.items) }

// First returns the item that comes out next. The heap must not be empty.
func (h *Heap[T, O]) First() T { return h.items[0] }

// Items returns all items, the first in front and the others in no order. The slice is valid
// until the heap changes, and not to be modified.
func (h *Heap[T, O]) Items() []T { return h.items }

// Push adds an item.
func (h *Heap[T, O]) Push(item T) {
	h.items = append(h.items, item)
	h.up(len(h.items)-1, item)
}

// Pop removes and returns the first item. The heap must not be empty.
func (h *Heap[T, O]) Pop() T { return h.Remove(0) }

// Remove removes and returns the item at index i.
func (h *Heap[T, O]) Remove(i int) T {
	var order O
	var zero T
	removed := h.items[i]
	last := len(h.items) - 1
	moved := h.items[last]
	h.items[last] = zero
	h.items = h.items[:last]
	if i < last {
		h.settle(i, moved)
	}
	order.Moved(removed, -1)
	return removed
}

// Set replaces the item at index i, or restores the order after that item has changed.
func (h *Heap[T, O]) Set(i int, item T) { h.settle(i, item) }

// settle puts an item where it belongs, given that the slot i is free.
func (h *Heap[T, O]) settle(i int, item T) {
	if j := h.down(i, item); j == i {
		h.up(i, item)
	}
}

// up puts an item into the free slot i or into one of its ancestors.
func (h *Heap[T, O]) up(i int, item T) {
	var order O
	for i > 0 {
		parent := (i - 1) / 2
		if !order.Before(item, h.items[parent]) {
			break
		}
		h.items[i] = h.items[parent]
		order.Moved(h.items[i], i)
		i = parent
	}
	h.items[i] = item
	order.Moved(item, i)
}

// down puts an item into the free slot i or into one of its descendants, and returns where.
func (h *Heap[T, O]) down(i int, item T) int {
	var order O
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && order.Before(h.items[right], h.items[child]) {
			child = right
		}
		if !order.Before(h.items[child], item) {
			break
		}
		h.items[i] = h.items[child]
		order.Moved(h.items[i], i)
		i = child
	}
	h.items[i] = item
	order.Moved(item, i)
	return i
}

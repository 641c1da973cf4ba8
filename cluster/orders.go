package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	// steering bounds the other orders: pause or resume, and three that set something. steeringRoom
	// is the number of bytes that are reserved for them.
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

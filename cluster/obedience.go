package cluster

import (
	"slices"

	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/internal/engine"
)

// obedience carries out the orders in force.
//
// Owner: the node's loop.
type obedience struct {
	crawl *engine.Node
	busy  func() // is called before there may be a seed among them

	inForce  orders // as the bucket shows them
	revision uint64
	fresh    []*outcome // of the orders that are new with this revision
}

// outcome is the result of an order.
type outcome struct {
	words []string
	lines *promise[[]string]
}

// see carries out the orders in the bucket that the node has not carried out yet.
func (o *obedience) see(revision uint64, text []byte) error {
	if revision <= o.revision {
		return nil
	}
	next, err := readOrders(text)
	if err != nil {
		return err
	}
	was := o.inForce
	o.inForce, o.revision, o.fresh = next, revision, nil
	o.busy()
	for _, words := range next {
		if !was.have(words) {
			o.fresh = append(o.fresh, o.carryOut(words))
		}
	}
	return nil
}

// carryOut has the engine carry out an order, after earlier ones.
func (o *obedience) carryOut(words []string) *outcome {
	one := &outcome{words: words, lines: newPromise[[]string]()}
	order, err := control.ParseOrder(words...)
	if err == nil {
		err = order.OnNode(o.crawl.Crawl(), one.lines.keep)
	}
	if err != nil {
		one.lines.keep([]string{err.Error()})
	}
	return one
}

// outcomes returns the results of the orders in a question. Orders that were given before are
// carried out again unless others have replaced them: the node may have had orders of its own
// since.
func (o *obedience) outcomes(q question) (all []*outcome) {
	for _, words := range lasting(q.Args) {
		i := slices.IndexFunc(o.fresh, func(one *outcome) bool { return slices.Equal(one.words, words) })
		switch {
		case q.New && q.Revision == o.revision && i >= 0:
			all = append(all, o.fresh[i])
		case o.inForce.have(words):
			all = append(all, o.carryOut(words))
		}
	}
	return all
}

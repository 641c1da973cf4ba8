package cluster

// fate is the end of a node: the crawl's, or an error. Owner: its loop.
type fate struct {
	ended   bool
	failure error // by which it has ended
}

// fail ends the node. What it has not finished is for others.
func (f *fate) fail(err error) {
	if !f.ended {
		f.ended, f.failure = true, err
	}
}

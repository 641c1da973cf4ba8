package cluster

import (
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
)

// number reads a number of a header field; none is 0.
func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// epochOf returns the epoch of a message of a log. It tells the messages of nodes from those of
// anyone else.
func epochOf(h nats.Header) (uint64, error) {
	epoch, err := strconv.ParseUint(h.Get(headerEpoch), 10, 64)
	if err != nil {
		return 0, errors.New("no epoch, expected a message of a node")
	}
	return epoch, nil
}

// after returns the header of links and of logs, whose reader has to have seen the last key that
// has widened the crawl.
func after(widened *revision) nats.Header {
	h := nats.Header{}
	if at := widened.now(); at > 0 {
		h.Set(headerWidened, strconv.FormatUint(at, 10))
	}
	return h
}
